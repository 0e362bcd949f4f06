/** Counters and conditions of a MachineSet. */
import { formatLabelSelector, selectorFromObject } from '../../../api/label-selector.ts';
import { type ConditionInput, isDeleting, setCondition } from '../../../kube/index.ts';
import { SEE_LOGS } from '../conditions.ts';
import { countTrue, machinesReady, machinesUpToDate, remediating, staleDeletions } from '../pool-conditions.ts';
import { versionsOfMachines } from '../versions.ts';
import { type MachineSetScope, wantedReplicas } from './machine-set-scope.ts';

const TYPES = ['ScalingUp', 'ScalingDown', 'MachinesReady', 'MachinesUpToDate', 'Remediating', 'Deleting'];

export function setMachineSetStatus(scope: MachineSetScope): void {
  const { draft, core, machines } = scope;
  const set = (condition: ConditionInput) => setCondition(draft, condition, core.clock);
  draft.status.selector = formatLabelSelector(selectorFromObject(draft.spec.selector) ?? []);
  if (!machines) {
    for (const type of TYPES) set({ type, status: 'Unknown', reason: 'InternalError', message: SEE_LOGS });
    return;
  }
  draft.status.replicas = machines.length;
  draft.status.readyReplicas = countTrue(machines, 'Ready');
  draft.status.availableReplicas = countTrue(machines, 'Available');
  draft.status.upToDateReplicas = countTrue(machines, 'UpToDate');
  const versions = versionsOfMachines(machines);
  if (versions) draft.status.versions = versions;
  else delete draft.status.versions;
  const wanted = isDeleting(draft) ? 0 : wantedReplicas(draft);
  set(scalingUp(scope, machines.length, wanted));
  set(
    machines.length > wanted
      ? {
          type: 'ScalingDown',
          status: 'True',
          reason: 'ScalingDown',
          message: `Scaling down from ${machines.length} to ${wanted} replicas${staleDeletions(machines, core.clock)}`,
        }
      : { type: 'ScalingDown', status: 'False', reason: 'NotScalingDown' },
  );
  set(machinesReady('MachinesReady', machines));
  set(machinesUpToDate('MachinesUpToDate', machines, core.clock));
  set(remediating(machines, ' by MachineSet'));
  set(
    isDeleting(draft)
      ? {
          type: 'Deleting',
          status: 'True',
          reason: 'Deleting',
          message:
            machines.length > 0
              ? `Deleting ${machines.length} Machine${machines.length > 1 ? 's' : ''}${staleDeletions(machines, core.clock)}`
              : 'Deletion completed',
        }
      : { type: 'Deleting', status: 'False', reason: 'NotDeleting' },
  );
}

function scalingUp({ draft, missing, preflight }: MachineSetScope, current: number, wanted: number): ConditionInput {
  const type = 'ScalingUp';
  const absent = missing.length > 0 ? `${missing.join(' and ')} ${missing.length > 1 ? 'do' : 'does'} not exist` : '';
  if (current >= wanted) {
    const message = absent && !isDeleting(draft) ? `Scaling up would be blocked because ${absent}` : '';
    return { type, status: 'False', reason: 'NotScalingUp', message };
  }
  const reasons = [...preflight, absent].filter(Boolean).map((reason) => `* ${reason}`);
  const blocked = reasons.length > 0 ? ` is blocked because:\n${reasons.join('\n')}` : '';
  return {
    type,
    status: 'True',
    reason: 'ScalingUp',
    message: `Scaling up from ${current} to ${wanted} replicas${blocked}`,
  };
}
