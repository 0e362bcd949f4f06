/** Conditions about a number of machines, which Cluster, MachineDeployment and MachineSet word alike. */
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../clock.ts';
import { type ConditionInput, getCondition, isConditionTrue } from '../../kube/index.ts';
import { aggregated, hasCondition, listed } from './conditions.ts';

/** A machine this young may well not have been looked at yet. */
const YOUNG_MS = 10_000;
const STALE_MS = 15 * 60_000;

export function machinesReady(type: string, machines: KubeObject[]): ConditionInput {
  if (machines.length === 0) return { type, status: 'True', reason: 'NoReplicas' };
  const reasons = { issues: 'NotReady', unknown: 'ReadyUnknown', fine: 'Ready' };
  return aggregated(machines, { from: 'Ready', to: type, reasons });
}

export function machinesUpToDate(type: string, machines: KubeObject[], clock: Clock): ConditionInput {
  const judged = machines.filter(
    (machine) => hasCondition(machine, 'UpToDate') || clock.now() - createdAt(machine) > YOUNG_MS,
  );
  if (judged.length === 0) return { type, status: 'True', reason: 'NoReplicas' };
  const reasons = { issues: 'NotUpToDate', unknown: 'UpToDateUnknown', fine: 'UpToDate' };
  return aggregated(judged, { from: 'UpToDate', to: type, reasons });
}

/** When machines that are too young to be judged will be old enough; undefined when there is none. */
export function nextJudgement(machines: KubeObject[], clock: Clock): number | undefined {
  const waits = machines
    .filter((machine) => !hasCondition(machine, 'UpToDate'))
    .map((machine) => createdAt(machine) + YOUNG_MS + 1000 - clock.now())
    .filter((ms) => ms > 0);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** Found unhealthy by a health check. */
export function isUnhealthy(machine: KubeObject): boolean {
  return hasCondition(machine, 'HealthCheckSucceeded', 'False');
}

/** … and its owner is asked to do something about it. */
export function isToBeRemediated(machine: KubeObject): boolean {
  return isUnhealthy(machine) && hasCondition(machine, 'OwnerRemediated', 'False');
}

export function remediating(machines: KubeObject[], by = ''): ConditionInput {
  const type = 'Remediating';
  const wanted = machines.filter(isToBeRemediated);
  if (wanted.length > 0) {
    const reasons = { issues: type, unknown: type, fine: type };
    const { message } = aggregated(wanted, { from: 'OwnerRemediated', to: type, reasons });
    return { type, status: 'True', reason: 'Remediating', message };
  }
  const sick = machines.filter(isUnhealthy).map((machine) => machine.metadata.name ?? '');
  const [subject, verb] = sick.length === 1 ? ['Machine', 'is'] : ['Machines', 'are'];
  const message = sick.length > 0 ? `${subject} ${listed(sick)} ${verb} not healthy (not to be remediated${by})` : '';
  return { type, status: 'False', reason: 'NotRemediating', message };
}

/** Machines whose deletion takes suspiciously long, and what probably holds them. */
export function staleDeletions(machines: KubeObject[], clock: Clock): string {
  const stale = machines.filter(
    ({ metadata }) => metadata.deletionTimestamp && clock.now() - Date.parse(metadata.deletionTimestamp) > STALE_MS,
  );
  if (stale.length === 0) return '';
  const names = listed(stale.map((machine) => machine.metadata.name ?? ''));
  const causes = [...new Set(stale.flatMap(drainObstacles))];
  const [subject, verb] = stale.length === 1 ? ['Machine', 'is'] : ['Machines', 'are'];
  const cause = causes.length > 0 ? `, delay likely due to ${causes.join(', ')}` : '';
  return `\n* ${subject} ${names} ${verb} in deletion since more than 15m${cause}`;
}

/** Read from what the drain itself reported. */
export function drainObstacles(machine: KubeObject): string[] {
  const deleting = getCondition(machine, 'Deleting');
  if (deleting?.reason !== 'DrainingNode') return [];
  const signs: [string, string][] = [
    ['disruption budget', 'PodDisruptionBudgets'],
    ['still not removed', 'Pods not terminating'],
    ['failed to evict', 'Pod eviction errors'],
    ['waiting for completion', 'Pods not completed yet'],
  ];
  return signs.filter(([sign]) => deleting.message.includes(sign)).map(([, cause]) => cause);
}

export function createdAt(object: KubeObject): number {
  return Date.parse(object.metadata.creationTimestamp ?? '');
}

/** How many machines have a condition. */
export function countTrue(machines: KubeObject[], type: string): number {
  return machines.filter((machine) => isConditionTrue(machine, type)).length;
}
