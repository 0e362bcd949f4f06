/**
 * `Cluster` of Cluster API, the part of the core that a cluster without machines needs: it owns its infrastructure and
 * control plane objects, copies what they report, and on delete waits until they are gone. Event-driven throughout.
 */
import type { KubeObject } from '../api/object.ts';
import { clusters, kindClusters, virtualClusters } from '../api/resources.ts';
import type { Clock } from '../clock.ts';
import {
  type ControllerOptions,
  ensureFinalizer,
  getCondition,
  type Informers,
  ignoreNotFound,
  isDeleting,
  isPaused,
  keyOf,
  type ObjectStore,
  ownerReference,
  PatchHelper,
  type ResourceRef,
  removeFinalizer,
  setCondition,
  setPaused,
} from '../kube/index.ts';
import { CLUSTER_NAME_LABEL } from './ownership.ts';

const FINALIZER = 'cluster.cluster.x-k8s.io';

/** Provider kinds this core can drive. */
const PROVIDERS: Record<string, ResourceRef> = {
  [`${virtualClusters.group}/${virtualClusters.kind}`]: virtualClusters,
  [`${kindClusters.group}/${kindClusters.kind}`]: kindClusters,
};

interface Reference {
  apiGroup: string;
  kind: string;
  name: string;
}

export function clusterController(store: ObjectStore, informers: Informers): ControllerOptions {
  const cache = informers.for(clusters);
  /** By reference and not by owner: a provider object may come after its Cluster, and has no owner then. */
  const referrers = (object: KubeObject) =>
    cache
      .list(object.metadata.namespace)
      .filter((cluster) => refersTo(cluster, object))
      .map(keyOf);
  return {
    name: 'cluster',
    resource: clusters,
    watches: Object.values(PROVIDERS).map((resource) => ({ resource, map: referrers })),
    async reconcile(key, { clock, signal }) {
      const found = await store.get(clusters, key, { signal }).catch(ignoreNotFound);
      if (!found) return;
      const cluster = isPaused(found, found) ? found : await ensureFinalizer(store, clusters, found, FINALIZER, signal);
      const helper = new PatchHelper(store, clusters, cluster);
      const draft = helper.draft();
      draft.status ??= {};
      if (setPaused(draft, cluster, clock)) {
        await helper.patch(draft, signal);
        return;
      }
      if (isDeleting(cluster)) {
        if (await removeProviders(store, cluster, signal)) {
          await removeFinalizer(store, clusters, cluster, FINALIZER);
          return;
        }
        draft.status.phase = 'Deleting';
        const message = 'Waiting for the infrastructure and control plane objects to be deleted';
        setCondition(draft, { type: 'Deleting', status: 'True', reason: 'WaitingForProviders', message }, clock);
        await helper.patch(draft, signal);
        return;
      }
      await report(store, cluster, draft, clock, signal);
      await helper.patch(draft, signal);
    },
  };
}

/** Copies what the providers say into the Cluster. */
async function report(
  store: ObjectStore,
  cluster: KubeObject,
  draft: KubeObject,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const infrastructure = await adopted(store, cluster, cluster.spec?.infrastructureRef, signal);
  const controlPlane = await adopted(store, cluster, cluster.spec?.controlPlaneRef, signal);
  const status = draft.status;
  status.initialization ??= {};
  if (infrastructure?.status?.initialization?.provisioned) {
    status.initialization.infrastructureProvisioned = true;
    const endpoint = infrastructure.spec?.controlPlaneEndpoint;
    // Copied once: a cluster's address never moves under its users.
    if (endpoint?.host && endpoint.port && !draft.spec?.controlPlaneEndpoint?.host) {
      draft.spec = { ...draft.spec, controlPlaneEndpoint: endpoint };
    }
  }
  if (controlPlane?.status?.initialization?.controlPlaneInitialized) {
    status.initialization.controlPlaneInitialized = true;
  }
  if (Object.keys(status.initialization).length === 0) delete status.initialization;
  mirror(draft, 'InfrastructureReady', cluster.spec?.infrastructureRef, infrastructure, 'Ready', clock);
  mirror(draft, 'ControlPlaneAvailable', cluster.spec?.controlPlaneRef, controlPlane, 'Available', clock);
  const blocked = ['InfrastructureReady', 'ControlPlaneAvailable']
    .map((type) => getCondition(draft, type))
    .filter((condition) => condition && condition.status !== 'True');
  setCondition(
    draft,
    blocked.length === 0
      ? { type: 'Available', status: 'True', reason: 'Available' }
      : {
          type: 'Available',
          status: 'False',
          reason: 'NotAvailable',
          message: blocked.map((c) => `* ${c?.type}: ${c?.message}`).join('\n'),
        },
    clock,
  );
  const endpoint = draft.spec?.controlPlaneEndpoint;
  const provisioned = status.initialization?.infrastructureProvisioned && endpoint?.host && endpoint.port;
  status.phase = provisioned ? 'Provisioned' : cluster.spec?.infrastructureRef ? 'Provisioning' : 'Pending';
}

