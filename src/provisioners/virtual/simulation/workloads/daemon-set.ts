/** DaemonSets: one pod on every node that takes it. */
import type { KubeObject } from '../../../../api/object.ts';
import { equal } from '../../../../apiserver/json.ts';
import { type Controller, itself, keyOf, ownerOf } from '../controller.ts';
import { isActive, isDeleting, isFinished, isReady, NODES, PODS, untilAvailable } from '../pod.ts';
import type { World } from '../world.ts';
import { claimants, claimPods, selectorOf } from './claim.ts';
import { belongs, daemonPod, targetNode } from './daemon-pod.ts';
import { currentRevision, HASH_LABEL, REVISIONS, revisionHash, trimHistory } from './history.ts';

const DAEMON_SETS = 'apps/daemonsets';
const COMPONENT = 'daemonset-controller';

export const daemonSets: Controller = {
  name: COMPONENT,
  on: {
    [DAEMON_SETS]: itself,
    [PODS]: claimants(DAEMON_SETS, 'DaemonSet'),
    [REVISIONS]: ownerOf('DaemonSet'),
    [NODES]: function* ({ current, previous }, world) {
      const [now, before] = [current?.object(), previous?.object()];
      if (now && before && equal(now.spec, before.spec) && equal(now.metadata.labels, before.metadata.labels)) return;
      for (const set of world.cache.list(DAEMON_SETS)) yield keyOf(set.metadata);
    },
  },
  async reconcile(world, namespace, name, again) {
    const set = world.cache.get(DAEMON_SETS, namespace, name);
    const selector = set && selectorOf(set);
    if (!set || !selector || isDeleting(set)) return;
    const claimed = await claimPods(world, set, selector);
    const revision = await currentRevision(world, set);
    const hash = revisionHash(revision);
    const nodes = world.cache.list(NODES).filter((node) => !isDeleting(node));
    const byNode = new Map<string, KubeObject[]>(nodes.map(({ metadata }) => [metadata.name as string, []]));
    for (const pod of claimed) byNode.get(targetNode(pod))?.push(pod);
    const failure = await manage(world, set, nodes, byNode, hash);
    if (!failure) await roll(world, set, nodes, byNode, hash);
    const wait = await report(world, set, nodes, hash);
    if (failure) throw failure;
    await trimHistory(world, set, new Set([revision.metadata.name as string, ...inUse(world, set)]));
    if (wait !== undefined) again(wait);
  },
};

/** Missing daemons are made, failed and unwanted ones removed. */
async function manage(
  world: World,
  set: KubeObject,
  nodes: KubeObject[],
  byNode: Map<string, KubeObject[]>,
  hash: string,
): Promise<unknown> {
  const results = await Promise.allSettled(
    nodes.map(async (node) => {
      const name = node.metadata.name as string;
      const pods = byNode.get(name) ?? [];
      const { run, keep } = belongs(set, node);
      for (const pod of pods) {
        if (isDeleting(pod)) continue;
        if (isFinished(pod)) {
          const message = `Found failed daemon pod ${keyOf(pod.metadata)} on node ${name}, will try to kill it`;
          say(world, set, 'Warning', 'FailedDaemonPod', message);
        } else if (keep) continue;
        await remove(world, set, pod);
      }
      if (run && !pods.some((pod) => !isFinished(pod)) && !pods.some(isDeleting)) await create(world, set, name, hash);
    }),
  );
  return results.find((result) => result.status === 'rejected')?.reason;
}

