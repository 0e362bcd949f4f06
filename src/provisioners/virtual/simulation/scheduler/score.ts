/** Which of the possible nodes is best: the emptiest, with the wishes of the pod on top. */
import type { KubeObject } from '../../../../api/object.ts';
import { preference, tolerates } from './node-affinity.ts';
import { affinityScore, type NamespaceLabels, spread } from './pod-affinity.ts';
import { scoringRequests } from './requests.ts';
import type { NodeView } from './snapshot.ts';

export function best(
  pod: KubeObject,
  views: NodeView[],
  all: NodeView[],
  labelsOf: NamespaceLabels,
): NodeView | undefined {
  if (views.length < 2) return views[0];
  const owner = pod.metadata.ownerReferences?.find((r) => r.controller)?.uid;
  const parts: [weight: number, raw: number[]][] = [
    [1, views.map((view) => emptiness(pod, view))],
    [2, normalized(views.map((view) => preference(pod, view.node)))],
    [2, normalized(views.map((view) => affinityScore(pod, view, all, labelsOf)))],
    [3, inverted(views.map((view) => avoided(pod, view)))],
    [2, inverted(views.map((view) => siblings(view, owner) + soft(pod, view, all)))],
  ];
  let found: NodeView | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [index, view] of views.entries()) {
    const score = parts.reduce((sum, [weight, raw]) => sum + weight * (raw[index] ?? 0), 0);
    if (score > highest || (score === highest && found && view.pods.size < found.pods.size)) {
      found = view;
      highest = score;
    }
  }
  return found;
}

/** Least allocated: the free part of cpu and memory after the pod, out of 100. */
function emptiness(pod: KubeObject, view: NodeView): number {
  const wanted = scoringRequests(pod);
  const free = (name: 'cpu' | 'memory') => {
    const total = view.allocatable[name] ?? 0;
    return total > 0 ? Math.max(0, (total - view.load[name] - wanted[name]) / total) : 0;
  };
  return ((free('cpu') + free('memory')) / 2) * 100;
}

/** Taints that ask, but do not force, pods to stay away. */
function avoided(pod: KubeObject, { node }: NodeView): number {
  const taints: { effect: string; key: string }[] = node.spec?.taints ?? [];
  return taints.filter((t) => t.effect === 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, t)).length;
}

function siblings(view: NodeView, owner: string | undefined): number {
  if (!owner) return 0;
  let count = 0;
  for (const { pod } of view.pods.values()) if (pod.metadata.ownerReferences?.some((r) => r.uid === owner)) count += 1;
  return count;
}

function soft(pod: KubeObject, view: NodeView, all: NodeView[]): number {
  let count = 0;
  for (const constraint of pod.spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== 'ScheduleAnyway') continue;
    count += spread(pod, constraint, all).get(view.node.metadata.labels?.[constraint.topologyKey] ?? '') ?? 0;
  }
  return count;
}

function normalized(raw: number[]): number[] {
  const [low, high] = [Math.min(...raw), Math.max(...raw)];
  return raw.map((value) => (high === low ? 0 : ((value - low) / (high - low)) * 100));
}

function inverted(raw: number[]): number[] {
  return normalized(raw.map((value) => -value));
}