/** The provider object, owned by the cluster from now on; undefined while it does not exist. */
async function adopted(
  store: ObjectStore,
  cluster: KubeObject,
  reference: Reference | undefined,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const resource = reference && PROVIDERS[`${reference.apiGroup}/${reference.kind}`];
  if (!resource) return undefined;
  const key = { namespace: cluster.metadata.namespace, name: reference.name };
  const object = await store.get(resource, key, { signal }).catch(ignoreNotFound);
  if (!object || isDeleting(object)) return object;
  const helper = new PatchHelper(store, resource, object);
  const draft = helper.draft();
  const owner = ownerReference(cluster);
  const owners = draft.metadata.ownerReferences ?? [];
  if (!owners.some((o) => o.uid === owner.uid)) draft.metadata.ownerReferences = [...owners, owner];
  draft.metadata.labels = { ...draft.metadata.labels, [CLUSTER_NAME_LABEL]: cluster.metadata.name as string };
  return helper.patch(draft, signal);
}

/** True once nothing is left that the cluster refers to. */
async function removeProviders(store: ObjectStore, cluster: KubeObject, signal: AbortSignal): Promise<boolean> {
  let left = false;
  // The control plane goes first, the infrastructure under it last.
  for (const reference of [cluster.spec?.controlPlaneRef, cluster.spec?.infrastructureRef] as (
    | Reference
    | undefined
  )[]) {
    const resource = reference && PROVIDERS[`${reference.apiGroup}/${reference.kind}`];
    if (!resource || left) continue;
    const key = { namespace: cluster.metadata.namespace, name: reference.name };
    const object = await store.get(resource, key, { signal }).catch(ignoreNotFound);
    if (!object) continue;
    left = true;
    if (!isDeleting(object)) await store.delete(resource, key, { signal }).catch(ignoreNotFound);
  }
  return !left;
}

function mirror(
  draft: KubeObject,
  type: string,
  reference: Reference | undefined,
  provider: KubeObject | undefined,
  from: string,
  clock: Clock,
): void {
  const found = provider && getCondition(provider, from);
  const what = reference ? `${reference.kind} ${reference.name}` : '';
  if (found) {
    setCondition(draft, { type, status: found.status, reason: found.reason, message: found.message }, clock);
  } else if (!reference) {
    const message = 'No reference is set in spec';
    setCondition(draft, { type, status: 'Unknown', reason: 'ReferenceNotSet', message }, clock);
  } else {
    const message = provider ? `Waiting for ${what} to report` : `${what} does not exist yet`;
    setCondition(draft, { type, status: 'False', reason: provider ? 'NotReported' : 'NotFound', message }, clock);
  }
}

function refersTo(cluster: KubeObject, object: KubeObject): boolean {
  return [cluster.spec?.infrastructureRef, cluster.spec?.controlPlaneRef].some(
    (reference: Reference | undefined) => reference?.kind === object.kind && reference.name === object.metadata.name,
  );
}
