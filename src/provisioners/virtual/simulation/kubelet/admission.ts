/** Why a kubelet does not take a pod: somebody named the node and asked no scheduler whether there is room. */
import type { KubeObject } from '../../../../api/object.ts';
import { conditionOf, isFinished } from '../pod.ts';
import { insufficient, portConflict } from '../scheduler/filters.ts';
import { NodeView } from '../scheduler/snapshot.ts';
import type { World } from '../world.ts';

export interface Rejection {
  reason: string;
  message: string;
}

export function rejection(world: World, pod: KubeObject, node: KubeObject): Rejection | undefined {
  // What a scheduler has placed fits.
  if (conditionOf(pod, 'PodScheduled')?.status === 'True') return undefined;
  const view = new NodeView(node);
  for (const other of world.cache.podsOn(view.name)) {
    if (other.metadata.uid !== pod.metadata.uid && other.status?.startTime && !isFinished(other)) view.add(other);
  }
  if (portConflict(pod, view)) {
    const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    return { reason: 'NodePorts', message: `Pod was rejected: ${message}` };
  }
  const [lacking] = insufficient(pod, view).reasons;
  if (!lacking) return undefined;
  const resource = lacking === 'Too many pods' ? 'pods' : lacking.replace('Insufficient ', '');
  return {
    reason: `OutOf${resource}`,
    message: `Pod was rejected: Node didn't have enough resource: ${resource}`,
  };
}
