/** Rules between pods: affinity, anti-affinity in both directions, and even spreading over topologies. */
import { matchesLabels, selectorFromObject } from '../../../../api/label-selector.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { isDeleting } from '../pod.ts';
import { matchesNode, untolerated } from './node-affinity.ts';
import type { NodeView } from './snapshot.ts';

// biome-ignore lint/suspicious/noExplicitAny: parts of pod specs, checked by the server's schema
type Any = any;

export interface AffinityProblem {
  reason: string;
  /** Removing other pods would not help. */
  final: boolean;
}

/** Namespaces by labels are looked up through this. */
export type NamespaceLabels = (namespace: string) => Record<string, string>;

function covers(term: Any, owner: KubeObject, other: KubeObject, labelsOf: NamespaceLabels): boolean {
  const selector = selectorFromObject(term.labelSelector);
  const place = other.metadata.namespace ?? '';
  const named: string[] = term.namespaces ?? [];
  const bySelector = term.namespaceSelector ? selectorFromObject(term.namespaceSelector) : undefined;
  const inside =
    named.includes(place) ||
    (bySelector && matchesLabels(bySelector, labelsOf(place))) ||
    (!named.length && !term.namespaceSelector && place === owner.metadata.namespace);
  return Boolean(inside) && selector !== undefined && matchesLabels(selector, other.metadata.labels);
}

const required = (pod: KubeObject, kind: 'podAffinity' | 'podAntiAffinity'): Any[] =>
  pod.spec.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

function topology(view: NodeView, key: string): string | undefined {
  return view.node.metadata.labels?.[key];
}

export function affinityProblem(
  pod: KubeObject,
  view: NodeView,
  all: NodeView[],
  labelsOf: NamespaceLabels,
): AffinityProblem | undefined {
  const affinity = required(pod, 'podAffinity');
  if (affinity.length && !affinity.every((term) => near(term, pod, view, all, labelsOf))) {
    // The first of a group that wants to be together has nobody to join.
    const first =
      affinity.every((term) => covers(term, pod, pod, labelsOf) && topology(view, term.topologyKey) !== undefined) &&
      !all.some((v) =>
        [...v.pods.values()].some(({ pod: other }) => affinity.every((t) => covers(t, pod, other, labelsOf))),
      );
    if (!first) return { reason: "node(s) didn't match pod affinity rules", final: true };
  }
  if (required(pod, 'podAntiAffinity').some((term) => near(term, pod, view, all, labelsOf))) {
    return { reason: "node(s) didn't match pod anti-affinity rules", final: false };
  }
  for (const other of all) {
    for (const existing of other.jealous.values()) {
      for (const term of required(existing, 'podAntiAffinity')) {
        const place = topology(other, term.topologyKey);
        if (place === undefined || place !== topology(view, term.topologyKey)) continue;
        if (covers(term, existing, pod, labelsOf)) {
          return { reason: "node(s) didn't satisfy existing pods anti-affinity rules", final: false };
        }
      }
    }
  }
  return undefined;
}

/** A pod the term speaks of runs in the same topology as this node. */
function near(term: Any, pod: KubeObject, view: NodeView, all: NodeView[], labelsOf: NamespaceLabels): boolean {
  const place = topology(view, term.topologyKey);
  if (place === undefined) return false;
  return all.some(
    (other) =>
      topology(other, term.topologyKey) === place &&
      [...other.pods.values()].some(({ pod: placed }) => covers(term, pod, placed, labelsOf)),
  );
}

/** Weights of preferred terms, for and against. */
export function affinityScore(pod: KubeObject, view: NodeView, all: NodeView[], labelsOf: NamespaceLabels): number {
  let score = 0;
  for (const [kind, sign] of [['podAffinity', 1] as const, ['podAntiAffinity', -1] as const]) {
    for (const { weight, podAffinityTerm } of pod.spec.affinity?.[kind]
      ?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (near(podAffinityTerm, pod, view, all, labelsOf)) score += sign * weight;
    }
  }
  return score;
}

export function spreadProblem(pod: KubeObject, view: NodeView, all: NodeView[]): AffinityProblem | undefined {
  for (const constraint of (pod.spec.topologySpreadConstraints ?? []) as Any[]) {
    if (constraint.whenUnsatisfiable === 'ScheduleAnyway') continue;
    const place = topology(view, constraint.topologyKey);
    if (place === undefined) {
      return { reason: "node(s) didn't match pod topology spread constraints (missing required label)", final: true };
    }
    const counts = spread(pod, constraint, all);
    const domains = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values());
    const itself = selects(constraint, pod, pod) ? 1 : 0;
    if ((counts.get(place) ?? 0) + itself - domains > constraint.maxSkew) {
      return { reason: "node(s) didn't match pod topology spread constraints", final: false };
    }
  }
  return undefined;
}

/** Pods per topology, of the nodes the pod could be on. */
export function spread(pod: KubeObject, constraint: Any, all: NodeView[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const view of all) {
    const place = topology(view, constraint.topologyKey);
    if (place === undefined) continue;
    if (constraint.nodeAffinityPolicy !== 'Ignore' && !matchesNode(pod, view.node)) continue;
    if (constraint.nodeTaintsPolicy === 'Honor' && untolerated(pod, view.node, ['NoSchedule', 'NoExecute'])) continue;
    let count = counts.get(place) ?? 0;
    for (const { pod: other } of view.pods.values()) if (selects(constraint, pod, other)) count += 1;
    counts.set(place, count);
  }
  return counts;
}

function selects(constraint: Any, pod: KubeObject, other: KubeObject): boolean {
  if (other.metadata.namespace !== pod.metadata.namespace || isDeleting(other)) return false;
  const selector = selectorFromObject(constraint.labelSelector);
  if (!selector || !matchesLabels(selector, other.metadata.labels)) return false;
  const keys: string[] = constraint.matchLabelKeys ?? [];
  return keys.every((key) => other.metadata.labels?.[key] === pod.metadata.labels?.[key]);
}
