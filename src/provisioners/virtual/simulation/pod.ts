/** What controllers ask about a pod. */
import type { KubeObject } from '../../../api/object.ts';

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export const PODS = '/pods';
export const NODES = '/nodes';

export function conditionOf(object: KubeObject, type: string): PodCondition | undefined {
  return object.status?.conditions?.find((condition: PodCondition) => condition.type === type);
}

export function isFinished(pod: KubeObject): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

export function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Counts as one of the wanted replicas. */
export function isActive(pod: KubeObject): boolean {
  return !isFinished(pod) && !isDeleting(pod);
}

export function isReady(pod: KubeObject): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True';
}

/** Milliseconds until it has been ready for `minReadySeconds`: 0 when it is available, undefined when not ready. */
export function untilAvailable(pod: KubeObject, minReadySeconds: number, now: number): number | undefined {
  const ready = conditionOf(pod, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds <= 0) return 0;
  return Math.max(0, Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000 - now);
}

/** Replaces the condition of that type; the time moves only when the status does. */
export function withCondition(
  conditions: PodCondition[] | undefined,
  wanted: PodCondition,
  timestamp: string,
): PodCondition[] {
  const known = conditions?.find((c) => c.type === wanted.type);
  const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : timestamp;
  const next = { ...wanted, lastTransitionTime };
  return known ? (conditions ?? []).map((c) => (c === known ? next : c)) : [...(conditions ?? []), next];
}
