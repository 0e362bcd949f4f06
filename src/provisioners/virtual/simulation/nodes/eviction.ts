/** Pods that have to leave: their node is tainted against them, or gone. */
import type { KubeObject } from '../../../../api/object.ts';
import { equal } from '../../../../apiserver/json.ts';
import { type Controller, keyOf } from '../controller.ts';
import { left } from '../deadlines.ts';
import { isDeleting, isFinished, NODES, PODS, withCondition } from '../pod.ts';
import { type Taint, toleratesTaint } from '../scheduler/node-affinity.ts';
import type { World } from '../world.ts';

/** A pod may name a node that is still to come. */
const QUARANTINE_MS = 40_000;
const SINCE = Symbol('tolerated since');

export const taintEviction: Controller = {
  name: 'taint-eviction-controller',
  on: {
    [PODS]: function* ({ current }, world) {
      const node = current && world.cache.get(NODES, '', current.object().spec.nodeName ?? '');
      if (node && noExecute(node).length) yield keyOf(current.key);
    },
    [NODES]: function* ({ current, previous }, world) {
      if (!current) return;
      const before = previous ? noExecute(previous.object()) : [];
      if (equal(before, noExecute(current.object()))) return;
      for (const pod of world.cache.podsOn(current.key.name)) yield keyOf(pod.metadata);
    },
  },
  async reconcile(world, namespace, name, again) {
    const pod = world.cache.get(PODS, namespace, name);
    const node = pod && world.cache.get(NODES, '', pod.spec.nodeName ?? '');
    if (!pod || !node || isDeleting(pod) || isFinished(pod)) return;
    const wait = toleration(world, pod, noExecute(node));
    if (wait === undefined) return;
    if (wait > 0) return again(wait);
    const message = 'Taint manager: deleting due to NoExecute taint';
    await evict(world, pod, 'DeletionByTaintManager', message);
    const text = `Marking for deletion Pod ${namespace}/${name}`;
    const note = { type: 'Normal', reason: 'TaintManagerEviction', message: text } as const;
    world.recorder.record({ about: pod, ...note, component: 'taint-eviction-controller' });
  },
};

function noExecute(node: KubeObject): Taint[] {
  return ((node.spec?.taints ?? []) as Taint[]).filter(({ effect }) => effect === 'NoExecute');
}

/** Milliseconds the pod may stay; 0: go now; undefined: for ever. */
function toleration(world: World, pod: KubeObject, taints: Taint[]): number | undefined {
  const since = world.scratch(SINCE, () => new Map<string, number>());
  const key = pod.metadata.uid as string;
  if (!taints.length) {
    since.delete(key);
    return undefined;
  }
  let seconds: number | undefined;
  for (const taint of taints) {
    const fitting = (pod.spec.tolerations ?? []).filter((t: object) => toleratesTaint(t, taint));
    if (!fitting.length) return 0;
    for (const { tolerationSeconds } of fitting) {
      if (tolerationSeconds !== undefined)
        seconds = Math.min(seconds ?? tolerationSeconds, Math.max(0, tolerationSeconds));
    }
  }
  if (seconds === undefined) return undefined;
  // Taints that people set carry no time; then it counts from when it was first seen.
  const added = Math.max(...taints.map(({ timeAdded }) => Date.parse(timeAdded ?? '') || 0));
  const from = added || (since.get(key) ?? world.now);
  if (!added) since.set(key, from);
  const wait = from + seconds * 1000 - world.now;
  if (wait <= 0) since.delete(key);
  return Math.max(0, wait);
}

export const podGc: Controller = {
  name: 'pod-garbage-collector',
  on: {
    [NODES]: function* ({ current, previous }, world) {
      if (!current && previous) for (const pod of world.cache.podsOn(previous.key.name)) yield keyOf(pod.metadata);
    },
    [PODS]: function* ({ current }, world) {
      const node = current?.object().spec.nodeName;
      if (current && node && !world.cache.get(NODES, '', node)) yield keyOf(current.key);
    },
  },
  async reconcile(world, namespace, name, again) {
    const pod = world.cache.get(PODS, namespace, name);
    if (!pod?.spec.nodeName || world.cache.get(NODES, '', pod.spec.nodeName)) return;
    const waits = !pod.status?.startTime && !isDeleting(pod);
    const fresh = waits ? left(world, '', pod.metadata.creationTimestamp ?? undefined, QUARANTINE_MS) : 0;
    if (fresh > 0) return again(fresh);
    const status = isFinished(pod) ? pod.status : { ...pod.status, phase: 'Failed' };
    const message = 'PodGC: node no longer exists';
    await evict(world, { ...pod, status }, 'DeletionByPodGC', message, pod);
  },
};

async function evict(world: World, wanted: KubeObject, reason: string, message: string, pod = wanted): Promise<void> {
  const condition = { type: 'DisruptionTarget', status: 'True', reason, message };
  const conditions = withCondition(wanted.status?.conditions, condition, world.timestamp);
  const marked = await world.updateStatus(PODS, pod, { ...wanted.status, conditions });
  await world.remove(PODS, marked, reason === 'DeletionByPodGC' ? { gracePeriodSeconds: 0 } : {});
}
