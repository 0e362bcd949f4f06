/**
 * How many machines each MachineSet of a MachineDeployment shall have next. Pure arithmetic over what the sets say of
 * themselves: called again after every change, it walks from the old sets to the new one within the given bounds.
 */
import type { KubeObject } from '../../../api/object.ts';
import { scaled } from '../int-or-percent.ts';
import { templateDifferences } from '../machine-template.ts';
import { ANNOTATION } from '../names.ts';
import { createdAt } from '../pool-conditions.ts';

/** Names of MachineSets and the replicas they shall have; those not named stay as they are. */
export type Plan = Map<string, number>;

export interface Sets {
  current?: KubeObject;
  old: KubeObject[];
}

export function wantedReplicas(deployment: KubeObject): number {
  return deployment.spec.replicas ?? 1;
}

/** How many machines more than wanted, and how many less, there may be. */
export function bounds(deployment: KubeObject): { maxSurge: number; maxUnavailable: number } {
  if (isOnDelete(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = wantedReplicas(deployment);
  const { maxSurge = 1, maxUnavailable = 0 } = deployment.spec.rollout?.strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, replicas, 'up');
  const unavailable = scaled(maxUnavailable, replicas, 'down');
  // With both at zero nothing could ever move.
  return { maxSurge: surge, maxUnavailable: Math.min(surge + unavailable === 0 ? 1 : unavailable, replicas) };
}

export function isOnDelete(deployment: KubeObject): boolean {
  return deployment.spec.rollout?.strategy?.type === 'OnDelete';
}

/** The set that is as the deployment wants it now, and the others. The one with most machines wins a tie. */
export function splitSets(deployment: KubeObject, sets: KubeObject[], now: number): Sets {
  const after = Date.parse(deployment.spec.rollout?.after ?? '');
  const sorted = [...sets].sort((a, b) => specOf(b) - specOf(a) || byAge(a, b));
  const isDue = after <= now;
  const current = sorted.find(
    (set) =>
      templateDifferences(set.spec.template, deployment.spec.template).length === 0 &&
      (!isDue || createdAt(set) >= after) &&
      !set.metadata.deletionTimestamp,
  );
  return { current, old: sorted.filter((set) => set !== current).sort(byAge) };
}

/** When the next rollout by time is due. */
export function nextRollout(deployment: KubeObject, now: number): number | undefined {
  const after = Date.parse(deployment.spec.rollout?.after ?? '');
  return after > now ? after - now : undefined;
}

export function planRollout(deployment: KubeObject, current: KubeObject, old: KubeObject[]): Plan {
  const plan: Plan = new Map();
  growCurrent(plan, deployment, current, old);
  if (isOnDelete(deployment)) shrinkToExisting(plan, deployment, current, old);
  else {
    shrinkOld(plan, deployment, current, old);
    breakDeadlock(plan, current, old);
  }
  return plan;
}

/** Only the size changes while a deployment is paused; several sets share it in proportion. */
export function planScale(deployment: KubeObject, { current, old }: Sets): Plan {
  const wanted = wantedReplicas(deployment);
  const all = [...old, ...(current ? [current] : [])];
  const active = all.filter((set) => specOf(set) > 0);
  const only = active.length === 1 ? active[0] : active.length === 0 ? (current ?? old.at(-1)) : undefined;
  if (only) return new Map([[nameOf(only), wanted]]);
  if (active.length === 0) return new Map();
  const allowed = wanted > 0 ? wanted + bounds(deployment).maxSurge : 0;
  const total = sum(active, specOf);
  const shares = new Map(active.map((set) => [nameOf(set), Math.floor((specOf(set) * allowed) / total)]));
  const [largest] = [...active].sort((a, b) => specOf(b) - specOf(a));
  const rest = allowed - [...shares.values()].reduce((a, b) => a + b, 0);
  if (largest) shares.set(nameOf(largest), (shares.get(nameOf(largest)) ?? 0) + rest);
  return shares;
}

function growCurrent(plan: Plan, deployment: KubeObject, current: KubeObject, old: KubeObject[]): void {
  const wanted = wantedReplicas(deployment);
  const has = specOf(current);
  if (has > wanted) plan.set(nameOf(current), wanted);
  if (has >= wanted) return;
  // A machine that is asked for counts, and so does one that is not gone yet.
  const total = sum([...old, current], (set) => Math.max(specOf(set), countOf(set, 'replicas')));
  const room = wanted + bounds(deployment).maxSurge - total;
  if (room > 0) plan.set(nameOf(current), has + Math.min(room, wanted - has));
}

/** Never below the minimum that has to be available; machines that are of no use go first. */
function shrinkOld(plan: Plan, deployment: KubeObject, current: KubeObject, old: KubeObject[]): void {
  if (sum(old, specOf) === 0) return;
  const all = [...old, current];
  const minAvailable = Math.max(0, wantedReplicas(deployment) - bounds(deployment).maxUnavailable);
  const pending = sum(all, (set) =>
    Math.max(0, countOf(set, 'replicas') - Math.min(specOf(set), plan.get(nameOf(set)) ?? specOf(set))),
  );
  const newUnavailable = Math.max(0, specOf(current) - countOf(current, 'availableReplicas'));
  const state = {
    budget: Math.max(0, sum(all, specOf) - pending - minAvailable - newUnavailable),
    available: sum(all, (set) => countOf(set, 'availableReplicas')),
  };
  for (const onlyUnavailable of [true, false]) {
    for (const set of old) shrinkOne(plan, set, onlyUnavailable, minAvailable, state);
  }
}

function shrinkOne(
  plan: Plan,
  set: KubeObject,
  onlyUnavailable: boolean,
  minAvailable: number,
  state: { budget: number; available: number },
): void {
  const replicas = plan.get(nameOf(set)) ?? specOf(set);
  const [existing, available] = [countOf(set, 'replicas'), countOf(set, 'availableReplicas')];
  const most = onlyUnavailable ? Math.max(0, replicas - available) : replicas;
  let by = Math.min(most, state.budget);
  if (by <= 0) return;
  if (available > 0) {
    // Which machine goes is not ours to say: it may be one of those that are available.
    let deleted = Math.max(0, existing - Math.max(0, replicas - by));
    if (deleted > 0) {
      const spare = Math.max(0, state.available - minAvailable);
      if (deleted > spare) {
        const kept = Math.min(existing - spare, replicas);
        by = Math.max(0, replicas - kept);
        deleted = Math.max(0, existing - kept);
      }
      state.available -= Math.min(available, deleted);
    }
  }
  if (by <= 0) return;
  plan.set(nameOf(set), Math.max(0, replicas - by));
  state.budget = Math.max(0, state.budget - by);
}

/** All stand still, and an old machine that is not available holds the rollout up: it has nothing to lose. */
function breakDeadlock(plan: Plan, current: KubeObject, old: KubeObject[]): void {
  const all = [...old, current];
  if (plan.size > 0 || all.some((set) => specOf(set) !== countOf(set, 'replicas'))) return;
  if (countOf(current, 'availableReplicas') !== countOf(current, 'replicas')) return;
  const stuck = old.find((set) => specOf(set) > 0 && countOf(set, 'availableReplicas') !== countOf(set, 'replicas'));
  if (stuck) plan.set(nameOf(stuck), specOf(stuck) - 1);
}

/** OnDelete: old sets follow what people delete, and shrink further only when there are too many in all. */
function shrinkToExisting(plan: Plan, deployment: KubeObject, current: KubeObject, old: KubeObject[]): void {
  const total = sum(old, specOf) + (plan.get(nameOf(current)) ?? specOf(current));
  let surplus = Math.max(0, total - wantedReplicas(deployment));
  for (const set of old) {
    const gone = Math.max(0, specOf(set) - countOf(set, 'replicas'));
    if (gone === 0) continue;
    plan.set(nameOf(set), specOf(set) - gone);
    surplus -= gone;
  }
  for (const set of old) {
    const has = plan.get(nameOf(set)) ?? specOf(set);
    const by = Math.min(has, Math.max(0, surplus));
    if (by <= 0) continue;
    plan.set(nameOf(set), has - by);
    surplus -= by;
  }
}

export function revisionOf(object: KubeObject): number {
  return Number(object.metadata.annotations?.[ANNOTATION.revision] ?? 0);
}

export function specOf(set: KubeObject): number {
  return set.spec.replicas ?? 0;
}

export function countOf(set: KubeObject, field: string): number {
  return set.status?.[field] ?? 0;
}

function nameOf(set: KubeObject): string {
  return set.metadata.name ?? '';
}

function sum(sets: KubeObject[], of: (set: KubeObject) => number): number {
  return sets.reduce((total, set) => total + of(set), 0);
}

function byAge(a: KubeObject, b: KubeObject): number {
  return createdAt(a) - createdAt(b) || (nameOf(a) < nameOf(b) ? -1 : 1);
}
