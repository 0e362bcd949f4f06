/** PodDisruptionBudgets: how many of the covered pods may be disturbed right now. `pods/eviction` spends it. */
import { matchesLabels, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Controller, itself, keyOf } from './controller.ts';
import { isActive, isDeleting, isReady, PODS, withCondition } from './pod.ts';
import type { World } from './world.ts';

const BUDGETS = 'policy/poddisruptionbudgets';
/** An eviction that was allowed but never carried out is forgotten after this long. */
const DISRUPTION_MS = 120_000;

export const disruption: Controller = {
  name: 'disruption-controller',
  on: {
    [BUDGETS]: itself,
    [PODS]: function* ({ current, previous }, world) {
      const namespace = (current ?? previous)?.key.namespace ?? '';
      if (world.cache.count(BUDGETS, namespace) === 0) return;
      for (const budget of world.cache.list(BUDGETS, namespace)) {
        const selector = selectorFromObject(budget.spec?.selector);
        const labels = [current, previous].map((stored) => stored?.object().metadata.labels);
        if (selector && labels.some((set) => set && matchesLabels(selector, set))) yield keyOf(budget.metadata);
      }
    },
    // Their sizes are what percentages are counted from.
    'apps/deployments': budgetsIn,
    'apps/replicasets': budgetsIn,
    'apps/statefulsets': budgetsIn,
  },
  async reconcile(world, namespace, name, again) {
    const budget = world.cache.get(BUDGETS, namespace, name);
    if (!budget || isDeleting(budget)) return;
    const selector = selectorFromObject(budget.spec?.selector);
    const pods = selector
      ? world.cache.list(PODS, namespace).filter((pod) => isActive(pod) && matchesLabels(selector, pod.metadata.labels))
      : [];
    const disrupted = stillDisrupted(world, budget, namespace);
    const { expectedPods, desiredHealthy } = wanted(world, budget, pods);
    const currentHealthy = pods.filter((pod) => isReady(pod) && !disrupted.pods[pod.metadata.name as string]).length;
    const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
    const enough = disruptionsAllowed > 0;
    const condition = {
      type: 'DisruptionAllowed',
      status: enough ? 'True' : 'False',
      reason: enough ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration: budget.metadata.generation,
    };
    await world.updateStatus(BUDGETS, budget, {
      observedGeneration: budget.metadata.generation,
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      ...(Object.keys(disrupted.pods).length ? { disruptedPods: disrupted.pods } : {}),
      conditions: withCondition(budget.status?.conditions, condition, world.timestamp),
    });
    if (disrupted.waitMs !== undefined) again(disrupted.waitMs);
  },
};

function* budgetsIn(
  { current, previous }: { current?: { key: { namespace: string } }; previous?: { key: { namespace: string } } },
  world: World,
) {
  const namespace = (current ?? previous)?.key.namespace ?? '';
  if (world.cache.count(BUDGETS, namespace) === 0) return;
  for (const budget of world.cache.list(BUDGETS, namespace)) yield keyOf(budget.metadata);
}

function stillDisrupted(world: World, budget: KubeObject, namespace: string) {
  const pods: Record<string, string> = {};
  let waitMs: number | undefined;
  for (const [name, time] of Object.entries((budget.status?.disruptedPods ?? {}) as Record<string, string>)) {
    const pod = world.cache.get(PODS, namespace, name);
    const left = Date.parse(time) + DISRUPTION_MS - world.now;
    if (!pod || isDeleting(pod) || left <= 0) continue;
    pods[name] = time;
    waitMs = Math.min(waitMs ?? left, left);
  }
  return { pods, waitMs };
}

function wanted(world: World, { spec }: KubeObject, pods: KubeObject[]) {
  const { minAvailable, maxUnavailable } = spec;
  const part = (value: string, of: number) => Math.ceil((Number.parseInt(value, 10) / 100) * of);
  if (maxUnavailable !== undefined) {
    const expectedPods = expected(world, pods);
    const most = typeof maxUnavailable === 'string' ? part(maxUnavailable, expectedPods) : maxUnavailable;
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - most) };
  }
  if (typeof minAvailable === 'string') {
    const expectedPods = expected(world, pods);
    return { expectedPods, desiredHealthy: part(minAvailable, expectedPods) };
  }
  return { expectedPods: pods.length, desiredHealthy: minAvailable ?? 0 };
}

/** The sizes of the controllers of the pods, each once. */
function expected(world: World, pods: KubeObject[]): number {
  const sizes = new Map<string, number>();
  let lonely = 0;
  for (const pod of pods) {
    const owner = scaleOwner(world, pod);
    if (owner) sizes.set(owner.metadata.uid as string, owner.spec?.replicas ?? 1);
    else lonely += 1;
  }
  let total = lonely;
  for (const size of sizes.values()) total += size;
  return total;
}

const PLURALS: Record<string, string> = {
  ReplicaSet: 'apps/replicasets',
  Deployment: 'apps/deployments',
  StatefulSet: 'apps/statefulsets',
  ReplicationController: '/replicationcontrollers',
};

function scaleOwner(world: World, object: KubeObject): KubeObject | undefined {
  const reference = object.metadata.ownerReferences?.find((r) => r.controller);
  const storage = reference && PLURALS[reference.kind];
  const owner = storage ? world.cache.get(storage, object.metadata.namespace ?? '', reference.name) : undefined;
  return owner?.kind === 'ReplicaSet' ? (scaleOwner(world, owner) ?? owner) : owner;
}
