/** Fills ClusterRoles that have an aggregationRule with the rules of all ClusterRoles their selectors match. */
import { isDeepStrictEqual } from 'node:util';
import { LOOPBACK } from '../auth/identity.ts';
import type { PolicyRule } from '../auth/policy-rule.ts';
import { type LabelSelector, matchesLabels } from './label-selector.ts';
import { builtin, hasReason, type Loop, type LoopContext, pages, scan, warn } from './loop.ts';
import { WorkQueue } from './work-queue.ts';

const CLUSTER_ROLES = 'rbac.authorization.k8s.io/clusterroles';
const MANAGER = 'clusterrole-aggregation-controller';

export const clusterRoleAggregation: Loop = (context) => {
  const { store, clock } = context;
  /** Names of the roles that gather others. */
  const gathering = new Set<string>();
  const queue = new WorkQueue({
    clock,
    work: (name) => aggregate(context, name),
    onError: (name, error) => {
      if (!hasReason(error, 'Conflict')) warn(context, `aggregation of cluster role ${name} failed`, error);
    },
  });
  const note = (name: string, json: string): boolean => {
    const gathers = json.includes('"aggregationRule"');
    if (gathers) gathering.add(name);
    else gathering.delete(name);
    return gathers;
  };
  const stop = store.watch({ resource: CLUSTER_ROLES, afterRv: store.rv }, ({ type, current }) => {
    if (type === 'DELETED') gathering.delete(current.key.name);
    else note(current.key.name, current.json);
    // Who is affected is decided with the selectors at hand; there are few who gather.
    for (const name of gathering) queue.add(name);
  });
  const stopScan = scan(context, CLUSTER_ROLES, ({ key, json }) => {
    if (note(key.name, json)) queue.add(key.name);
  });
  return () => {
    stop();
    stopScan();
    queue.stop();
  };
};

async function aggregate(context: LoopContext, name: string): Promise<void> {
  const role = context.store.get({ resource: CLUSTER_ROLES, namespace: '', name })?.object();
  const selectors: LabelSelector[] = role?.aggregationRule?.clusterRoleSelectors ?? [];
  if (!role || !selectors.length) return;
  // By content: equal rules of several roles are taken once.
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectors) {
    for await (const page of pages(context.store, CLUSTER_ROLES)) {
      for (const stored of page) {
        if (stored.key.name === name || !mayMatch(selector, stored.json)) continue;
        const part = stored.object();
        if (!matchesLabels(selector, part.metadata.labels ?? {})) continue;
        for (const rule of (part.rules ?? []) as PolicyRule[]) rules.set(JSON.stringify(rule), rule);
      }
    }
  }
  const wanted = [...rules.values()];
  if (isDeepStrictEqual(role.rules ?? [], wanted)) return;
  const body = { metadata: { resourceVersion: role.metadata.resourceVersion }, rules: wanted };
  const resource = builtin(context, 'rbac.authorization.k8s.io', 'v1', 'clusterroles');
  const options = { identity: LOOPBACK, fieldManager: MANAGER };
  await context.operations.patch(resource, '', name, { type: 'merge', body }, options);
}

/** A look at the text, which spares parsing nearly every role. */
function mayMatch({ matchLabels = {} }: LabelSelector, json: string): boolean {
  return Object.keys(matchLabels).every((label) => json.includes(JSON.stringify(label)));
}
