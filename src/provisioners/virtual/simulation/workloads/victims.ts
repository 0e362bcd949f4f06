/** In which order pods go when there are too many (kube-controller-manager's ActivePodsWithRanks). */
import type { KubeObject } from '../../../../api/object.ts';
import { conditionOf, isReady } from '../pod.ts';

const COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES = ['Pending', 'Unknown', 'Running'];

/** The least worth keeping first. */
export function byWorth(pods: KubeObject[]): KubeObject[] {
  const perNode = new Map<string, number>();
  for (const { spec } of pods) if (spec.nodeName) perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1);
  const neighbours = (pod: KubeObject) => perNode.get(pod.spec.nodeName ?? '') ?? 0;
  return [...pods].sort(
    (a, b) =>
      Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)) ||
      PHASES.indexOf(a.status?.phase) - PHASES.indexOf(b.status?.phase) ||
      Number(isReady(a)) - Number(isReady(b)) ||
      cost(a) - cost(b) ||
      neighbours(b) - neighbours(a) ||
      later(readySince(a), readySince(b)) ||
      restarts(b) - restarts(a) ||
      later(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''),
  );
}

function cost({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[COST] ?? 0) || 0;
}

function readySince(pod: KubeObject): string {
  return isReady(pod) ? (conditionOf(pod, 'Ready')?.lastTransitionTime ?? '') : '';
}

function restarts({ status }: KubeObject): number {
  let most = 0;
  for (const container of status?.containerStatuses ?? []) most = Math.max(most, container.restartCount ?? 0);
  return most;
}

function later(a: string, b: string): number {
  return a === b ? 0 : a > b ? -1 : 1;
}
