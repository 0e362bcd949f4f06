/** Fills ClusterRoles that have an aggregationRule with the rules of all ClusterRoles their selectors match. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/object.ts';
import { LOOPBACK } from '../auth/identity.ts';
import type { PolicyRule } from '../auth/policy-rule.ts';
import type { Stored } from '../store/store.ts';
import { type LabelSelector, matchesLabels } from './label-selector.ts';
import { builtin, hasReason, type Loop, type LoopContext, pages, warn } from './loop.ts';
import { WorkQueue } from './work-queue.ts';

const CLUSTER_ROLES = 'rbac.authorization.k8s.io/clusterroles';
const MANAGER = 'clusterrole-aggregation-controller';
/** There is one piece of work: to look at all roles. Changes that come together are one pass. */
const ALL = 'all cluster roles';

export const clusterRoleAggregation: Loop = (context) => {
  const { store, clock } = context;
  const queue = new WorkQueue({
    clock,
    work: () => aggregateAll(context),
    onError: (_, error) => {
      if (!hasReason(error, 'Conflict', 'NotFound')) warn(context, 'aggregation of cluster roles failed', error);
    },
  });
  const stop = store.watch({ resource: CLUSTER_ROLES, afterRv: store.rv }, () => queue.add(ALL));
  queue.add(ALL);
  return () => {
    stop();
    queue.stop();
  };
};

async function aggregateAll(context: LoopContext): Promise<void> {
  const roles: Stored[] = [];
  for await (const page of pages(context.store, CLUSTER_ROLES)) roles.push(...page);
  for (const role of roles) if (role.json.includes('"aggregationRule"')) await aggregate(context, role.object(), roles);
}

async function aggregate(context: LoopContext, role: KubeObject, roles: Stored[]): Promise<void> {
  const selectors: LabelSelector[] = role.aggregationRule?.clusterRoleSelectors ?? [];
  if (!selectors.length) return;
  const { name = '', resourceVersion } = role.metadata;
  // By content: equal rules of several roles are taken once.
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectors) {
    for (const part of roles) {
      if (part.key.name === name || !mayMatch(selector, part.json)) continue;
      const { metadata, rules: theirs } = part.object();
      if (!matchesLabels(selector, metadata.labels ?? {})) continue;
      for (const rule of (theirs ?? []) as PolicyRule[]) rules.set(JSON.stringify(rule), rule);
    }
  }
  const wanted = [...rules.values()];
  if (isDeepStrictEqual(role.rules ?? [], wanted)) return;
  const body = { metadata: { resourceVersion }, rules: wanted };
  const resource = builtin(context, 'rbac.authorization.k8s.io', 'v1', 'clusterroles');
  const options = { identity: LOOPBACK, fieldManager: MANAGER };
  // The roles that gather this one in turn are brought up to date by the change this makes.
  await context.operations.patch(resource, '', name, { type: 'merge', body }, options);
}

/** A look at the text, which spares parsing nearly every role. */
function mayMatch({ matchLabels = {} }: LabelSelector, json: string): boolean {
  return Object.keys(matchLabels).every((label) => json.includes(JSON.stringify(label)));
}
