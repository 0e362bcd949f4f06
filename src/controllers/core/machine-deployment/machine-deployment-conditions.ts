/** Counters, phase and conditions of a MachineDeployment. */
import { formatLabelSelector, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type ConditionInput, getCondition, isDeleting, setCondition } from '../../../kube/index.ts';
import { SEE_LOGS } from '../conditions.ts';
import { machinesReady, machinesUpToDate, remediating, staleDeletions } from '../pool-conditions.ts';
import { sumVersions } from '../versions.ts';
import type { DeploymentScope } from './machine-deployment-scope.ts';
import { bounds, isOnDelete, wantedReplicas } from './rollout-plan.ts';

const COUNTERS = ['replicas', 'readyReplicas', 'availableReplicas', 'upToDateReplicas'] as const;

export function setCounters(draft: KubeObject, sets: KubeObject[]): void {
  for (const counter of COUNTERS) {
    const known = sets.map((set) => set.status?.[counter]).filter((value) => value !== undefined);
    if (known.length > 0) draft.status[counter] = known.reduce((a, b) => a + b, 0);
    else delete draft.status[counter];
  }
  const versions = sumVersions(sets.flatMap((set) => set.status?.versions ?? []));
  if (versions) draft.status.versions = versions;
  else delete draft.status.versions;
}

export function setDeploymentStatus(scope: DeploymentScope): void {
  const { draft, core, sets, machines } = scope;
  const set = (condition: ConditionInput) => setCondition(draft, condition, core.clock);
  draft.status.selector = formatLabelSelector(selectorFromObject(draft.spec.selector) ?? []);
  set(rollingOut(machines));
  set(machinesReady('MachinesReady', machines));
  set(machinesUpToDate('MachinesUpToDate', machines, core.clock));
  set(remediating(machines, ' by MachineSet'));
  if (!sets) {
    draft.status.phase = 'Unknown';
    for (const type of ['Available', 'ScalingUp', 'ScalingDown', 'Deleting']) {
      set({ type, status: 'Unknown', reason: 'InternalError', message: SEE_LOGS });
    }
    return;
  }
  setCounters(draft, sets);
  const current = draft.status.replicas ?? 0;
  const wanted = isDeleting(draft) ? 0 : wantedReplicas(draft);
  draft.status.phase =
    isDeleting(draft) || wanted < current ? 'ScalingDown' : wanted === current ? 'Running' : 'ScalingUp';
  set(available(draft));
  set(scalingUp(scope, current, wanted));
  set(
    current > wanted
      ? {
          type: 'ScalingDown',
          status: 'True',
          reason: 'ScalingDown',
          message: `Scaling down from ${current} to ${wanted} replicas${staleDeletions(machines, core.clock)}`,
        }
      : { type: 'ScalingDown', status: 'False', reason: 'NotScalingDown' },
  );
  set(deleting(scope, sets));
}

function available(draft: KubeObject): ConditionInput {
  const type = 'Available';
  const has: number | undefined = draft.status.availableReplicas;
  if (has === undefined) {
    const message = 'Waiting for status.availableReplicas set';
    return { type, status: 'Unknown', reason: 'WaitingForAvailableReplicasSet', message };
  }
  const needed = wantedReplicas(draft) - bounds(draft).maxUnavailable;
  if (has >= needed) return { type, status: 'True', reason: 'Available' };
  const { maxUnavailable = 0 } = draft.spec.rollout?.strategy?.rollingUpdate ?? {};
  const why = isOnDelete(draft)
    ? ''
    : ` (maxUnavailable is ${maxUnavailable}, spec.replicas is ${wantedReplicas(draft)})`;
  const message = isDeleting(draft)
    ? 'Deletion in progress'
    : `${has} available replicas, at least ${needed} required${why}`;
  return { type, status: 'False', reason: 'NotAvailable', message };
}

function rollingOut(machines: KubeObject[]): ConditionInput {
  const type = 'RollingOut';
  const outdated = machines
    .map((machine) => getCondition(machine, 'UpToDate'))
    .filter((condition) => condition?.status === 'False');
  if (outdated.length === 0) return { type, status: 'False', reason: 'NotRollingOut' };
  const lines = new Set(outdated.flatMap((condition) => condition?.message.split('\n') ?? []).filter(Boolean));
  const isVersion = (line: string) => Number(line.startsWith('* Version'));
  const sorted = [...lines].sort((a, b) => isVersion(b) - isVersion(a) || (a < b ? -1 : 1));
  const message = [`Rolling out ${outdated.length} not up-to-date replicas`, ...sorted].join('\n');
  return { type, status: 'True', reason: 'RollingOut', message };
}

function scalingUp({ draft, missing }: DeploymentScope, current: number, wanted: number): ConditionInput {
  const type = 'ScalingUp';
  const absent =
    missing.length > 0 ? `because ${missing.join(' and ')} ${missing.length > 1 ? 'do' : 'does'} not exist` : '';
  if (current >= wanted) {
    const message = absent && !isDeleting(draft) ? `Scaling up would be blocked ${absent}` : '';
    return { type, status: 'False', reason: 'NotScalingUp', message };
  }
  const message = `Scaling up from ${current} to ${wanted} replicas${absent ? ` is blocked ${absent}` : ''}`;
  return { type, status: 'True', reason: 'ScalingUp', message };
}

function deleting({ draft, machines, core }: DeploymentScope, sets: KubeObject[]): ConditionInput {
  const type = 'Deleting';
  if (!isDeleting(draft)) return { type, status: 'False', reason: 'NotDeleting' };
  const many = (count: number, what: string) => `Deleting ${count} ${what}${count > 1 ? 's' : ''}`;
  const message =
    machines.length > 0
      ? many(machines.length, 'Machine') + staleDeletions(machines, core.clock)
      : sets.length > 0
        ? many(sets.length, 'MachineSet')
        : 'Deletion completed';
  return { type, status: 'True', reason: 'Deleting', message };
}
