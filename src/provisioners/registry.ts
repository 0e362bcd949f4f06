/**
 * Every way to make a cluster, in one table: what it is called, which kind asks for it, how a wish becomes its spec, and how its provisioner
 * is opened. Commands, controllers and the Cluster API core go through it, so a new way is one entry. A provisioner is loaded when it is opened.
 */
import type { KubeObject } from '../api/object.ts';
import { kindClusters, virtualClusters } from '../api/resources.ts';
import type { Clock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import type { ObjectStore, ResourceRef } from '../kube/index.ts';
import type { HostFolders } from '../machines/host-folders.ts';
import type { Processes } from '../tools/processes.ts';
import type { HostUse } from './host-use.ts';
import { k3dWay } from './k3d/way.ts';
import { k3sWay } from './k3s/way.ts';
import { kindHostUses } from './kind/host-uses.ts';
import type { Fidelity, Provisioner } from './provisioner.ts';
import { vclusterWay } from './vcluster/way.ts';
import { type Tenants, tenantName } from './virtual/tenants.ts';

/** What people say on the command line; absent means not said. */
export interface ClusterWish {
  kubernetesVersion?: string;
  image?: string;
  /** All nodes, the control plane among them. */
  nodes?: number;
  controlPlanes?: number;
  /** Where it shall live: a cluster Rookery knows (vcluster), a machine `user@address` (k3s). */
  host?: string;
}

export interface ProvisionerParts {
  processes: Processes;
  clock: Clock;
  /** Where it keeps a folder for each cluster. */
  folder: string;
  /** Of the server in this process; without them virtual clusters can be asked about, not made. */
  tenants?: Tenants;
  /** Folders of this machine whose files it may take; without it, none. */
  folders?: HostFolders;
}

export interface ClusterWay {
  /** Of the provisioner, and of `--provisioner`. */
  name: string;
  /** The kind that asks for such a cluster. */
  resource: ResourceRef;
  fidelity: Fidelity;
  /** What people get, in a few words. */
  about: string;
  /** How long people wait for one before something must be wrong. */
  patienceSeconds: number;
  /** What the cluster is called outside; two objects that give the same may not both have it. */
  outsideName(object: KubeObject): string;
  /** Parts of the spec that a wish decides; throws a `RookeryError` of the class `user` for what this way cannot do. */
  spec(wish: ClusterWish, key: { namespace: string; name: string }): Record<string, unknown>;
  /** Secrets with the kubeconfig beside `<cluster>-kubeconfig`. */
  ownSecret?(object: KubeObject): { name: string; key: string };
  /** What of an object reaches this machine or others; absent for a way that reaches none, which every tenant may use. */
  hostUses?(object: KubeObject): HostUse[];
  /** Docker network on which containers reach it by its internal kubeconfig. */
  network?(object: KubeObject): string;
  /** Texts of the secrets that the spec refers to. */
  access?(store: ObjectStore, object: KubeObject, signal?: AbortSignal): Promise<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: each has a spec of its own, and the table holds them all.
  open(parts: ProvisionerParts): Promise<Provisioner<any>>;
}

const virtual: ClusterWay = {
  name: 'virtual',
  resource: virtualClusters,
  fidelity: 'simulated',
  about: 'virtual, Kubernetes v1.35, simulated nodes',
  patienceSeconds: 120,
  outsideName: ({ metadata }) => tenantName(metadata.namespace ?? '', metadata.name ?? ''),
  spec: ({ kubernetesVersion, image, nodes, controlPlanes, host }) => {
    if (image !== undefined) throw notForVirtual('--image');
    if (host !== undefined) throw notForVirtual('--host');
    return {
      ...(nodes !== undefined ? { nodes: Math.max(0, nodes - (controlPlanes ?? 0)) } : {}),
      ...(controlPlanes !== undefined ? { controlPlanes } : {}),
      ...(kubernetesVersion !== undefined ? { kubernetesVersion } : {}),
    };
  },
  open: async ({ tenants }) => new (await import('./virtual/virtual-provisioner.ts')).VirtualProvisioner(tenants),
};

function notForVirtual(flag: string): RookeryError {
  return new RookeryError('cli.flag', `${flag} does not go with virtual clusters`, {
    class: 'user',
    hint: 'add --provisioner kind for a cluster of containers',
  });
}

const kind: ClusterWay = {
  name: 'kind',
  resource: kindClusters,
  fidelity: 'container',
  about: 'kind, nodes are containers',
  patienceSeconds: 900,
  outsideName: (object) => object.spec?.clusterName,
  // Kind clusters have no namespaces: two of one name may exist here, but not there.
  spec: ({ kubernetesVersion, image, nodes, controlPlanes }, { namespace, name }) => ({
    clusterName: namespace === 'default' ? name : `${namespace}-${name}`,
    ...(nodes || controlPlanes
      ? { controlPlaneNodes: controlPlanes ?? 1, workerNodes: Math.max(0, (nodes ?? 1) - (controlPlanes ?? 1)) }
      : {}),
    ...(kubernetesVersion ? { kubernetesVersion } : {}),
    ...(image ? { image } : {}),
  }),
  ownSecret: (object) => ({ name: `${object.spec?.clusterName}-config`, key: 'config' }),
  hostUses: kindHostUses,
  network: () => 'kind',
  open: async (parts) => new (await import('./kind/kind-provisioner.ts')).KindProvisioner(parts),
};

export const clusterWays: readonly ClusterWay[] = [virtual, kind, k3dWay, k3sWay, vclusterWay];
