/** Every condition of a Cluster, from what its reconcile found. */
import type { KubeObject } from '../../../api/object.ts';
import { rfc3339 } from '../../../clock.ts';
import {
  type ConditionInput,
  getCondition,
  isConditionTrue,
  isDeleting,
  isOwnedBy,
  keyOf,
  setCondition,
  summarize,
} from '../../../kube/index.ts';
import { absence, aggregated, providerCondition, reports, SEE_LOGS } from '../conditions.ts';
import { isControlPlaneMachine } from '../core.ts';
import { REPORTS_CONNECTION_LABEL } from '../names.ts';
import { machinesReady, machinesUpToDate, remediating } from '../pool-conditions.ts';
import type { Reference } from '../provider-kinds.ts';
import { FAILURES_ALLOWED } from '../workload/workload-clusters.ts';
import { type ClusterScope, type Descendants, hasEndpoint } from './cluster-scope.ts';

export function setClusterStatus(scope: ClusterScope): void {
  const { draft, cluster, core } = scope;
  setPhase(scope);
  const set = (condition: ConditionInput | undefined) => condition && setCondition(draft, condition, core.clock);
  set(remoteConnectionProbe(scope));
  set(infrastructureReady(scope));
  set(controlPlaneAvailable(scope));
  set(controlPlaneInitialized(scope));
  for (const condition of aboutDescendants(scope)) set(condition);
  set(
    isDeleting(cluster)
      ? { type: 'Deleting', status: 'True', ...(scope.deleting ?? { reason: 'InternalError', message: SEE_LOGS }) }
      : { type: 'Deleting', status: 'False', reason: 'NotDeleting' },
  );
  set(available(draft));
}

function setPhase({ draft, cluster }: ClusterScope): void {
  const { infrastructureRef, controlPlaneRef } = cluster.spec ?? {};
  const provisioned = draft.status.initialization?.infrastructureProvisioned && hasEndpoint(draft);
  if (isDeleting(cluster)) draft.status.phase = 'Deleting';
  else if (provisioned) draft.status.phase = 'Provisioned';
  else draft.status.phase = infrastructureRef || controlPlaneRef ? 'Provisioning' : (draft.status.phase ?? 'Pending');
}

/** Whether somebody else watches over the way to this cluster, so that we need not go it every few seconds. */
export function isProbedByProvider({ core, cluster }: Pick<ClusterScope, 'core' | 'cluster'>): boolean {
  const reference: Reference | undefined = cluster.spec?.controlPlaneRef;
  return reference !== undefined && core.externals.kinds.labels(reference)?.[REPORTS_CONNECTION_LABEL] === 'true';
}

function remoteConnectionProbe(scope: ClusterScope): ConditionInput | undefined {
  const { core, cluster, draft } = scope;
  const type = 'RemoteConnectionProbe';
  const failed = (message: string): ConditionInput => ({ type, status: 'False', reason: 'ProbeFailed', message });
  const fine: ConditionInput = { type, status: 'True', reason: 'ProbeSucceeded' };
  if (isProbedByProvider(scope)) {
    const found = scope.controlPlane.object && getCondition(scope.controlPlane.object, 'Available');
    if (found?.status === 'True') return fine;
    return failed(found?.message ? `${scope.controlPlane.object?.kind} reports: ${found.message}` : NOT_YET);
  }
  const health = core.workloads.health(keyOf(cluster));
  if (!health || (health.lastSuccess === undefined && health.failures < FAILURES_ALLOWED)) {
    // Not after a restart: what was known then holds until something else is.
    return getCondition(draft, type) ? undefined : failed(NOT_YET);
  }
  if (health.failures < FAILURES_ALLOWED) return fine;
  const last = health.lastSuccess === undefined ? '' : `, probe last succeeded at ${rfc3339(health.lastSuccess)}`;
  return failed(`Remote connection probe failed${last}`);
}

const NOT_YET = 'Remote connection not established yet';

function infrastructureReady({ draft, cluster, infrastructure }: ClusterScope): ConditionInput {
  const type = 'InfrastructureReady';
  const reference: Reference | undefined = cluster.spec?.infrastructureRef;
  if (!reference) return { type, status: 'True', reason: 'Ready', message: 'The cluster has no infrastructureRef' };
  const reached = Boolean(draft.status.initialization?.infrastructureProvisioned);
  return providerCondition({
    type,
    from: 'Ready',
    reference,
    field: 'provisioned',
    found: infrastructure,
    reached,
    of: cluster,
  });
}

function controlPlaneAvailable({ draft, cluster, controlPlane }: ClusterScope): ConditionInput {
  const type = 'ControlPlaneAvailable';
  const reference: Reference | undefined = cluster.spec?.controlPlaneRef;
  if (!reference) {
    const message = 'The control plane is made of machines that stand alone';
    return isConditionTrue(draft, 'ControlPlaneInitialized')
      ? { type, status: 'True', reason: 'Available', message }
      : { type, status: 'False', reason: 'NotAvailable', message: `${message}; none of them has a Node yet` };
  }
  const reached = Boolean(draft.status.initialization?.controlPlaneInitialized);
  const field = 'controlPlaneInitialized';
  return providerCondition({ type, from: 'Available', reference, field, found: controlPlane, reached, of: cluster });
}

