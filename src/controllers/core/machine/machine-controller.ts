/**
 * `Machine`: one host of a cluster. Owns its bootstrap and infrastructure objects, finds its Node, says how both are,
 * and on delete drains the node before it takes the host away.
 */
import type { KubeObject } from '../../../api/object.ts';
import { clusters, machineDeployments, machineSets, machines } from '../../../api/resources.ts';
import {
  type ControllerOptions,
  controllerOf,
  getCondition,
  ignoreNotFound,
  isDeleting,
  keyOf,
  requeueAfter,
  withOwner,
} from '../../../kube/index.ts';
import { isSame } from '../../../kube/merge-patch.ts';
import { begin } from '../begin.ts';
import { ofCluster } from '../caches.ts';
import { type Core, clusterOf, runPhases } from '../core.ts';
import { FINALIZER, LABEL } from '../names.ts';
import { setMachineStatus } from './machine-conditions.ts';
import { reconcileDelete } from './machine-deletion.ts';
import { reconcileNode } from './machine-node.ts';
import { reconcileBootstrap, reconcileCertificateExpiry, reconcileInfrastructure } from './machine-providers.ts';
import type { MachineScope } from './machine-scope.ts';

export function machineController(core: Core): ControllerOptions {
  const { store, caches } = core;
  const keysOf = (objects: KubeObject[]) => objects.map(keyOf);
  return {
    name: 'machine',
    resource: machines,
    watches: [
      {
        resource: clusters,
        filter: concernsMachines,
        map: (cluster) => keysOf(ofCluster(caches.machines, cluster)),
      },
      {
        resource: machineSets,
        filter: concernsTemplate,
        map: (set) => keysOf(caches.machines.byIndex('owner', set.metadata.uid ?? '')),
      },
      {
        resource: machineDeployments,
        filter: concernsTemplate,
        map: ({ metadata }) => keysOf(caches.machines.byIndex('deployment', `${metadata.namespace}/${metadata.name}`)),
      },
    ],
    async reconcile(key, { signal, clock }) {
      const found = await store.get(machines, key, { signal }).catch(ignoreNotFound);
      if (!found) return;
      const cluster = await clusterOf(core, found, signal);
      // Without its Cluster nothing can be done for a machine but to let it go.
      if (!cluster && !isDeleting(found)) return;
      const begun = await begin({
        store,
        resource: machines,
        found,
        cluster,
        finalizer: FINALIZER.machine,
        clock,
        signal,
      });
      if (!begun) return;
      const { object: machine, helper, draft } = begun;
      const scope: MachineScope = {
        ...{ core, machine, draft, cluster, signal },
        ...(await makers(core, machine, signal)),
        infrastructure: { missing: false },
        bootstrap: { missing: false },
      };
      const failure = await runPhases([
        () => setOwnerAndLabels(scope),
        () => reconcileBootstrap(scope),
        () => reconcileInfrastructure(scope),
        () => reconcileNode(scope),
        () => reconcileCertificateExpiry(scope),
        async () => {
          if (isDeleting(machine) && (await reconcileDelete(scope))) dropFinalizer(scope);
        },
      ]);
      setMachineStatus(scope);
      if (Object.keys(draft.status.initialization ?? {}).length === 0) delete draft.status.initialization;
      if (!failure) draft.status.observedGeneration = machine.metadata.generation;
      await helper.patch(draft, signal);
      if (failure) throw failure;
      return scope.againMs === undefined ? undefined : requeueAfter(scope.againMs);
    },
  };
}

/** The MachineSet and MachineDeployment a machine comes from. */
async function makers(
  core: Core,
  machine: KubeObject,
  signal: AbortSignal,
): Promise<Pick<MachineScope, 'machineSet' | 'machineDeployment'>> {
  const owner = controllerOf(machine);
  if (owner?.kind !== machineSets.kind) return {};
  const { namespace } = machine.metadata;
  const machineSet = await core.store
    .get(machineSets, { namespace, name: owner.name }, { signal })
    .catch(ignoreNotFound);
  const name = machineSet?.metadata.labels?.[LABEL.deploymentName];
  if (!name) return { machineSet };
  const machineDeployment = await core.store
    .get(machineDeployments, { namespace, name }, { signal })
    .catch(ignoreNotFound);
  return { machineSet, machineDeployment };
}

/** A machine that stands alone belongs to its Cluster. */
function setOwnerAndLabels({ draft, cluster }: MachineScope): void {
  const { labels = {} } = draft.metadata;
  draft.metadata.labels = { ...labels, [LABEL.clusterName]: draft.spec.clusterName };
  const isMade = [LABEL.setName, LABEL.poolName, LABEL.controlPlaneName].some((label) => label in labels);
  if (!cluster || controllerOf(draft) || isMade || isDeleting(draft)) return;
  const { apiVersion, kind } = cluster;
  const { name = '', uid = '' } = cluster.metadata;
  draft.metadata.ownerReferences = withOwner(draft, { apiVersion, kind, name, uid }).metadata.ownerReferences;
}

function dropFinalizer({ draft }: MachineScope): void {
  draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== FINALIZER.machine);
}

/** What machines read of their Cluster. */
function concernsMachines(cluster: KubeObject, old?: KubeObject): boolean {
  if (!old) return true;
  const read = ({ metadata, spec, status }: KubeObject) => [
    metadata.deletionTimestamp,
    metadata.annotations,
    spec?.paused,
    spec?.controlPlaneRef,
    status?.initialization,
    getCondition({ apiVersion: '', kind: '', metadata, status }, 'ControlPlaneInitialized')?.status,
  ];
  return !isSame(read(cluster), read(old));
}

function concernsTemplate(object: KubeObject, old?: KubeObject): boolean {
  if (!old) return false;
  return (
    object.metadata.generation !== old.metadata.generation ||
    !isSame(object.metadata.annotations, old.metadata.annotations)
  );
}
