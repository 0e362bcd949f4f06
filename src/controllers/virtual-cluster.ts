/**
 * `VirtualCluster`: a tenant of the embedded API server, meeting both the InfraCluster and the ControlPlane contract of
 * Cluster API. Ready means that the tenant itself answered, not that it was asked for.
 */
import type { KubeObject } from '../api/object.ts';
import { clusters, secrets, virtualClusters } from '../api/resources.ts';
import type { Clock } from '../clock.ts';
import {
  type ControllerOptions,
  ensureFinalizer,
  ignoreNotFound,
  isDeleting,
  isPaused,
  type ObjectStore,
  PatchHelper,
  removeFinalizer,
  setCondition,
  setPaused,
  TerminalError,
} from '../kube/index.ts';
import { type Tenants, tenantName } from '../provisioners/virtual/tenants.ts';
import { writeKubeconfigSecret } from './kubeconfig-secret.ts';
import { ownerCluster } from './ownership.ts';
import { explain } from './progress-status.ts';

const FINALIZER = 'virtualcluster.infrastructure.cluster.x-k8s.io';
const FAILED = 'TenantFailed';
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
      const found = await store.get(virtualClusters, key, { signal }).catch(ignoreNotFound);
      if (!found) return;
      const tenant = tenantName(key.namespace ?? '', key.name);
      const cluster = await ownerCluster(store, found, signal);
      const paused = isPaused(found, cluster);
      if (isDeleting(found)) {
        if (paused) return;
        // Not another object's that came later; without an owner it is what a crash left half made.
        const owner = await tenants.owner(tenant);
        if (owner === undefined || owner === found.metadata.uid) await tenants.remove(tenant);
        await removeFinalizer(store, virtualClusters, found, FINALIZER, signal);
        return;
      }
      // Intent before effect: the finalizer is stored before there is anything to clean up.
      const object = paused ? found : await ensureFinalizer(store, virtualClusters, found, FINALIZER, signal);
      const helper = new PatchHelper(store, virtualClusters, object);
      const draft = helper.draft();
      draft.status ??= {};
      setPaused(draft, cluster, clock);
      if (!paused) {
        try {
          await claim(tenants, tenant, object);
          const name = cluster?.metadata.name ?? key.name;
          const value = await tenants.kubeconfig(tenant);
          const secret = { name: `${name}-kubeconfig`, key: 'value', value, cluster: name };
          await writeKubeconfigSecret(store, object, secret, signal);
        } catch (error) {
          reportFailure(draft, error, clock);
          await helper.patch(draft, signal);
          throw error;
        }
        const url = new URL(tenants.url(tenant));
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

/** Never just waiting: what went wrong, and what happens next. */
function reportFailure(draft: KubeObject, error: unknown, clock: Clock): void {
  const next = error instanceof TerminalError ? 'nothing, until that is changed' : 'it is tried again by itself';
  const message = explain({ phase: 'blocked', reason: FAILED, message: (error as Error).message, next });
  for (const type of ['Available', 'Ready'])
    setCondition(draft, { type, status: 'False', reason: FAILED, message }, clock);
}