function controlPlaneInitialized(scope: ClusterScope): ConditionInput | undefined {
  const { draft, cluster, controlPlane, descendants } = scope;
  const type = 'ControlPlaneInitialized';
  if (isConditionTrue(draft, type)) return undefined;
  const reference: Reference | undefined = cluster.spec?.controlPlaneRef;
  if (reference) {
    if (!controlPlane.object)
      return {
        ...absence({ type, kind: reference.kind, found: controlPlane, reached: false, of: cluster }),
        status: 'Unknown',
      };
    if (controlPlane.object.status?.initialization?.controlPlaneInitialized) {
      return { type, status: 'True', reason: 'Initialized' };
    }
    const message = 'Control plane not yet initialized';
    return { type, status: 'False', reason: 'NotInitialized', message };
  }
  if (!descendants) return { type, status: 'Unknown', reason: 'InternalError', message: SEE_LOGS };
  if (descendants.machines.some((machine) => isControlPlaneMachine(machine) && machine.status?.nodeRef?.name)) {
    return { type, status: 'True', reason: 'Initialized' };
  }
  const message = 'Waiting for the first control plane machine to have status.nodeRef set';
  return { type, status: 'False', reason: 'NotInitialized', message };
}

const ABOUT_DESCENDANTS = [
  'WorkersAvailable',
  'ControlPlaneMachinesReady',
  'WorkerMachinesReady',
  'ControlPlaneMachinesUpToDate',
  'WorkerMachinesUpToDate',
  'RollingOut',
  'ScalingUp',
  'ScalingDown',
  'Remediating',
];

function aboutDescendants(scope: ClusterScope): ConditionInput[] {
  const { descendants, core, cluster, controlPlane } = scope;
  if (!descendants) {
    const unknown = { status: 'Unknown', reason: 'InternalError', message: SEE_LOGS } as const;
    return ABOUT_DESCENDANTS.map((type) => ({ type, ...unknown }));
  }
  const machines = descendants.machines.filter(isControlPlaneMachine);
  const workers = descendants.machines.filter((machine) => !isControlPlaneMachine(machine));
  const alone = descendants.machineSets.filter((set) => isOwnedBy(set, cluster));
  const unreadable = cluster.spec?.controlPlaneRef !== undefined && !controlPlane.object && !controlPlane.missing;
  const movement = (type: string, pools: KubeObject[]): ConditionInput => {
    if (unreadable) return { type, status: 'Unknown', reason: 'InternalError', message: SEE_LOGS };
    // The contract does not oblige a control plane to report it.
    const { object } = controlPlane;
    const all = object && reports(object, type) ? [object, ...pools] : pools;
    const reasons = { issues: type, unknown: `${type}Unknown`, fine: `Not${type}` };
    if (all.length === 0) return { type, status: 'False', reason: reasons.fine };
    return aggregated(all, { from: type, to: type, reasons, negative: true });
  };
  const { machineDeployments } = descendants;
  return [
    workersAvailable(descendants),
    machinesReady('ControlPlaneMachinesReady', machines),
    machinesReady('WorkerMachinesReady', workers),
    machinesUpToDate('ControlPlaneMachinesUpToDate', machines, core.clock),
    machinesUpToDate('WorkerMachinesUpToDate', workers, core.clock),
    movement('RollingOut', machineDeployments),
    movement('ScalingUp', [...machineDeployments, ...alone]),
    movement('ScalingDown', [...machineDeployments, ...alone]),
    remediating(descendants.machines),
  ];
}

function workersAvailable({ machineDeployments }: Descendants): ConditionInput {
  const type = 'WorkersAvailable';
  if (machineDeployments.length === 0) return { type, status: 'True', reason: 'NoWorkers' };
  const reasons = { issues: 'NotAvailable', unknown: 'AvailableUnknown', fine: 'Available' };
  return aggregated(machineDeployments, { from: 'Available', to: type, reasons });
}

function available(draft: KubeObject): ConditionInput {
  const gates: { conditionType: string; polarity?: string }[] = draft.spec?.availabilityGates ?? [];
  const negative = gates.filter((gate) => gate.polarity === 'Negative').map((gate) => gate.conditionType);
  const gone = ['ObjectDeleted', 'ObjectDoesNotExist'];
  return summarize(draft, 'Available', {
    of: [
      'Deleting',
      'RemoteConnectionProbe',
      'InfrastructureReady',
      'ControlPlaneAvailable',
      'WorkersAvailable',
      ...gates.map((gate) => gate.conditionType),
    ],
    negative: ['Deleting', ...negative],
    // While it is being deleted it is no issue that its parts are gone.
    excused: ({ type, reason }) =>
      isDeleting(draft) && ['InfrastructureReady', 'ControlPlaneAvailable'].includes(type) && gone.includes(reason),
  });
}
