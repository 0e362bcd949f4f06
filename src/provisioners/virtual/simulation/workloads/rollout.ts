/** Moving a Deployment's replicas from old ReplicaSets to the new one: rolling, all at once, or scaled in the middle. */
import type { KubeObject } from '../../../../api/object.ts';
import type { World } from '../world.ts';
import { COMPONENT, DESIRED, REPLICA_SETS } from './deployment-names.ts';
import { byCreation, ensureNew, findNew, scaleAnnotations } from './revisions.ts';
import { fenceposts, newReplicas, proportion, replicasOf, total, totalStatus } from './rollout-numbers.ts';

export interface Rollout {
  world: World;
  deployment: KubeObject;
  sets: KubeObject[];
}

/** One step forward; returns the new ReplicaSet. Its events bring the next step. */
export async function roll(rollout: Rollout): Promise<KubeObject | undefined> {
  const { world, deployment, sets } = rollout;
  if (deployment.spec.strategy?.type === 'Recreate') return recreate(rollout);
  const fresh = (await ensureNew(world, deployment, sets, true)) as KubeObject;
  const all = withFresh(sets, fresh);
  const wanted = replicasOf(deployment);
  const next = replicasOf(fresh) > wanted ? wanted : newReplicas(deployment, all, fresh);
  if (next !== replicasOf(fresh)) return resize(rollout, fresh, next);
  await shrinkOld(rollout, fresh, all);
  return fresh;
}

async function recreate(rollout: Rollout): Promise<KubeObject | undefined> {
  const { world, deployment, sets } = rollout;
  const known = findNew(deployment, sets);
  const old = sets.filter((set) => set !== known);
  const larger = old.filter((set) => replicasOf(set) > 0);
  await Promise.all(larger.map((set) => resize(rollout, set, 0)));
  if (larger.length) return known;
  const alive = old.some((set) =>
    world.cache.podsOf(set.metadata.uid as string).some(({ status }) => !/Succeeded|Failed/.test(status?.phase ?? '')),
  );
  if (alive) return known;
  const fresh = (await ensureNew(world, deployment, sets, true)) as KubeObject;
  const wanted = replicasOf(deployment);
  return replicasOf(fresh) === wanted ? fresh : resize(rollout, fresh, wanted);
}

async function shrinkOld(rollout: Rollout, fresh: KubeObject, all: KubeObject[]): Promise<void> {
  const { deployment } = rollout;
  const old = all.filter((set) => set.metadata.uid !== fresh.metadata.uid).sort(byCreation);
  if (total(old) === 0) return;
  const least = replicasOf(deployment) - fenceposts(deployment).unavailable;
  const freshMissing = replicasOf(fresh) - (fresh.status?.availableReplicas ?? 0);
  const most = total(all) - least - freshMissing;
  if (most <= 0) return;
  // Those that never became healthy go first: they only block the way.
  const sizes = new Map(old.map((set) => [set, replicasOf(set)]));
  let cleaned = 0;
  for (const set of old) {
    const size = sizes.get(set) ?? 0;
    const sick = size - (set.status?.availableReplicas ?? 0);
    if (size === 0 || sick <= 0 || cleaned >= most) continue;
    const step = Math.min(most - cleaned, sick);
    sizes.set(set, size - step);
    cleaned += step;
  }
  let spare = totalStatus(all, 'availableReplicas') - least;
  for (const set of old) {
    const size = sizes.get(set) ?? 0;
    if (spare <= 0) break;
    const step = Math.min(size, spare);
    sizes.set(set, size - step);
    spare -= step;
  }
  await Promise.all(
    old.map((set) => (sizes.get(set) === replicasOf(set) ? undefined : resize(rollout, set, sizes.get(set) ?? 0))),
  );
}

/** The Deployment's own size was changed since the ReplicaSets were last touched. */
export function isScaling({ deployment, sets }: Rollout): boolean {
  const wanted = replicasOf(deployment);
  return sets.some((set) => {
    const desired = set.metadata.annotations?.[DESIRED];
    return replicasOf(set) > 0 && desired !== undefined && Number(desired) !== wanted;
  });
}

/** Brings the change of size to the ReplicaSets without moving the rollout itself. */
export async function scale(rollout: Rollout): Promise<KubeObject | undefined> {
  const { world, deployment } = rollout;
  const fresh = await ensureNew(world, deployment, rollout.sets, false);
  const sets = fresh ? withFresh(rollout.sets, fresh) : rollout.sets;
  const active = sets.filter((set) => replicasOf(set) > 0);
  const wanted = replicasOf(deployment);
  const only =
    active.length === 0 ? (fresh ?? [...sets].sort(byCreation).at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only) {
    if (replicasOf(only) !== wanted || only.metadata.annotations?.[DESIRED] !== String(wanted)) {
      await resize(rollout, only, wanted);
    }
    return fresh;
  }
  if (fresh && isSaturated(deployment, fresh)) {
    await Promise.all(active.filter((set) => set !== fresh).map((set) => resize(rollout, set, 0)));
    return fresh;
  }
  if (deployment.spec.strategy?.type !== 'RollingUpdate') return fresh;
  const allowed = wanted > 0 ? wanted + fenceposts(deployment).surge : 0;
  const toAdd = allowed - total(active);
  // Largest first; of equals the newer first when growing, the older first when shrinking.
  const age = toAdd > 0 ? -1 : 1;
  const order = [...active].sort((a, b) => replicasOf(b) - replicasOf(a) || age * byCreation(a, b));
  let added = 0;
  const sizes = order.map((set) => {
    const part = toAdd === 0 ? 0 : proportion(set, deployment, toAdd, added);
    added += part;
    return replicasOf(set) + part;
  });
  if (sizes.length) sizes[0] = Math.max(0, (sizes[0] as number) + toAdd - added);
  await Promise.all(order.map((set, index) => resize(rollout, set, sizes[index] as number)));
  return fresh;
}

function isSaturated(deployment: KubeObject, set: KubeObject): boolean {
  const wanted = replicasOf(deployment);
  return (
    replicasOf(set) === wanted &&
    Number(set.metadata.annotations?.[DESIRED]) === wanted &&
    (set.status?.availableReplicas ?? 0) === wanted
  );
}

async function resize({ world, deployment }: Rollout, set: KubeObject, size: number): Promise<KubeObject> {
  const before = replicasOf(set);
  const written = await world.update(REPLICA_SETS, set, (draft) => {
    draft.spec.replicas = size;
    scaleAnnotations(draft, deployment, fenceposts(deployment).surge);
  });
  if (size !== before) {
    const message = `Scaled ${size > before ? 'up' : 'down'} replica set ${set.metadata.name} from ${before} to ${size}`;
    world.recorder.record({
      about: deployment,
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message,
      component: COMPONENT,
    });
  }
  return written;
}

function withFresh(sets: KubeObject[], fresh: KubeObject): KubeObject[] {
  return [...sets.filter((set) => set.metadata.uid !== fresh.metadata.uid), fresh];
}
