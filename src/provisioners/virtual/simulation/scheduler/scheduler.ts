/**
 * The scheduler: the most important pod first, each to the best node that can take it. A pod that fits nowhere is set
 * aside until something changes that could help it.
 */
import type { KubeObject } from '../../../../api/object.ts';
import { LOOPBACK } from '../../../../apiserver/auth/identity.ts';
import { bind } from '../../../../apiserver/handlers/binding.ts';
import { equal } from '../../../../apiserver/json.ts';
import { hasReason, turn, warn } from '../../../../apiserver/loops/loop.ts';
import type { Change, Controller } from '../controller.ts';
import { conditionOf, isDeleting, isFinished, NODES, PODS, withCondition } from '../pod.ts';
import type { World } from '../world.ts';
import { type Refusal, refusal } from './filters.ts';
import type { NamespaceLabels } from './pod-affinity.ts';
import { carryOut, findSacrifice, priorityOf } from './preemption.ts';
import { best } from './score.ts';
import { type NodeView, takeSnapshot } from './snapshot.ts';
import { volumeProblem } from './volumes.ts';

const COMPONENT = 'default-scheduler';
const MANAGER = 'kube-scheduler';
/** There is one scheduler, so there is one key. */
const ALL = ['/'];
/** Of one round; then others get their turn and the nodes are looked at anew. */
const ROUND = 200;
const SLICE_MS = 5;

/** Uids of pods that fit nowhere as things are. Losing it costs one more look. */
const PARKED = Symbol('parked');

export const scheduler: Controller = {
  name: COMPONENT,
  concurrency: 1,
  on: {
    [PODS]: (change, world) => {
      const waiting = isWaiting(change.current?.object());
      if (helps(change, world)) parkedOf(world).clear();
      else if (!waiting) return [];
      else if (specChanged(change)) parkedOf(world).delete(change.current?.object().metadata.uid as string);
      return world.cache.hasPodsOn('') ? ALL : [];
    },
    [NODES]: (change, world) => {
      if (!nodeChanged(change)) return [];
      parkedOf(world).clear();
      return world.cache.hasPodsOn('') ? ALL : [];
    },
    '/persistentvolumeclaims': (_change, world) => {
      if (!parkedOf(world).size) return [];
      parkedOf(world).clear();
      return ALL;
    },
    'policy/poddisruptionbudgets': () => [],
  },
  async reconcile(world, _namespace, _name, again) {
    const aside = parkedOf(world);
    const waiting = world.cache
      .podsOn('')
      .filter((pod) => isWaiting(pod) && !aside.has(pod.metadata.uid as string))
      .sort((a, b) => priorityOf(b) - priorityOf(a) || (age(a) < age(b) ? -1 : 1));
    if (!waiting.length) return;
    await round(world, waiting.slice(0, ROUND), aside);
    if (waiting.length > ROUND) again(0);
  },
};

async function round(world: World, pods: KubeObject[], aside: Set<string>): Promise<void> {
  const views = takeSnapshot(world);
  const labelsOf: NamespaceLabels = (namespace) =>
    world.context.store.get({ resource: '/namespaces', namespace: '', name: namespace })?.object().metadata.labels ??
    {};
  const bindings: Promise<void>[] = [];
  let nominated = nominees(world);
  let sliceEnd = performance.now() + SLICE_MS;
  for (const pod of pods) {
    const { chosen, refusals, problem } = choose(world, pod, views, nominated, labelsOf);
    if (chosen) {
      chosen.add(pod);
      bindings.push(place(world, pod, chosen));
    } else {
      aside.add(pod.metadata.uid as string);
      await explain(world, pod, views, refusals, labelsOf, problem);
      nominated = nominees(world);
    }
    if (performance.now() > sliceEnd) {
      await turn();
      sliceEnd = performance.now() + SLICE_MS;
    }
  }
  await Promise.all(bindings);
}

/** Pods for which room is being made. */
function nominees(world: World): KubeObject[] {
  return world.cache.podsOn('').filter((pod) => pod.status?.nominatedNodeName && isWaiting(pod));
}

function choose(world: World, pod: KubeObject, views: NodeView[], nominated: KubeObject[], labelsOf: NamespaceLabels) {
  const refusals = new Map<NodeView, Refusal>();
  const problem = volumeProblem(world, pod);
  if (problem) return { refusals, problem };
  // Room that was made for someone at least as important is taken.
  const guests = nominated.flatMap((guest) => {
    if (guest.metadata.uid === pod.metadata.uid || priorityOf(guest) < priorityOf(pod)) return [];
    const view = views.find(({ name }) => name === guest.status.nominatedNodeName);
    return view && !view.pods.has(guest.metadata.uid as string) ? [{ view, guest }] : [];
  });
  for (const { view, guest } of guests) view.add(guest);
  const possible = views.filter((view) => {
    const no = refusal(pod, view, views, labelsOf);
    if (no) refusals.set(view, no);
    return !no;
  });
  const wish = possible.find(({ name }) => name === pod.status?.nominatedNodeName);
  const chosen = wish ?? best(pod, possible, views, labelsOf);
  for (const { view, guest } of guests) view.remove(guest);
  return { chosen, refusals, problem: undefined };
}

async function place(world: World, pod: KubeObject, { name }: NodeView): Promise<void> {
  const { operations, clock } = world.context;
  const { namespace = '', name: podName = '' } = pod.metadata;
  const binding: KubeObject = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: podName, namespace },
    target: { kind: 'Node', name },
  };
  const options = { identity: LOOPBACK, fieldManager: MANAGER };
  try {
    await bind(operations, world.resource(PODS), namespace, podName, binding, options, clock.now());
    const message = `Successfully assigned ${namespace}/${podName} to ${name}`;
    world.recorder.record({ about: pod, type: 'Normal', reason: 'Scheduled', message, component: COMPONENT });
  } catch (error) {
    // Changed or deleted meanwhile: its event brings the pod back here if it still needs a node.
    if (!hasReason(error, 'Conflict', 'NotFound')) warn(world.context, `binding ${namespace}/${podName} failed`, error);
  }
}