/** Old daemons make room for new ones, only so many at a time. */
async function roll(
  world: World,
  set: KubeObject,
  nodes: KubeObject[],
  byNode: Map<string, KubeObject[]>,
  hash: string,
): Promise<void> {
  const { updateStrategy } = set.spec;
  if (updateStrategy?.type !== 'RollingUpdate') return;
  const { maxUnavailable = 1, maxSurge = 0 } = updateStrategy.rollingUpdate ?? {};
  const share = (value: number | string) =>
    typeof value === 'string' ? Math.ceil((Number.parseInt(value, 10) / 100) * nodes.length) : value;
  const isOld = (pod: KubeObject) => pod.metadata.labels?.[HASH_LABEL] !== hash;
  const available = (pod: KubeObject) =>
    isActive(pod) && untilAvailable(pod, set.spec.minReadySeconds ?? 0, world.now) === 0;
  let surge = share(maxSurge);
  let down = 0;
  const candidates: KubeObject[] = [];
  for (const node of nodes) {
    if (!belongs(set, node).run) continue;
    const pods = byNode.get(node.metadata.name as string) ?? [];
    const old = pods.filter((pod) => isOld(pod) && isActive(pod));
    const fresh = pods.find((pod) => !isOld(pod) && isActive(pod));
    if (surge > 0 && old.length) {
      if (fresh && available(fresh)) for (const pod of old) await remove(world, set, pod);
      else if (fresh) surge -= 1;
      else if (surge-- > 0) await create(world, set, node.metadata.name as string, hash);
      continue;
    }
    if (share(maxSurge) > 0) continue;
    if (!pods.some(available)) {
      down += 1;
      // What does not work anyway costs nothing to replace.
      for (const pod of old) await remove(world, set, pod);
    } else candidates.push(...old);
  }
  const free = Math.max(0, share(maxUnavailable) - down);
  for (const pod of candidates.slice(0, free)) await remove(world, set, pod);
}

async function create(world: World, set: KubeObject, node: string, hash: string): Promise<void> {
  try {
    const pod = await world.create(PODS, daemonPod(set, node, hash));
    say(world, set, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
  } catch (error) {
    say(
      world,
      set,
      'Warning',
      'FailedCreate',
      `Error creating: ${error instanceof Error ? error.message : String(error)}`,
    );
    throw error;
  }
}

async function remove(world: World, set: KubeObject, pod: KubeObject): Promise<void> {
  await world.remove(PODS, pod);
  say(world, set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
}

async function report(world: World, set: KubeObject, nodes: KubeObject[], hash: string): Promise<number | undefined> {
  const newest = world.cache.get(DAEMON_SETS, set.metadata.namespace ?? '', set.metadata.name ?? '');
  if (!newest) return undefined;
  const pods = world.cache.podsOf(set.metadata.uid as string).filter(isActive);
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  let waitMs: number | undefined;
  for (const node of nodes) {
    const here = pods.filter((pod) => targetNode(pod) === node.metadata.name);
    if (!belongs(newest, node).run) {
      if (here.length) counts.misscheduled += 1;
      continue;
    }
    counts.desired += 1;
    if (!here.length) continue;
    counts.current += 1;
    if (here.some((pod) => pod.metadata.labels?.[HASH_LABEL] === hash)) counts.updated += 1;
    const waits = here.map((pod) => untilAvailable(pod, newest.spec.minReadySeconds ?? 0, world.now));
    if (here.some(isReady)) counts.ready += 1;
    if (waits.includes(0)) counts.available += 1;
    for (const wait of waits) if (wait) waitMs = Math.min(waitMs ?? wait, wait);
  }
  const missing = counts.desired - counts.available;
  await world.updateStatus(DAEMON_SETS, newest, {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    observedGeneration: newest.metadata.generation,
    ...(counts.updated ? { updatedNumberScheduled: counts.updated } : {}),
    ...(counts.available ? { numberAvailable: counts.available } : {}),
    ...(missing ? { numberUnavailable: missing } : {}),
    ...(newest.status?.collisionCount ? { collisionCount: newest.status.collisionCount } : {}),
    ...(newest.status?.conditions ? { conditions: newest.status.conditions } : {}),
  });
  return waitMs;
}

/** Names of revisions that pods still run. */
function inUse(world: World, set: KubeObject): string[] {
  return world.cache
    .podsOf(set.metadata.uid as string)
    .map(({ metadata }) => `${set.metadata.name}-${metadata.labels?.[HASH_LABEL]}`);
}

function say(world: World, about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
  world.recorder.record({ about, type, reason, message, component: COMPONENT });
}
