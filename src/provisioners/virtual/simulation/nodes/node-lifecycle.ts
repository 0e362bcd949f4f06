/**
 * Nodes come up, are given a range of addresses, and carry the taints that their state calls for. No heartbeat is
 * written: a simulated node is what its conditions say, until someone breaks it (`fault.ts`) or changes them by hand.
 */
import type { KubeObject } from '../../../../api/object.ts';
import { equal } from '../../../../apiserver/json.ts';
import { type Controller, itself } from '../controller.ts';
import { conditionOf, isDeleting, NODES, PODS, type PodCondition } from '../pod.ts';
import type { World } from '../world.ts';
import { FAULT_WORDS, faulted } from './fault.ts';
import { blockOf, isNodeReady, isSimulated, nodeStatus, podCidr } from './simulated-node.ts';

interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

const HANDED = Symbol('address ranges handed out');
const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
/** Conditions that keep new pods away while they are true. */
const PRESSURES: Record<string, string> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
};
const OURS = new Set([NOT_READY, UNREACHABLE, 'node.kubernetes.io/unschedulable', ...Object.values(PRESSURES)]);

export const nodeLifecycle: Controller = {
  name: 'node-lifecycle-controller',
  on: { [NODES]: itself },
  async reconcile(world, _namespace, name) {
    let node = world.cache.get(NODES, '', name);
    if (!node || isDeleting(node)) return;
    if (isSimulated(node)) {
      const known = blockOf(node.spec?.podCIDR);
      const isNew = !node.spec?.podCIDR || !conditionOf(node, 'Ready');
      const block = known < 0 && isNew ? nextBlock(world) : known;
      if (!node.spec?.podCIDR) {
        node = await world.update(NODES, node, (draft) => {
          draft.spec = { ...draft.spec, podCIDR: podCidr(block), podCIDRs: [podCidr(block)] };
        });
      }
      if (!conditionOf(node, 'Ready')) {
        node = await world.updateStatus(NODES, node, nodeStatus(node, block, world.timestamp), 'kubelet');
        say(world, node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
      }
      node = await fail(world, node);
    }
    const taints = wantedTaints(node, world.timestamp);
    if (!equal(taints, node.spec?.taints ?? [])) {
      node = await world.update(NODES, node, (draft) => {
        draft.spec = { ...draft.spec, taints };
        if (!taints.length) delete draft.spec.taints;
      });
    }
    if (!isNodeReady(node)) await markPods(world, node);
  },
};

async function fail(world: World, node: KubeObject): Promise<KubeObject> {
  const { conditions, changed, unknown } = faulted(node, world.timestamp);
  const { name } = node.metadata;
  if (unknown.length) {
    const message = `${unknown.join(', ')}: no such fault; there are ${FAULT_WORDS}`;
    world.recorder.record({
      about: node,
      type: 'Warning',
      reason: 'UnknownFault',
      message,
      component: 'node-controller',
    });
  }
  if (!changed) return node;
  const was = isNodeReady(node);
  const failed = await world.updateStatus(NODES, node, { ...node.status, conditions }, 'kubelet');
  if (was !== isNodeReady(failed)) {
    const state = was ? 'NodeNotReady' : 'NodeReady';
    say(world, failed, state, `Node ${name} status is now: ${state}`);
  }
  return failed;
}

/** Above all that nodes have, and above those that were handed out but are not written yet. */
function nextBlock(world: World): number {
  const handed = world.scratch(HANDED, () => ({ last: -1 }));
  for (const node of world.cache.list(NODES)) handed.last = Math.max(handed.last, blockOf(node.spec?.podCIDR));
  handed.last += 1;
  return handed.last;
}

function wantedTaints(node: KubeObject, timeAdded: string): Taint[] {
  const known: Taint[] = node.spec?.taints ?? [];
  const wanted = known.filter((taint) => !OURS.has(taint.key));
  const add = (key: string, effect: string) => {
    const same = known.find((taint) => taint.key === key && taint.effect === effect);
    wanted.push(same ?? { key, effect, ...(effect === 'NoExecute' ? { timeAdded } : {}) });
  };
  const ready = conditionOf(node, 'Ready')?.status;
  if (ready === undefined || ready === 'False') add(NOT_READY, 'NoSchedule');
  if (ready === 'False') add(NOT_READY, 'NoExecute');
  if (ready === 'Unknown') for (const effect of ['NoSchedule', 'NoExecute']) add(UNREACHABLE, effect);
  for (const [type, key] of Object.entries(PRESSURES)) {
    if (conditionOf(node, type)?.status === 'True') add(key, 'NoSchedule');
  }
  if (node.spec?.unschedulable) add('node.kubernetes.io/unschedulable', 'NoSchedule');
  // Order alone is no reason to write.
  return wanted.length === known.length && wanted.every((taint) => known.includes(taint)) ? known : wanted;
}

/** Pods of a node that is not ready serve nobody. */
async function markPods(world: World, node: KubeObject): Promise<void> {
  if (!conditionOf(node, 'Ready')) return;
  for (const pod of world.cache.podsOn(node.metadata.name ?? '')) {
    if (conditionOf(pod, 'Ready')?.status !== 'True') continue;
    const conditions = pod.status.conditions.map((c: PodCondition) =>
      c.type === 'Ready' ? { ...c, status: 'False', lastTransitionTime: world.timestamp } : c,
    );
    await world.updateStatus(PODS, pod, { ...pod.status, conditions });
    const message = 'Node is not ready';
    const note = { type: 'Warning', reason: 'NodeNotReady', message, component: 'node-controller' } as const;
    world.recorder.record({ about: pod, ...note });
  }
}

function say(world: World, about: KubeObject, reason: string, message: string): void {
  world.recorder.record({ about, type: 'Normal', reason, message, component: 'node-controller' });
}
