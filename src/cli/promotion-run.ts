/** A promotion between two clusters that Rookery knows, and how its outcome is told. */
import { kubeconfigConnection, type ObjectStore, RemoteStore } from '../kube/index.ts';
import { carryOut, type Item, type Plan, type PromotionReport, planPromotion } from '../promotion/promote.ts';
import { kubeconfigOf, type Served } from './cluster-lookup.ts';
import { columns } from './output.ts';

/** Opens a cluster by the kubeconfig that Rookery has for it. */
export async function withCluster<R>(
  served: Served,
  namespace: string,
  name: string,
  action: (cluster: ObjectStore) => Promise<R>,
): Promise<R> {
  // This process is the user's own: it reaches what they reach.
  const connection = await kubeconfigConnection(await kubeconfigOf(served, namespace, name), 'this machine');
  const opened = new RemoteStore({ connection });
  try {
    return await action(opened);
  } finally {
    await opened.close();
  }
}

export async function planFrom(
  served: Served,
  namespace: string,
  name: string,
  only?: string[],
  signal?: AbortSignal,
): Promise<Plan> {
  return withCluster(served, namespace, name, (source) => planPromotion(source, only, signal));
}

export async function carryTo(
  served: Served,
  namespace: string,
  name: string,
  plan: Plan,
  signal?: AbortSignal,
): Promise<PromotionReport> {
  return withCluster(served, namespace, name, (target) => carryOut(plan, target, { signal }));
}

export function planText(plan: Plan, from: string, to: string): string {
  return [
    `${plan.steps.length} objects would go from ${from} to ${to}\n`,
    itemsText(plan.steps.map((step) => step.item)),
    plan.left.length > 0 ? `\nstay behind:\n${itemsText(plan.left)}` : '',
  ].join('');
}

export function reportText({ moved, left, failed }: PromotionReport, from: string, to: string): string {
  const noted = moved.filter((item) => item.note);
  return [
    `${moved.length} objects went from ${from} to ${to}\n`,
    noted.length > 0 ? `\nto know:\n${itemsText(noted)}` : '',
    left.length > 0 ? `\nstay behind:\n${itemsText(left)}` : '',
    failed.length > 0 ? `\ncould not go:\n${itemsText(failed)}` : '',
  ].join('');
}

function itemsText(items: readonly Item[]): string {
  if (items.length === 0) return '';
  return columns(
    ['KIND', 'NAMESPACE', 'NAME', 'NOTE'],
    items.map(({ kind, namespace = '', name, note = '' }) => [kind, namespace, name, note.replaceAll('\n', ' ')]),
  );
}
