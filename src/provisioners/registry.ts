/**
 * Every way to make a cluster, in one table: what it is called, which kind asks for it, how a wish becomes its spec, and how its provisioner
 * is opened. Commands, controllers and the Cluster API core go through it, so a new way is one entry. A provisioner is loaded when it is opened.
 */
import type { KubeObject } from '../api/object.ts';
import { kindClusters } from '../api/resources.ts';
import type { Clock } from '../clock.ts';
import type { ObjectStore, ResourceRef } from '../kube/index.ts';
import type { Processes } from '../tools/processes.ts';
import type { Fidelity, Provisioner } from './provisioner.ts';

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
  /** Texts of the secrets that the spec refers to. */
  access?(store: ObjectStore, object: KubeObject, signal?: AbortSignal): Promise<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: each has a spec of its own, and the table holds them all.
  open(parts: ProvisionerParts): Promise<Provisioner<any>>;
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
  open: async (parts) => new (await import('./kind/kind-provisioner.ts')).KindProvisioner(parts),
};

export const clusterWays: readonly ClusterWay[] = [kind];
