/**
 * `Cluster`: owns its infrastructure and control plane objects, copies what they report, counts its machines, and on
 * delete takes everything down in order. Event-driven throughout.
 */
import { clusters, machineDeployments, machineSets, machines } from '../../../api/resources.ts';
import {
  type ControllerOptions,
  exceptStatus,
  ignoreNotFound,
  isDeleting,
  keyOf,
  type ObjectKey,
  requeueAfter,
} from '../../../kube/index.ts';
import { begin } from '../begin.ts';
import { listOfCluster, ofCluster } from '../caches.ts';
import { type Core, runPhases } from '../core.ts';
import { FINALIZER } from '../names.ts';
import { nextJudgement } from '../pool-conditions.ts';
import { isProbedByProvider, setClusterStatus } from './cluster-conditions.ts';
import { reconcileDelete } from './cluster-deletion.ts';
import { reconcileKubeconfig } from './cluster-kubeconfig.ts';
import { reconcileControlPlane, reconcileInfrastructure } from './cluster-providers.ts';
import { setReplicas } from './cluster-replicas.ts';
import type { ClusterScope } from './cluster-scope.ts';

/** A CA that carries no label is not watched for. */
const NO_CA_RETRY_MS = 30_000;

export function clusterController(core: Core): ControllerOptions {
  const { store, workloads } = core;
  const byClusterName = { map: clusterKeys };
  return {
    name: 'cluster',
    resource: clusters,
    filter: exceptStatus,
    watches: [
      { resource: machines, ...byClusterName },
      { resource: machineSets, ...byClusterName },
      { resource: machineDeployments, ...byClusterName },
    ],
    async reconcile(key, { signal, clock }) {
      const found = await store.get(clusters, key, { signal }).catch(ignoreNotFound);
      if (!found) return workloads.forget(key);
      const begun = await begin({
        store,
        resource: clusters,
        found,
        cluster: found,
        finalizer: FINALIZER.cluster,
        clock,
        signal,
      });
      if (!begun) return;
      const { object: cluster, helper, draft } = begun;
      const scope: ClusterScope = {
        ...{ core, cluster, draft, signal },
        infrastructure: { missing: false },
        controlPlane: { missing: false },
      };
      let waitsForCa = false;
      const failure = await runPhases([
        () => reconcileInfrastructure(scope),
        () => reconcileControlPlane(scope),
        () => findDescendants(scope),
        async () => {
          if (isDeleting(cluster)) {
            if (await reconcileDelete(scope)) dropFinalizer(scope);
          } else waitsForCa = await reconcileKubeconfig(scope);
        },
      ]);
      if (!isDeleting(cluster)) connect(scope);
      setReplicas(scope);
      setClusterStatus(scope);
      if (Object.keys(draft.status.initialization ?? {}).length === 0) delete draft.status.initialization;
      if (!failure) draft.status.observedGeneration = cluster.metadata.generation;
      await helper.patch(draft, signal);
      if (failure) throw failure;
      const again = waitsForCa ? NO_CA_RETRY_MS : nextJudgement(scope.descendants?.machines ?? [], clock);
      return again === undefined ? undefined : requeueAfter(again);
    },
  };
}

function clusterKeys({
  metadata,
  spec,
}: {
  metadata: { namespace?: string };
  spec?: { clusterName?: string };
}): ObjectKey[] {
  return spec?.clusterName ? [{ namespace: metadata.namespace, name: spec.clusterName }] : [];
}

/** Where a provider watches over its cluster itself, it is reached for only once a machine needs it. */
function connect(scope: ClusterScope): void {
  if (!scope.draft.status.initialization?.infrastructureProvisioned || isProbedByProvider(scope)) return;
  scope.core.workloads.want(keyOf(scope.cluster));
}

async function findDescendants(scope: ClusterScope): Promise<void> {
  const { core, cluster, signal } = scope;
  const { caches, store } = core;
  // A cache that is a moment behind may show a wrong count, but must not make us delete too early.
  if (isDeleting(cluster)) {
    scope.descendants = {
      machines: await listOfCluster(store, machines, cluster, signal),
      machineSets: await listOfCluster(store, machineSets, cluster, signal),
      machineDeployments: await listOfCluster(store, machineDeployments, cluster, signal),
    };
    return;
  }
  scope.descendants = {
    machines: ofCluster(caches.machines, cluster),
    machineSets: ofCluster(caches.machineSets, cluster),
    machineDeployments: ofCluster(caches.machineDeployments, cluster),
  };
}

function dropFinalizer({ draft }: ClusterScope): void {
  draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== FINALIZER.cluster);
}
