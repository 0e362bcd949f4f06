/**
 * `VirtualCluster`: a tenant of the embedded API server, meeting both the InfraCluster and the ControlPlane contract of
 * Cluster API. Ready means that the tenant itself answered, not that it was asked for.
 */
import type { KubeObject } from '../api/object.ts';
import { clusters, secrets, virtualClusters } from '../api/resources.ts';
import {
  type ControllerOptions,
  ensureFinalizer,
  isAlreadyExists,
  isConflict,
  isDeleting,
  isNotFound,
  isPaused,
  type ObjectStore,
  ownerReference,
  PatchHelper,
  removeFinalizer,
  setCondition,
  setPaused,
  TerminalError,
} from '../kube/index.ts';
import { type Tenants, tenantName } from '../provisioners/virtual/tenants.ts';
import { CLUSTER_NAME_LABEL, ownerCluster } from './ownership.ts';

const FINALIZER = 'virtualcluster.infrastructure.cluster.x-k8s.io';
const KUBERNETES_VERSION = 'v1.35.8';

export function virtualClusterController(store: ObjectStore, tenants: Tenants): ControllerOptions {
  return {
    name: 'virtual-cluster',
    resource: virtualClusters,
    owns: [secrets],
    watches: [
      {
        resource: clusters,
        map: (cluster) => {
          const ref = cluster.spec?.infrastructureRef;
          return ref?.kind === virtualClusters.kind ? [{ namespace: cluster.metadata.namespace, name: ref.name }] : [];
        },
      },
    ],
    async reconcile(key, { clock, signal }) {
      const found = await store.get(virtualClusters, key, { signal }).catch(absent);
      if (!found) return;
      const tenant = tenantName(key.namespace ?? '', key.name);
      if (isDeleting(found)) {
        // Only our own: the name may belong to another object that came later.
        if ((await tenants.owner(tenant)) === found.metadata.uid) await tenants.remove(tenant);
        await removeFinalizer(store, virtualClusters, found, FINALIZER, signal);
        return;
      }
      const cluster = await ownerCluster(store, found, signal);
      const paused = isPaused(found, cluster);
      // Intent before effect: the finalizer is stored before there is anything to clean up.
      const object = paused ? found : await ensureFinalizer(store, virtualClusters, found, FINALIZER, signal);
      const helper = new PatchHelper(store, virtualClusters, object);
      const draft = helper.draft();
      draft.status ??= {};
      setPaused(draft, cluster, clock);
      if (!paused) {
        await claim(tenants, tenant, object);
        const url = new URL(tenants.url(tenant));
        await writeKubeconfig(store, object, cluster?.metadata.name ?? key.name, await tenants.kubeconfig(tenant));
        draft.spec = { ...draft.spec, controlPlaneEndpoint: { host: url.hostname, port: Number(url.port) } };
        draft.status = {
          ...draft.status,
          initialization: { provisioned: true, controlPlaneInitialized: true },
          externalManagedControlPlane: true,
          version: KUBERNETES_VERSION,
          versions: [{ version: KUBERNETES_VERSION, replicas: 1 }],
          fidelity: 'simulated',
          url: tenants.url(tenant),
        };
        for (const type of ['Available', 'Ready']) {
          setCondition(draft, { type, status: 'True', reason: 'TenantServing', message: '' }, clock);
        }
      }
      await helper.patch(draft, signal);
    },
  };
}

async function claim(tenants: Tenants, tenant: string, object: KubeObject): Promise<void> {
  const uid = object.metadata.uid as string;
  const owner = await tenants.owner(tenant);
  if (owner !== undefined && owner !== uid) {
    throw new TerminalError(`the tenant ${tenant} already belongs to another object (uid ${owner})`);
  }
  await tenants.ensure(tenant, uid, object.spec?.nodes);
}

/** `<cluster>-kubeconfig` with the key `value`, as the contract wants it; rewritten when it went stale. */
async function writeKubeconfig(store: ObjectStore, owner: KubeObject, cluster: string, value: string): Promise<void> {
  const namespace = owner.metadata.namespace as string;
  const name = `${cluster}-kubeconfig`;
  const data = { value: Buffer.from(value).toString('base64') };
  const known = await store.get(secrets, { namespace, name }).catch(absent);
  if (known?.data?.value === data.value) return;
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [CLUSTER_NAME_LABEL]: cluster },
      ownerReferences: [ownerReference(owner, { controller: true, blockOwnerDeletion: true })],
    },
    type: 'cluster.x-k8s.io/secret',
    data,
  };
  await store.apply(secrets, secret, { fieldManager: 'rookery-virtualcluster', force: true }).catch((error) => {
    if (!isAlreadyExists(error) && !isConflict(error)) throw error;
  });
}

function absent(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
