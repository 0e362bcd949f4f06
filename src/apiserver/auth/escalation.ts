/**
 * Nobody may hand out rights they do not hold: checked when a Role, ClusterRole or binding is written, after
 * validation and before it is stored. The verbs `escalate` (roles) and `bind` (bindings) lift the check.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/object.ts';
import { own } from '../json.ts';
import { forbidden, notFound } from '../status.ts';
import { type Identity, MASTERS } from './identity.ts';
import { compact, type PolicyRule, quotedList, ruleText, uncovered } from './policy-rule.ts';
import type { RbacAuthorizer } from './rbac.ts';

const GROUP = 'rbac.authorization.k8s.io';
const RESOURCES: Record<string, string> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};
const EVERYTHING: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Throws 403 when writing `object` would let `identity` grant more than it has. Other kinds pass. */
export function checkEscalation(
  authorizer: RbacAuthorizer,
  identity: Identity,
  object: KubeObject,
  old: KubeObject | undefined,
): void {
  const resource = RESOURCES[object.kind];
  if (!resource || !object.apiVersion.startsWith(`${GROUP}/`) || identity.groups.includes(MASTERS)) return;
  if (old && onlyCollectorFieldsChange(object, old)) return;
  const name = object.metadata.name ?? '';
  const namespace = object.metadata.namespace ?? '';
  const ask = (verb: string, target: string, targetName: string) =>
    authorizer.authorize(identity, { verb, group: GROUP, resource: target, namespace, name: targetName }).allowed;
  const refuse = (message: string) => {
    throw forbidden({ group: GROUP, resource, name }, message);
  };

  if (object.kind === 'Role' || object.kind === 'ClusterRole') {
    if (ask('escalate', resource, name)) return;
    const message = missingRights(authorizer, identity, namespace, object.rules ?? []);
    if (message) refuse(message);
    if ((aggregates(object) || aggregates(old)) && missingRights(authorizer, identity, '', EVERYTHING)) {
      refuse('must have cluster-admin privileges to use the aggregationRule');
    }
    return;
  }
  const role = object.roleRef ?? {};
  const roles = own(RESOURCES, role.kind);
  if (roles && ask('bind', roles, role.name)) return;
  const rules = authorizer.rulesOf(role, namespace);
  // Upstream names the binding's resource here, not the role's.
  if (!rules) throw notFound({ group: GROUP, resource, name: role.name });
  const message = missingRights(authorizer, identity, namespace, rules);
  if (message) refuse(message);
}

function missingRights(
  authorizer: RbacAuthorizer,
  identity: Identity,
  namespace: string,
  wanted: PolicyRule[],
): string | undefined {
  const held = authorizer.rulesFor(identity, namespace);
  const missing = uncovered(held.rules, wanted);
  if (!missing.length) return undefined;
  const lines = [...new Set(compact(missing).map(ruleText))].sort().join('\n');
  const who = `user ${JSON.stringify(identity.user)} (groups=${quotedList(identity.groups)})`;
  const errors = held.errors.length ? `; resolution errors: [${held.errors.join(' ')}]` : '';
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${errors}`;
}

function aggregates(object: KubeObject | undefined): boolean {
  return (object?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

/** The garbage collector must be able to finish with objects whose author has since lost rights. */
function onlyCollectorFieldsChange(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields, resourceVersion } = old.metadata;
  const metadata = { ...object.metadata, ownerReferences, finalizers, managedFields, resourceVersion };
  return isDeepStrictEqual(plain({ ...object, metadata }), plain(old));
}

function plain(object: KubeObject): unknown {
  return JSON.parse(JSON.stringify(object));
}
