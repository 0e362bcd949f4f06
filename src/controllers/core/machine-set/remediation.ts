/** Machines that a health check found unhealthy are deleted, as many at once as allowed; the set then makes new ones. */
import type { KubeObject } from '../../../api/object.ts';
import { machines } from '../../../api/resources.ts';
import {
  type ConditionInput,
  getCondition,
  ignoreNotFound,
  isDeleting,
  keyOf,
  PatchHelper,
  removeCondition,
  setCondition,
} from '../../../kube/index.ts';
import { hasCondition } from '../conditions.ts';
import { scaled } from '../int-or-percent.ts';
import { ANNOTATION } from '../names.ts';
import { createdAt, isToBeRemediated } from '../pool-conditions.ts';
import type { MachineSetScope } from './machine-set-scope.ts';
import { preflightProblems } from './preflight.ts';

const TYPE = 'OwnerRemediated';
const MACHINE_DELETING = 'MachineDeleting';

export async function remediate(scope: MachineSetScope): Promise<void> {
  const { deployment, draft, machines: found = [], core, signal } = scope;
  const alive = found.filter((machine) => !isDeleting(machine));
  // Healthy again before anything was done about it.
  for (const machine of alive) {
    if (!hasCondition(machine, 'HealthCheckSucceeded', 'True') || !hasCondition(machine, TYPE, 'False')) continue;
    await change(scope, machine, (copy) => removeCondition(copy, TYPE));
  }
  const wanted = alive.filter(isToBeRemediated).sort(byUrgency);
  if (wanted.length === 0) return;
  const revision = (object: KubeObject) => object.metadata.annotations?.[ANNOTATION.revision];
  if (deployment && revision(deployment) !== revision(draft)) {
    const message = "Machine won't be remediated because it is pending removal due to rollout";
    return mark(scope, wanted, { reason: 'CannotBeRemediated', message });
  }
  const limit = deployment?.spec.remediation?.maxInFlight;
  const allowed = limit === undefined ? Number.POSITIVE_INFINITY : scaled(limit, deployment?.spec.replicas ?? 1, 'up');
  const underWay = found.filter(
    (machine) => isDeleting(machine) && getCondition(machine, TYPE)?.reason === MACHINE_DELETING,
  ).length;
  const room = Math.max(0, allowed - underWay);
  const now = wanted.slice(0, room);
  const later = wanted.slice(room);
  const tooMany = `Waiting because there are already too many remediations in progress (maxInFlight is ${limit})`;
  await mark(scope, later, { reason: 'RemediationDeferred', message: tooMany });
  if (now.length === 0) return;
  const problems = await preflightProblems(scope);
  if (problems.length > 0) {
    const message = problems.map((problem) => `* ${problem}`).join('\n');
    return mark(scope, now, { reason: 'RemediationDeferred', message });
  }
  await mark(scope, now, { reason: MACHINE_DELETING, message: 'Machine is deleting' });
  for (const machine of now) await core.store.delete(machines, keyOf(machine), { signal }).catch(ignoreNotFound);
}

/** Those a person asked for come first, then the newest: they serve the fewest. */
function byUrgency(a: KubeObject, b: KubeObject): number {
  const asked = (machine: KubeObject) =>
    Number(machine.metadata.annotations?.[ANNOTATION.remediateMachine] !== undefined);
  return (
    asked(b) - asked(a) || createdAt(b) - createdAt(a) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
  );
}

async function mark(scope: MachineSetScope, found: KubeObject[], said: Pick<ConditionInput, 'reason' | 'message'>) {
  for (const machine of found) {
    await change(scope, machine, (copy) =>
      setCondition(copy, { type: TYPE, status: 'False', ...said }, scope.core.clock),
    );
  }
}

async function change({ core, signal }: MachineSetScope, machine: KubeObject, edit: (copy: KubeObject) => unknown) {
  const helper = new PatchHelper(core.store, machines, machine);
  const copy = helper.draft();
  edit(copy);
  await helper.patch(copy, signal);
}
