/** Cluster API's pause: leave an object alone while its Cluster or the object itself says so, and say that we do. */
import type { KubeObject } from '../api/object.ts';
import type { Clock } from '../clock.ts';
import { setCondition } from './conditions.ts';

export const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';

/** The annotation pauses whatever its value. */
export function isPaused(object: KubeObject, cluster?: KubeObject): boolean {
  return cluster?.spec?.paused === true || object.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined;
}

/** Sets the condition `Paused`, which comes before any other work; true when the reconcile has to stop there. */
export function setPaused(object: KubeObject, cluster: KubeObject | undefined, clock: Clock): boolean {
  const reasons = [];
  if (cluster?.spec?.paused === true) reasons.push('Cluster spec.paused is set to true');
  if (object.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined) {
    reasons.push(`${object.kind} has the ${PAUSED_ANNOTATION} annotation`);
  }
  const paused = reasons.length > 0;
  const [status, reason] = paused ? (['True', 'Paused'] as const) : (['False', 'NotPaused'] as const);
  setCondition(object, { type: 'Paused', status, reason, message: reasons.join(', ') }, clock);
  return paused;
}
