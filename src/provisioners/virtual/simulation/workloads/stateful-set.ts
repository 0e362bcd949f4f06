/** StatefulSets: members with names, one after the other, each with its own volumes. */
import type { KubeObject } from '../../../../api/object.ts';
import { type Controller, itself, ownerOf } from '../controller.ts';
import { isDeleting, isFinished, isReady, PODS, untilAvailable } from '../pod.ts';
import type { World } from '../world.ts';
import { claimants, claimPods, selectorOf } from './claim.ts';
import { currentRevision, HASH_LABEL, historyOf, REVISIONS, trimHistory } from './history.ts';
import { createMember, ordinalOf, removeClaims } from './stateful-pod.ts';

const STATEFUL_SETS = 'apps/statefulsets';
const COMPONENT = 'statefulset-controller';

interface Plan {
  world: World;
  set: KubeObject;
  members: Map<number, KubeObject>;
  /** Revision new rollouts go to, and the one they come from. */
  update: KubeObject;
  current: KubeObject;
  first: number;
  count: number;
}

export const statefulSets: Controller = {
  name: COMPONENT,
  on: { [STATEFUL_SETS]: itself, [PODS]: claimants(STATEFUL_SETS, 'StatefulSet'), [REVISIONS]: ownerOf('StatefulSet') },
  async reconcile(world, namespace, name, again) {
    const set = world.cache.get(STATEFUL_SETS, namespace, name);
    const selector = set && selectorOf(set);
    if (!set || !selector || isDeleting(set)) return;
    const claimed = await claimPods(world, set, selector);
    const update = await currentRevision(world, set);
    const current = historyOf(world, set).find((r) => r.metadata.name === set.status?.currentRevision) ?? update;
    const members = new Map(
      claimed.map((pod) => [ordinalOf(set, pod), pod]).filter(([n]) => (n as number) >= 0) as [number, KubeObject][],
    );
    const first = set.spec.ordinals?.start ?? 0;
    const plan: Plan = { world, set, members, update, current, first, count: set.spec.replicas ?? 1 };
    let failure: unknown;
    try {
      await step(plan);
    } catch (error) {
      failure = error;
    }
    const wait = await report(plan);
    if (failure) throw failure;
    await trimHistory(world, set, new Set([update, current].map((r) => r.metadata.name as string)));
    if (wait !== undefined) again(wait);
  },
};

/** The next thing to do; in order, one at a time, unless the set says Parallel. */
async function step(plan: Plan): Promise<void> {
  const { world, set, members, first, count } = plan;
  const ordered = set.spec.podManagementPolicy !== 'Parallel';
  for (let ordinal = first; ordinal < first + count; ordinal++) {
    const pod = members.get(ordinal);
    if (pod && isFinished(pod) && !isDeleting(pod)) {
      say(
        world,
        set,
        'Warning',
        'RecreatingFailedPod',
        `StatefulSet ${set.metadata.namespace}/${set.metadata.name} is recreating failed Pod ${pod.metadata.name}`,
      );
      await world.remove(PODS, pod);
      if (ordered) return;
    } else if (!pod) {
      await create(plan, ordinal);
      if (ordered) return;
    } else if (ordered && (isDeleting(pod) || !isHealthy(plan, pod))) {
      // A member that is sick in an old revision may be what the update is meant to cure.
      if (revisionOf(pod) !== plan.update.metadata.name && !isDeleting(pod)) break;
      return;
    }
  }
  const condemned = [...members.keys()].filter((n) => n < first || n >= first + count).sort((a, b) => b - a);
  for (const ordinal of condemned) {
    const pod = members.get(ordinal) as KubeObject;
    if (isDeleting(pod)) {
      if (ordered) return;
      continue;
    }
    await remove(plan, pod);
    await removeClaims(world, set, ordinal);
    if (ordered) return;
  }
  await roll(plan);
}

async function roll(plan: Plan): Promise<void> {
  const { set, members, first, count, update } = plan;
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const partition = Math.max(first, first + (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0));
  for (let ordinal = first + count - 1; ordinal >= partition; ordinal--) {
    const pod = members.get(ordinal);
    if (!pod) return;
    if (revisionOf(pod) !== update.metadata.name && !isDeleting(pod)) return remove(plan, pod);
    if (!isHealthy(plan, pod)) return;
  }
}

async function create(plan: Plan, ordinal: number): Promise<void> {
  const { world, set } = plan;
  const name = `${set.metadata.name}-${ordinal}`;
  try {
    await createMember(world, set, ordinal, revisionFor(plan, ordinal));
    say(world, set, 'Normal', 'SuccessfulCreate', `create Pod ${name} in StatefulSet ${set.metadata.name} successful`);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    say(
      world,
      set,
      'Warning',
      'FailedCreate',
      `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${text}`,
    );
    throw error;
  }
}

/** Members below the partition, or not reached by the update yet, come back as they were. */
function revisionFor({ set, update, current, first }: Plan, ordinal: number): KubeObject {
  const strategy = set.spec.updateStrategy;
  if (strategy?.type === 'OnDelete') return update;
  const partition = strategy?.rollingUpdate?.partition ?? 0;
  if (partition === 0) {
    return ordinal < first + (set.status?.currentReplicas ?? 0) ? current : update;
  }
  return ordinal < first + partition ? current : update;
}

async function remove({ world, set }: Plan, pod: KubeObject): Promise<void> {
  await world.remove(PODS, pod);
  say(
    world,
    set,
    'Normal',
    'SuccessfulDelete',
    `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
  );
}

async function report({ world, set, update, current }: Plan): Promise<number | undefined> {
  const newest = world.cache.get(STATEFUL_SETS, set.metadata.namespace ?? '', set.metadata.name ?? '');
  if (!newest) return undefined;
  const pods = world.cache.podsOf(set.metadata.uid as string).filter((pod) => !isFinished(pod));
  const live = pods.filter((pod) => !isDeleting(pod));
  let waitMs: number | undefined;
  let availableReplicas = 0;
  for (const pod of live) {
    const wait = untilAvailable(pod, set.spec.minReadySeconds ?? 0, world.now);
    if (wait === 0) availableReplicas += 1;
    else if (wait !== undefined) waitMs = Math.min(waitMs ?? wait, wait);
  }
  const of = (revision: KubeObject) => live.filter((pod) => revisionOf(pod) === revision.metadata.name).length;
  const wanted = newest.spec.replicas ?? 1;
  const readyReplicas = live.filter(isReady).length;
  const done = of(update) === pods.length && pods.length === wanted && readyReplicas === wanted;
  const from = done ? update : current;
  const status = {
    observedGeneration: newest.metadata.generation,
    replicas: pods.length,
    ...(readyReplicas ? { readyReplicas } : {}),
    availableReplicas,
    ...(of(from) ? { currentReplicas: of(from) } : {}),
    ...(of(update) ? { updatedReplicas: of(update) } : {}),
    currentRevision: from.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: newest.status?.collisionCount ?? 0,
    ...(newest.status?.conditions ? { conditions: newest.status.conditions } : {}),
  };
  await world.updateStatus(STATEFUL_SETS, newest, status);
  return waitMs;
}

function revisionOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[HASH_LABEL];
}

function isHealthy({ world, set }: Plan, pod: KubeObject): boolean {
  return !isDeleting(pod) && untilAvailable(pod, set.spec.minReadySeconds ?? 0, world.now) === 0;
}

function say(world: World, about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
  world.recorder.record({ about, type, reason, message, component: COMPONENT });
}
