/** nodeSelector, node affinity, taints and tolerations. */
import type { KubeObject } from '../../../../api/object.ts';

// biome-ignore lint/suspicious/noExplicitAny: parts of pod specs, checked by the server's schema
type Any = any;

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export function matchesNode(pod: KubeObject, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || (required.nodeSelectorTerms ?? []).some((term: Any) => matchesTerm(term, node));
}

/** How much a node is preferred: the sum of the weights of the terms it meets. */
export function preference(pod: KubeObject, node: KubeObject): number {
  let sum = 0;
  for (const { weight, preference: term } of pod.spec.affinity?.nodeAffinity
    ?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (matchesTerm(term, node)) sum += weight;
  }
  return sum;
}

/** A term without requirements matches nothing. */
export function matchesTerm(term: Any, node: KubeObject): boolean {
  const { matchExpressions = [], matchFields = [] } = term ?? {};
  if (!matchExpressions.length && !matchFields.length) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((r: Any) => meets(r, labels[r.key])) &&
    matchFields.every((r: Any) => meets(r, r.key === 'metadata.name' ? node.metadata.name : undefined))
  );
}

function meets({ operator, values = [] }: { operator: string; values?: string[] }, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

export function tolerates(tolerations: Any[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some((toleration) => toleratesTaint(toleration, taint));
}

export function toleratesTaint(toleration: Any, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if ((toleration.operator ?? 'Equal') === 'Exists') return true;
  return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
}

/** The first taint with one of the effects that the pod does not tolerate. */
export function untolerated(pod: KubeObject, node: KubeObject, effects: string[]): Taint | undefined {
  return ((node.spec?.taints ?? []) as Taint[]).find(
    (taint) => effects.includes(taint.effect) && !tolerates(pod.spec.tolerations, taint),
  );
}