async function explain(
  world: World,
  pod: KubeObject,
  views: NodeView[],
  refusals: Map<NodeView, Refusal>,
  labelsOf: NamespaceLabels,
  problem: string | undefined,
): Promise<void> {
  let nominatedNodeName: string | undefined;
  let message = 'no nodes available to schedule pods';
  if (views.length) {
    const reasons = problem ? [`${problem}`] : histogram([...refusals.values()].flatMap((r) => r.reasons));
    message = `0/${views.length} nodes are available: ${reasons.join(', ')}.`;
    const helpful = views.filter((view) => refusals.has(view) && !refusals.get(view)?.final);
    const sacrifice = problem ? undefined : preempt(world, pod, helpful, views, labelsOf);
    if (sacrifice) {
      nominatedNodeName = sacrifice.view.name;
      await carryOut(world, pod, sacrifice).catch(ignoreRace);
    } else if (pod.spec.preemptionPolicy === 'Never') {
      message += ' preemption: not eligible due to preemptionPolicy=Never.';
    } else if (!pod.status?.nominatedNodeName) {
      const texts = views.map((view) =>
        helpful.includes(view)
          ? 'No preemption victims found for incoming pod'
          : 'Preemption is not helpful for scheduling',
      );
      message += ` no new claims to deallocate, preemption: 0/${views.length} nodes are available: ${histogram(texts).join(', ')}.`;
    }
  }
  await report(world, pod, message, nominatedNodeName).catch(ignoreRace);
}

function preempt(world: World, pod: KubeObject, helpful: NodeView[], all: NodeView[], labelsOf: NamespaceLabels) {
  if (pod.spec.preemptionPolicy === 'Never') return undefined;
  const wish = all.find(({ name }) => name === pod.status?.nominatedNodeName);
  // Its victims are still on their way out.
  if (wish && [...wish.pods.values()].some(({ pod: p }) => isDeleting(p) && priorityOf(p) < priorityOf(pod)))
    return undefined;
  return findSacrifice(world, pod, helpful, all, labelsOf);
}

async function report(world: World, pod: KubeObject, message: string, nominatedNodeName?: string): Promise<void> {
  const current = world.cache.get(PODS, pod.metadata.namespace ?? '', pod.metadata.name ?? '');
  if (!current || current.metadata.uid !== pod.metadata.uid || current.spec.nodeName) return;
  const wanted = { type: 'PodScheduled', status: 'False', lastProbeTime: null, reason: 'Unschedulable', message };
  const conditions = withCondition(
    current.status?.conditions,
    { ...wanted, observedGeneration: current.metadata.generation },
    world.timestamp,
  );
  const status = { ...current.status, conditions, ...(nominatedNodeName ? { nominatedNodeName } : {}) };
  // Said again only when it is something new: a thousand pods that wait must not write a thousand events a second.
  if (conditionOf(current, 'PodScheduled')?.message === message && !nominatedNodeName) return;
  await world.updateStatus(PODS, current, status, MANAGER);
  world.recorder.record({ about: pod, type: 'Warning', reason: 'FailedScheduling', message, component: COMPONENT });
}

function histogram(reasons: string[]): string[] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
}

function ignoreRace(error: unknown): void {
  if (!hasReason(error, 'Conflict', 'NotFound')) throw error;
}

function isWaiting(pod: KubeObject | undefined): boolean {
  if (!pod || pod.spec.nodeName || isDeleting(pod) || isFinished(pod)) return false;
  return (pod.spec.schedulerName ?? COMPONENT) === COMPONENT && !pod.spec.schedulingGates?.length;
}

/** A pod that leaves, ends, or changes what it asks for may make room; a new neighbour may be waited for. */
function helps({ current, previous }: Change, world: World): boolean {
  const before = previous?.object();
  if (!current) return Boolean(before?.spec.nodeName);
  const now = current.object();
  if (!now.spec.nodeName) return false;
  if (before && isFinished(now) !== isFinished(before)) return true;
  // Only those set aside can be helped, and only by a neighbour they want.
  if (parkedOf(world).size === 0) return false;
  const moved = !before?.spec.nodeName || !equal(before.metadata.labels, now.metadata.labels);
  return moved && world.cache.podsOn('').some(({ spec }) => spec.affinity?.podAffinity);
}

function specChanged({ current, previous }: Change): boolean {
  if (!current || !previous) return true;
  const [now, before] = [current.object(), previous.object()];
  return !equal(now.spec, before.spec) || !equal(now.metadata.labels, before.metadata.labels);
}

function nodeChanged({ current, previous }: Change): boolean {
  if (!current || !previous) return true;
  const [now, before] = [current.object(), previous.object()];
  const ready = (node: KubeObject) => conditionOf(node, 'Ready')?.status;
  return (
    !equal(now.spec, before.spec) ||
    !equal(now.metadata.labels, before.metadata.labels) ||
    !equal(now.status?.allocatable, before.status?.allocatable) ||
    ready(now) !== ready(before)
  );
}

function age({ metadata }: KubeObject): string {
  return `${metadata.creationTimestamp}/${metadata.namespace}/${metadata.name}`;
}

function parkedOf(world: World): Set<string> {
  return world.scratch(PARKED, () => new Set<string>());
}
