/**
 * ReplicaSets and ReplicationControllers: as many pods as wanted, no more, no less. They differ in their selector's
 * form only.
 */

import { matchesLabels, selectorFromObject } from '../../../../api/label-selector.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { hasReason } from '../../../../apiserver/loops/loop.ts';
import { type Controller, itself } from '../controller.ts';
import { isActive, isDeleting, isReady, PODS, type PodCondition, untilAvailable } from '../pod.ts';
import type { World } from '../world.ts';
import { slowStart, together } from './batches.ts';
import { claimants, claimPods, selectorOf } from './claim.ts';
import { podFrom } from './pod-template.ts';
import { byWorth } from './victims.ts';

/** Of one sync; the next event brings the next. */
const BURST = 500;

interface Sort {
  storage: string;
  kind: string;
  component: string;
}

export const replicaSets = replicas({
  storage: 'apps/replicasets',
  kind: 'ReplicaSet',
  component: 'replicaset-controller',
});
export const replicationControllers = replicas({
  storage: '/replicationcontrollers',
  kind: 'ReplicationController',
  component: 'replication-controller',
});

function replicas(sort: Sort): Controller {
  return {
    name: sort.component,
    on: { [sort.storage]: itself, [PODS]: claimants(sort.storage, sort.kind) },
    async reconcile(world, namespace, name, again) {
      const set = world.cache.get(sort.storage, namespace, name);
      const selector = set && selectorOf(set);
      if (!set || !selector) return;
      const claimed = await claimPods(world, set, selector);
      let failure: unknown;
      if (!isDeleting(set)) failure = await manage(world, sort, set, claimed.filter(isActive));
      // What was just made or removed is in the cache already.
      const pods = world.cache.podsOf(set.metadata.uid as string).filter(isActive);
      const newest = world.cache.get(sort.storage, namespace, name);
      if (!newest) return;
      const { status, waitMs } = statusOf(world, newest, pods, failure);
      await world.updateStatus(sort.storage, newest, status);
      if (failure) throw failure;
      if (waitMs !== undefined) again(waitMs);
    },
  };
}

/** Returns why it could not make what it should. */
async function manage(world: World, sort: Sort, set: KubeObject, active: KubeObject[]): Promise<unknown> {
  const missing = (set.spec.replicas ?? 1) - active.length;
  const say = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    world.recorder.record({ about: set, type, reason, message, component: sort.component });
  if (missing > 0) {
    const { error } = await slowStart(Math.min(missing, BURST), async () => {
      try {
        const name = { generateName: `${set.metadata.name}-` };
        const pod = await world.create(PODS, podFrom(set.spec.template, set, name));
        say('Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
      } catch (error) {
        // A namespace that goes away takes its workloads along.
        if (!isTerminating(error)) say('Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
        throw error;
      }
    });
    return isTerminating(error) ? undefined : error;
  }
  if (missing === 0) return undefined;
  const victims = byWorth(active).slice(0, Math.min(-missing, BURST));
  await together(victims, async (pod) => {
    await world.remove(PODS, pod);
    say('Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
  });
  return undefined;
}

function statusOf(world: World, set: KubeObject, pods: KubeObject[], failure: unknown) {
  const labels = selectorFromObject({ matchLabels: set.spec.template?.metadata?.labels }) ?? [];
  let fullyLabeledReplicas = 0;
  let readyReplicas = 0;
  let availableReplicas = 0;
  let waitMs: number | undefined;
  for (const pod of pods) {
    if (matchesLabels(labels, pod.metadata.labels)) fullyLabeledReplicas += 1;
    if (!isReady(pod)) continue;
    readyReplicas += 1;
    const wait = untilAvailable(pod, set.spec.minReadySeconds ?? 0, world.now) ?? 0;
    if (wait === 0) availableReplicas += 1;
    else waitMs = Math.min(waitMs ?? wait, wait);
  }
  const conditions = failureConditions(world, set, failure, pods.length);
  const status = {
    replicas: pods.length,
    ...(fullyLabeledReplicas ? { fullyLabeledReplicas } : {}),
    ...(readyReplicas ? { readyReplicas } : {}),
    ...(availableReplicas ? { availableReplicas } : {}),
    observedGeneration: set.metadata.generation,
    ...(conditions.length ? { conditions } : {}),
  };
  return { status, waitMs };
}

function failureConditions(world: World, set: KubeObject, failure: unknown, have: number): PodCondition[] {
  const others = (set.status?.conditions ?? []).filter((c: PodCondition) => c.type !== 'ReplicaFailure');
  if (!failure) return others;
  const known = set.status?.conditions?.find((c: PodCondition) => c.type === 'ReplicaFailure');
  const reason = have < (set.spec.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete';
  const lastTransitionTime = known?.reason === reason ? known.lastTransitionTime : world.timestamp;
  const message = known?.reason === reason ? known.message : messageOf(failure);
  return [...others, { type: 'ReplicaFailure', status: 'True', reason, message, lastTransitionTime }];
}

function isTerminating(error: unknown): boolean {
  return hasReason(error, 'Forbidden') && messageOf(error).includes('being terminated');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
