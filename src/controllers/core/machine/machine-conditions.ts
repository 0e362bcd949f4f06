/** Every condition of a Machine, and its phase, from what its reconcile found. */
import type { KubeObject } from '../../../api/object.ts';
import { type Clock, rfc3339 } from '../../../clock.ts';
import {
  type ConditionInput,
  getCondition,
  isConditionTrue,
  isDeleting,
  setCondition,
  summarize,
} from '../../../kube/index.ts';
import { providerCondition, SEE_LOGS } from '../conditions.ts';
import { templateDifferences } from '../machine-template.ts';
import { createdAt, drainObstacles } from '../pool-conditions.ts';
import type { Reference } from '../provider-kinds.ts';
import { lookAgain, type MachineScope } from './machine-scope.ts';
import { nodeConditions } from './node-conditions.ts';

const STALE_MS = 15 * 60_000;

export function setMachineStatus(scope: MachineScope): void {
  const { draft, core, machine } = scope;
  const set = (condition: ConditionInput | undefined) => condition && setCondition(draft, condition, core.clock);
  set(bootstrapReady(scope));
  set(infrastructureReady(scope));
  for (const condition of nodeConditions(scope)) set(condition);
  set(
    isDeleting(machine)
      ? { type: 'Deleting', status: 'True', ...(scope.deleting ?? { reason: 'InternalError', message: SEE_LOGS }) }
      : { type: 'Deleting', status: 'False', reason: 'NotDeleting' },
  );
  set({ type: 'Updating', status: 'False', reason: 'NotUpdating' });
  set(upToDate(scope));
  set(ready(draft, core.clock));
  setPhase(draft, core.clock);
  set(available(scope));
}

function bootstrapReady({ draft, machine, bootstrap }: MachineScope): ConditionInput {
  const type = 'BootstrapConfigReady';
  const reference: Reference | undefined = machine.spec.bootstrap?.configRef;
  if (!reference) return { type, status: 'True', reason: 'DataSecretProvided' };
  const reached = Boolean(draft.status.initialization?.bootstrapDataSecretCreated);
  const wasThere = reached && isDeleting(machine);
  const field = 'dataSecretCreated';
  return providerCondition({ type, from: 'Ready', reference, field, found: bootstrap, reached, wasThere, of: machine });
}

function infrastructureReady({ draft, machine, infrastructure }: MachineScope): ConditionInput {
  const type = 'InfrastructureReady';
  const reference: Reference = machine.spec.infrastructureRef;
  const reached = Boolean(draft.status.initialization?.infrastructureProvisioned);
  return providerCondition({
    type,
    from: 'Ready',
    reference,
    field: 'provisioned',
    found: infrastructure,
    reached,
    of: machine,
  });
}

/** Only said of machines of a MachineDeployment; for others their own provider knows. */
function upToDate({ draft, machineSet, machineDeployment, core }: MachineScope): ConditionInput | undefined {
  if (!machineSet || !machineDeployment) return undefined;
  const type = 'UpToDate';
  const differences = templateDifferences(machineSet.spec.template, machineDeployment.spec.template);
  const after = Date.parse(machineDeployment.spec.rollout?.after ?? '');
  if (after < core.clock.now() && createdAt(machineSet) < after) {
    differences.push('MachineDeployment spec.rollout.after expired');
  }
  if (differences.length > 0) {
    const message = differences.map((difference) => `* ${difference}`).join('\n');
    return { type, status: 'False', reason: 'NotUpToDate', message };
  }
  const kubelet = draft.status.nodeInfo?.kubeletVersion;
  if (kubelet && draft.spec.version && kubelet !== draft.spec.version) {
    const message = `* Node.status.nodeInfo.kubeletVersion ${kubelet}, ${draft.spec.version} required`;
    return { type, status: 'False', reason: 'Updating', message };
  }
  return { type, status: 'True', reason: 'UpToDate' };
}

function ready(draft: KubeObject, clock: Clock): ConditionInput {
  const gates: { conditionType: string; polarity?: string }[] = draft.spec.readinessGates ?? [];
  const gone: Record<string, string[]> = {
    BootstrapConfigReady: ['ObjectDeleted', 'ObjectDoesNotExist'],
    InfrastructureReady: ['ObjectDeleted', 'ObjectDoesNotExist'],
    NodeHealthy: ['NodeDeleted', 'NodeDoesNotExist'],
  };
  return summarize(isDeleting(draft) ? withDeletionTold(draft, clock) : draft, 'Ready', {
    of: [
      'Deleting',
      'Updating',
      'BootstrapConfigReady',
      'InfrastructureReady',
      'NodeHealthy',
      'HealthCheckSucceeded',
      ...gates.map((gate) => gate.conditionType),
    ],
    optional: ['HealthCheckSucceeded'],
    negative: [
      'Deleting',
      'Updating',
      ...gates.filter((gate) => gate.polarity === 'Negative').map((gate) => gate.conditionType),
    ],
    excused: ({ type, reason }) => isDeleting(draft) && (gone[type] ?? []).includes(reason),
  });
}

/** The whole story of a drain is told once, in `Deleting`; the summary says how far it has come. */
function withDeletionTold(draft: KubeObject, clock: Clock): KubeObject {
  const age = clock.now() - Date.parse(draft.metadata.deletionTimestamp ?? '');
  const stale = age > STALE_MS;
  const causes = stale ? drainObstacles(draft) : [];
  const conditions = draft.status.conditions.map((condition: ConditionInput) =>
    condition.type === 'Deleting'
      ? {
          ...condition,
          message:
            `Machine deletion in progress${stale ? ' since more than 15m' : ''}, stage: ${condition.reason}` +
            (causes.length > 0 ? `, delay likely due to ${causes.join(', ')}` : ''),
        }
      : condition,
  );
  return { ...draft, status: { ...draft.status, conditions } };
}

function available(scope: MachineScope): ConditionInput {
  const { draft, core } = scope;
  const type = 'Available';
  const condition = getCondition(draft, 'Ready');
  if (condition?.status !== 'True') return { type, status: 'False', reason: 'NotReady' };
  const left = Date.parse(condition.lastTransitionTime) + (draft.spec.minReadySeconds ?? 0) * 1000 - core.clock.now();
  if (left <= 0 || !draft.spec.minReadySeconds) return { type, status: 'True', reason: 'Available' };
  lookAgain(scope, left);
  return { type, status: 'False', reason: 'WaitingForMinReadySeconds' };
}

function setPhase(draft: KubeObject, clock: Clock): void {
  const { status, spec } = draft;
  const { bootstrapDataSecretCreated, infrastructureProvisioned } = status.initialization ?? {};
  const before = status.phase;
  let phase = before ?? 'Pending';
  if (bootstrapDataSecretCreated && !infrastructureProvisioned) phase = 'Provisioning';
  if (spec.providerID) phase = 'Provisioned';
  if (status.nodeRef && infrastructureProvisioned) phase = 'Running';
  if (isConditionTrue(draft, 'Updating')) phase = 'Updating';
  if (isDeleting(draft)) phase = 'Deleting';
  if (phase === before) return;
  status.phase = phase;
  status.lastUpdated = rfc3339(clock.now());
}
