/** The arithmetic of a rolling update: how many more, how many fewer, who gets the difference. */
import type { KubeObject } from '../../../../api/object.ts';
import { MAX } from './deployment-names.ts';

export function replicasOf({ spec }: KubeObject): number {
  return spec?.replicas ?? 1;
}

export function total(sets: KubeObject[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

export function totalStatus(sets: KubeObject[], field: string): number {
  return sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);
}

function scaled(value: number | string | undefined, of: number, up: boolean): number {
  if (typeof value !== 'string') return value ?? 0;
  const exact = (Number.parseInt(value, 10) / 100) * of;
  return up ? Math.ceil(exact) : Math.floor(exact);
}

/** maxSurge and maxUnavailable as numbers; both zero would never move, so one pod may be missing then. */
export function fenceposts({ spec }: KubeObject): { surge: number; unavailable: number } {
  if (spec.strategy?.type !== 'RollingUpdate') return { surge: 0, unavailable: 0 };
  const { maxSurge, maxUnavailable } = spec.strategy.rollingUpdate ?? {};
  const surge = scaled(maxSurge, spec.replicas ?? 1, true);
  const unavailable = scaled(maxUnavailable, spec.replicas ?? 1, false);
  const missing = surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, spec.replicas ?? 1);
  return { surge, unavailable: missing };
}

/** How many the new ReplicaSet should have now. */
export function newReplicas(deployment: KubeObject, sets: KubeObject[], fresh: KubeObject): number {
  const wanted = replicasOf(deployment);
  if (deployment.spec.strategy?.type === 'Recreate') return wanted;
  const most = wanted + fenceposts(deployment).surge;
  const current = total(sets);
  if (current >= most) return replicasOf(fresh);
  return replicasOf(fresh) + Math.min(most - current, wanted - replicasOf(fresh));
}

/** Shares a change of size among ReplicaSets in the middle of a rollout, each by its part (GetReplicaSetProportion). */
export function proportion(set: KubeObject, deployment: KubeObject, toAdd: number, added: number): number {
  if (replicasOf(set) === 0 || toAdd === 0 || toAdd === added) return 0;
  const most = Number(set.metadata.annotations?.[MAX] ?? 0) || deployment.status?.replicas || 1;
  const now = replicasOf(deployment) + fenceposts(deployment).surge;
  const part = Math.round((replicasOf(set) * now) / most) - replicasOf(set);
  const left = toAdd - added;
  return toAdd > 0 ? Math.min(part, left) : Math.max(part, left);
}
