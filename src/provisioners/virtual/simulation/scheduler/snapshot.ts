/** The nodes as the scheduler sees them in one round, with the pods it has just placed already on them. */
import type { KubeObject } from '../../../../api/object.ts';
import { isDeleting, isFinished, NODES } from '../pod.ts';
import type { World } from '../world.ts';
import { type Amounts, allocatableOf, requestsOf, scoringRequests } from './requests.ts';

export interface PlacedPod {
  pod: KubeObject;
  requests: Amounts;
}

export class NodeView {
  readonly node: KubeObject;
  readonly pods = new Map<string, PlacedPod>();
  /** Those that keep others away; few, so nobody has to look at all pods for them. */
  readonly jealous = new Map<string, KubeObject>();
  readonly allocatable: Amounts;
  requested: Amounts = {};
  /** With something for pods that ask for nothing. */
  load = { cpu: 0, memory: 0 };

  constructor(node: KubeObject) {
    this.node = node;
    this.allocatable = allocatableOf(node);
  }

  get name(): string {
    return this.node.metadata.name ?? '';
  }

  add(pod: KubeObject): void {
    const requests = requestsOf(pod);
    this.pods.set(pod.metadata.uid as string, { pod, requests });
    if (pod.spec.affinity?.podAntiAffinity) this.jealous.set(pod.metadata.uid as string, pod);
    this.#count(pod, requests, 1);
  }

  remove(pod: KubeObject): void {
    const placed = this.pods.get(pod.metadata.uid as string);
    if (!placed) return;
    this.pods.delete(pod.metadata.uid as string);
    this.jealous.delete(pod.metadata.uid as string);
    this.#count(pod, placed.requests, -1);
  }

  #count(pod: KubeObject, requests: Amounts, sign: 1 | -1): void {
    for (const [name, amount] of Object.entries(requests)) {
      this.requested[name] = (this.requested[name] ?? 0) + sign * amount;
    }
    const { cpu, memory } = scoringRequests(pod);
    this.load.cpu += sign * cpu;
    this.load.memory += sign * memory;
  }
}

export function takeSnapshot(world: World): NodeView[] {
  return world.cache
    .list(NODES)
    .filter((node) => !isDeleting(node))
    .map((node) => {
      const view = new NodeView(node);
      for (const pod of world.cache.podsOn(view.name)) if (!isFinished(pod)) view.add(pod);
      return view;
    });
}
