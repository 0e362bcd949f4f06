/** Which machines go first when there are too many. */
import type { KubeObject } from '../../../api/object.ts';
import type { Clock } from '../../../clock.ts';
import { isDeleting } from '../../../kube/index.ts';
import { hasCondition } from '../conditions.ts';
import { ANNOTATION } from '../names.ts';
import { createdAt } from '../pool-conditions.ts';

export type DeletionOrder = 'Random' | 'Newest' | 'Oldest';

const TEN_DAYS_MS = 10 * 86_400_000;

/** The first to go is first; of equals the first by name. */
export function inDeletionOrder(machines: KubeObject[], order: DeletionOrder = 'Random', clock: Clock): KubeObject[] {
  const priorities = new Map(machines.map((machine) => [machine, priority(machine, order, clock)]));
  const of = (machine: KubeObject) => priorities.get(machine) as number;
  const name = (machine: KubeObject) => machine.metadata.name ?? '';
  return [...machines].sort((a, b) => of(b) - of(a) || (name(a) < name(b) ? -1 : 1));
}

function priority(machine: KubeObject, order: DeletionOrder, clock: Clock): number {
  if (isDeleting(machine)) return 100;
  if (machine.metadata.annotations?.[ANNOTATION.deleteMachine] !== undefined) return 80;
  if (!isHealthy(machine)) return 50;
  if (order === 'Random') return 20;
  const age = Math.max(0, clock.now() - createdAt(machine));
  const byAge = 50 * (1 - Math.exp(-age / TEN_DAYS_MS));
  return order === 'Oldest' ? byAge : 50 - byAge;
}

function isHealthy(machine: KubeObject): boolean {
  if (!machine.status?.nodeRef) return false;
  return !hasCondition(machine, 'NodeHealthy', 'False') && !hasCondition(machine, 'HealthCheckSucceeded', 'False');
}
