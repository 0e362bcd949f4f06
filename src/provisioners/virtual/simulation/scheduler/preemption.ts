/** Room made for a more important pod: on which node, and at whose cost. */
import { matchesLabels, selectorFromObject } from '../../../../api/label-selector.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { isDeleting, PODS, withCondition } from '../pod.ts';
import type { World } from '../world.ts';
import { refusal } from './filters.ts';
import type { NamespaceLabels } from './pod-affinity.ts';
import type { NodeView } from './snapshot.ts';

export interface Sacrifice {
  view: NodeView;
  victims: KubeObject[];
  /** Victims that a disruption budget would rather keep. */
  protectedVictims: number;
}

export function priorityOf({ spec }: KubeObject): number {
  return spec?.priority ?? 0;
}

/** Undefined when no node could be freed. */
export function findSacrifice(
  world: World,
  pod: KubeObject,
  candidates: NodeView[],
  all: NodeView[],
  labelsOf: NamespaceLabels,
): Sacrifice | undefined {
  const found: Sacrifice[] = [];
  for (const view of candidates) {
    const victims = victimsOn(world, pod, view, all, labelsOf);
    if (victims) found.push({ view, ...victims });
  }
  const highest = ({ victims }: Sacrifice) => Math.max(...victims.map(priorityOf));
  return found.sort(
    (a, b) => a.protectedVictims - b.protectedVictims || highest(a) - highest(b) || a.victims.length - b.victims.length,
  )[0];
}

function victimsOn(world: World, pod: KubeObject, view: NodeView, all: NodeView[], labelsOf: NamespaceLabels) {
  const lower = [...view.pods.values()]
    .map((placed) => placed.pod)
    .filter((other) => priorityOf(other) < priorityOf(pod));
  if (!lower.length) return undefined;
  for (const other of lower) view.remove(other);
  const victims: KubeObject[] = [];
  let protectedVictims = 0;
  if (!refusal(pod, view, all, labelsOf)) {
    // The protected and the more important are given their place back first.
    const guarded = new Set(lower.filter((other) => isGuarded(world, other)));
    const order = lower.sort(
      (a, b) => Number(guarded.has(b)) - Number(guarded.has(a)) || priorityOf(b) - priorityOf(a),
    );
    for (const other of order) {
      view.add(other);
      if (!refusal(pod, view, all, labelsOf)) continue;
      view.remove(other);
      victims.push(other);
      if (guarded.has(other)) protectedVictims += 1;
    }
  }
  for (const other of victims) view.add(other);
  if (!victims.length) for (const other of lower) if (!view.pods.has(other.metadata.uid as string)) view.add(other);
  return victims.length ? { victims, protectedVictims } : undefined;
}

function isGuarded(world: World, pod: KubeObject): boolean {
  return world.cache.list('policy/poddisruptionbudgets', pod.metadata.namespace ?? '').some(({ spec, status }) => {
    const selector = selectorFromObject(spec?.selector);
    return selector && matchesLabels(selector, pod.metadata.labels) && (status?.disruptionsAllowed ?? 0) <= 0;
  });
}

export async function carryOut(world: World, preemptor: KubeObject, { view, victims }: Sacrifice): Promise<void> {
  for (const victim of victims) {
    if (isDeleting(victim)) continue;
    const marked = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
    };
    const conditions = withCondition(victim.status?.conditions, marked, world.timestamp);
    await world.updateStatus(PODS, victim, { ...victim.status, conditions }, 'kube-scheduler');
    await world.remove(PODS, victim);
    const message = `Preempted by pod ${preemptor.metadata.uid} on node ${view.name}`;
    const note = { type: 'Normal', reason: 'Preempted', message, component: 'default-scheduler' } as const;
    world.recorder.record({ about: victim, ...note });
  }
}
