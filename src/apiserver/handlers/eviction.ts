/** `pods/eviction`: a delete that every disruption budget covering the pod has to allow. */
import { matchesLabels, selectorFromObject } from '../../api/label-selector.ts';
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import { LOOPBACK } from '../auth/identity.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { Operations, WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { ApiError, tooManyRequests } from '../status.ts';

export async function evict(
  context: ClusterContext & { operations: Operations },
  pods: Resource,
  namespace: string,
  name: string,
  sent: KubeObject,
  options: WriteOptions,
): Promise<void> {
  const typed: KubeObject = { ...sent, apiVersion: 'policy/v1', kind: 'Eviction' };
  const operand = { operation: 'CREATE' as const, resource: pods, subresource: 'eviction', namespace, name };
  const eviction = await context.operations.admit({ ...operand, object: typed }, options);
  const pod = context.operations.get(pods, namespace, name);
  const { phase } = pod.status ?? {};
  const counts = phase !== 'Succeeded' && phase !== 'Failed' && phase !== 'Pending' && !pod.metadata.deletionTimestamp;
  if (counts) await spendBudget(context, namespace, pod, options.dryRun ?? false);
  await context.operations.delete(pods, namespace, name, eviction.deleteOptions ?? {}, {
    ...options,
    isInner: true,
  });
}

async function spendBudget(
  context: ClusterContext & { operations: Operations },
  namespace: string,
  pod: KubeObject,
  dryRun: boolean,
): Promise<void> {
  const budgets = context.registry.find('policy', 'v1', 'poddisruptionbudgets') as Resource;
  const covering = context.operations.listAll(budgets, namespace).filter((budget) => {
    const selector = selectorFromObject(budget.spec?.selector);
    return selector !== undefined && matchesLabels(selector, pod.metadata.labels);
  });
  if (covering.length > 1) {
    const text = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new ApiError(500, 'InternalError', text);
  }
  const budget = covering[0];
  if (!budget) return;
  const status = budget.status ?? {};
  const allowed = status.disruptionsAllowed ?? 0;
  if (allowed < 1 || (status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw refusal(budget);
  }
  const disruptedPods = { ...status.disruptedPods, [pod.metadata.name as string]: rfc3339(context.clock.now()) };
  // Carries the resource version it read: two evictions at once cannot spend the same disruption.
  const spent = { ...structuredClone(budget), status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods } };
  const options = { identity: LOOPBACK, fieldManager: 'eviction', subresource: 'status', dryRun };
  await context.operations.update(budgets, namespace, budget.metadata.name as string, spent, options);
}

function refusal(budget: KubeObject): ApiError {
  const { name } = budget.metadata;
  const status = budget.status ?? {};
  const processed = (status.observedGeneration ?? 0) >= (budget.metadata.generation ?? 0);
  const message = processed
    ? `The disruption budget ${name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`
    : `The disruption budget ${name} is still being processed by the server.`;
  const text = "Cannot evict pod as it would violate the pod's disruption budget.";
  return tooManyRequests(text, processed ? 0 : 10, [{ reason: 'DisruptionBudget', message }]);
}
