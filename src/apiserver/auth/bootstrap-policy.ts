/**
 * The RBAC objects of a fresh cluster. The real server writes about 130 of them at its first start; here they are data,
 * expanded once into the template that new tenants are copied from.
 */
import type { KubeObject } from '../../api/object.ts';
import { CLUSTER_ROLES } from './bootstrap-cluster-roles.ts';
import { CONTROLLER_ROLES } from './bootstrap-controller-roles.ts';
import type { PolicyRule } from './policy-rule.ts';
import { ROOKERY_ROLES } from './rookery-roles.ts';

const GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${GROUP}/v1`;
const AGGREGATE = `${GROUP}/aggregate-to-`;

const VERBS: Record<string, string[]> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
  all: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
};

/** Role → the role its rules are added to. `edit` goes into `admin` and `view` into `edit`, so order matters below. */
const AGGREGATED_TO: Record<string, string> = {
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
  edit: 'admin',
  view: 'edit',
};
const AGGREGATING = ['view', 'edit', 'admin'];

const CLUSTER_BINDINGS: Record<string, string[]> = {
  'cluster-admin': ['Group system:masters'],
  'system:basic-user': ['Group system:authenticated'],
  'system:discovery': ['Group system:authenticated'],
  'system:kube-controller-manager': ['User system:kube-controller-manager'],
  'system:kube-dns': ['ServiceAccount kube-dns'],
  'system:kube-scheduler': ['User system:kube-scheduler'],
  'system:monitoring': ['Group system:monitoring'],
  'system:node': [],
  'system:node-proxier': ['User system:kube-proxy'],
  'system:public-info-viewer': ['Group system:authenticated', 'Group system:unauthenticated'],
  'system:service-account-issuer-discovery': ['Group system:serviceaccounts'],
  'system:volume-scheduler': ['User system:kube-scheduler'],
};

const LEASES = [
  'create,get,list,update,watch coordination.k8s.io leases',
  'create,get,list,update,watch coordination.k8s.io leasecandidates',
];
const EVENTS = 'create,patch,update core,events.k8s.io events';

interface NamespacedRole {
  namespace: string;
  name: string;
  rules: string[];
  subjects: string[];
  /** Where the binding is not named like the role. */
  binding?: string;
}

const NAMESPACED_ROLES: NamespacedRole[] = [
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    rules: ['read core configmaps', 'update core configmaps cluster-info', EVENTS],
    subjects: ['ServiceAccount bootstrap-signer'],
  },
  {
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication-reader',
    rules: ['read core configmaps extension-apiserver-authentication'],
    subjects: ['User system:kube-controller-manager', 'User system:kube-scheduler'],
    binding: 'system::extension-apiserver-authentication-reader',
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    rules: LEASES,
    subjects: [
      'User system:kube-controller-manager',
      'ServiceAccount kube-controller-manager',
      'ServiceAccount leader-election-controller',
    ],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    rules: LEASES,
    subjects: ['User system:kube-scheduler', 'ServiceAccount kube-scheduler'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:bootstrap-signer',
    rules: ['read core secrets'],
    subjects: ['ServiceAccount bootstrap-signer'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:cloud-provider',
    rules: ['create,get,list,watch core configmaps'],
    subjects: ['ServiceAccount cloud-provider'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:token-cleaner',
    rules: ['delete,get,list,watch core secrets', EVENTS],
    subjects: ['ServiceAccount token-cleaner'],
  },
];

let text: string | undefined;

/** Every Role, ClusterRole and binding of a fresh cluster, aggregated roles already filled. */
export function bootstrapRbac(): KubeObject[] {
  // Each cluster gets objects of its own; reading them from JSON takes a third of the time of making them again.
  text ??= JSON.stringify(makeRbac());
  return JSON.parse(text) as KubeObject[];
}

function makeRbac(): KubeObject[] {
  const objects = aggregated(Object.entries(CLUSTER_ROLES).map(([name, rules]) => clusterRole(name, rules)));
  for (const [name, subjects] of Object.entries(CLUSTER_BINDINGS)) objects.push(clusterRoleBinding(name, subjects));
  for (const [name, rules] of Object.entries(CONTROLLER_ROLES)) {
    objects.push(clusterRole(`system:controller:${name}`, rules));
    objects.push(clusterRoleBinding(`system:controller:${name}`, [`ServiceAccount ${name}`]));
  }
  for (const { namespace, name, rules, subjects, binding } of NAMESPACED_ROLES) {
    objects.push({ ...base('Role', name, namespace), rules: rules.map(expandRule) });
    objects.push(bindingTo('RoleBinding', binding ?? name, 'Role', name, subjects, namespace));
  }
  for (const [name, rules] of Object.entries(ROOKERY_ROLES)) objects.push(clusterRole(name, rules, {}));
  return objects;
}

/** A rule from its short form. */
export function expandRule(text: string): PolicyRule {
  const [verbs = '', second = '', third, names] = text.split(' ');
  const expanded = verbs.split(',').flatMap((verb) => VERBS[verb] ?? [verb]);
  if (third === undefined) return { nonResourceURLs: second.split(','), verbs: expanded };
  return {
    apiGroups: second.split(',').map((group) => (group === 'core' ? '' : group)),
    ...(names ? { resourceNames: names.split(',') } : {}),
    resources: third.split(','),
    verbs: expanded,
  };
}

function aggregated(roles: KubeObject[]): KubeObject[] {
  const all = [...roles];
  for (const name of AGGREGATING) {
    const role = clusterRole(name, []);
    role.aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [`${AGGREGATE}${name}`]: 'true' } }] };
    // By name and equal rules once only, as the aggregation loop does it, so that it finds nothing to change.
    const parts = all.filter((part) => AGGREGATED_TO[part.metadata.name ?? ''] === name);
    parts.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    role.rules = [...new Map(parts.flatMap((part) => part.rules).map((r) => [JSON.stringify(r), r])).values()];
    all.push(role);
  }
  return all;
}

function clusterRole(
  name: string,
  rules: string[],
  metadata: Record<string, unknown> = bootstrapped(name),
): KubeObject {
  return { ...base('ClusterRole', name, '', metadata), rules: rules.map(expandRule) };
}

function clusterRoleBinding(name: string, subjects: string[]): KubeObject {
  return bindingTo('ClusterRoleBinding', name, 'ClusterRole', name, subjects);
}

function bindingTo(
  kind: string,
  name: string,
  roleKind: string,
  role: string,
  subjects: string[],
  namespace = '',
): KubeObject {
  return {
    ...base(kind, name, namespace),
    roleRef: { apiGroup: GROUP, kind: roleKind, name: role },
    ...(subjects.length ? { subjects: subjects.map(expandSubject) } : {}),
  };
}

function expandSubject(text: string): Record<string, string> {
  const [kind = '', name = ''] = text.split(' ');
  return kind === 'ServiceAccount' ? { kind, name, namespace: 'kube-system' } : { apiGroup: GROUP, kind, name };
}

function base(
  kind: string,
  name: string,
  namespace = '',
  metadata: Record<string, unknown> = bootstrapped(name),
): KubeObject {
  return { apiVersion: API_VERSION, kind, metadata: { name, ...(namespace ? { namespace } : {}), ...metadata } };
}

function bootstrapped(name: string): Record<string, unknown> {
  const into = AGGREGATED_TO[name];
  return {
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    labels: {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      ...(into ? { [`${AGGREGATE}${into}`]: 'true' } : {}),
    },
  };
}
