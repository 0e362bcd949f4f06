/** What pods ask for and nodes have, as plain numbers. */
import type { KubeObject } from '../../../../api/object.ts';
import { podResources, readResources } from '../../../../apiserver/builtins/pod/resources.ts';
import type { Quantity } from '../../../../apiserver/builtins/quantity.ts';

export type Amounts = Record<string, number>;

/** By the object itself: a changed pod is another object. */
const known = new WeakMap<KubeObject, Amounts>();

export function requestsOf(pod: KubeObject): Amounts {
  let found = known.get(pod);
  if (!found) {
    found = numbers(podResources(pod.spec, 'requests'));
    known.set(pod, found);
  }
  return found;
}

const capacities = new WeakMap<KubeObject, Amounts>();

export function allocatableOf(node: KubeObject): Amounts {
  let found = capacities.get(node);
  if (!found) {
    found = numbers(readResources(node.status?.allocatable));
    capacities.set(node, found);
  }
  return found;
}

function numbers(resources: Record<string, Quantity>): Amounts {
  return Object.fromEntries(Object.entries(resources).map(([name, { nano }]) => [name, Number(nano) / 1e9]));
}

/** For scoring, a pod that asks for nothing still takes something. */
export function scoringRequests(pod: KubeObject): { cpu: number; memory: number } {
  const { cpu, memory } = requestsOf(pod);
  return { cpu: cpu || 0.1, memory: memory || 200 * 1024 * 1024 };
}
