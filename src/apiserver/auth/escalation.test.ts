import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { systemClock } from '../../clock.ts';
import { openStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { checkEscalation } from './escalation.ts';
import { LOOPBACK } from './identity.ts';
import { RbacAuthorizer } from './rbac.ts';

const API = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const PODS = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const bob = { user: 'bob', groups: ['devs', 'system:authenticated'] };

let store: Store;
let rbac: RbacAuthorizer;

function role(name: string, rules: unknown[]): KubeObject {
  return { ...API, kind: 'Role', metadata: { name, namespace: 'n' }, rules };
}

/** Gives bob these rules in namespace n. */
async function grant(...rules: unknown[]): Promise<void> {
  await store.write((tx) => {
    const place = { namespace: 'n', name: 'held' };
    tx.put({ resource: 'rbac.authorization.k8s.io/roles', ...place }, role('held', rules));
    tx.put(
      { resource: 'rbac.authorization.k8s.io/rolebindings', ...place },
      {
        ...API,
        kind: 'RoleBinding',
        metadata: place,
        roleRef: { kind: 'Role', name: 'held' },
        subjects: [{ kind: 'User', name: 'bob' }],
      },
    );
  });
}

function bindingTo(name: string): KubeObject {
  return { ...API, kind: 'RoleBinding', metadata: { name: 'b', namespace: 'n' }, roleRef: { kind: 'Role', name } };
}

beforeEach(() => {
  store = openStore(':memory:', { clock: systemClock });
  rbac = new RbacAuthorizer(store);
});
afterEach(async () => {
  rbac.close();
  await store.close();
});

test('a role may hold what its author holds, and the refusal names the rest', async () => {
  await grant(PODS);
  checkEscalation(rbac, bob, role('r', [PODS]), undefined);
  const greedy = role('r', [PODS, { verbs: ['get', 'delete'], apiGroups: ['', 'apps'], resources: ['secrets'] }]);
  expect(() => checkEscalation(rbac, bob, greedy, undefined)).toThrow(
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "bob" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}\n' +
      '{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "delete"]}',
  );
  checkEscalation(rbac, LOOPBACK, greedy, undefined);
});

test('the verb escalate lifts it for roles', async () => {
  await grant({ verbs: ['escalate'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] });
  checkEscalation(rbac, bob, role('r', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]), undefined);
});

test('a binding needs every right of the role, or the verb bind on it', async () => {
  await store.write((tx) => {
    const key = { resource: 'rbac.authorization.k8s.io/roles', namespace: 'n', name: 'strong' };
    tx.put(key, role('strong', [{ verbs: ['delete'], apiGroups: [''], resources: ['pods'] }]));
  });
  await grant(PODS);
  expect(() => checkEscalation(rbac, bob, bindingTo('strong'), undefined)).toThrow(
    /rolebindings.*"b" is forbidden.*delete/s,
  );
  expect(() => checkEscalation(rbac, bob, bindingTo('absent'), undefined)).toThrow('"absent" not found');
  await grant({
    verbs: ['bind'],
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles'],
    resourceNames: ['strong'],
  });
  checkEscalation(rbac, bob, bindingTo('strong'), undefined);
});

test('the collector may remove finalizers of a role its caller could not write', async () => {
  const old = role('r', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
  old.metadata.finalizers = ['x'];
  const next: KubeObject = { ...old, metadata: { ...old.metadata, finalizers: [], resourceVersion: '7' } };
  checkEscalation(rbac, bob, next, old);
  expect(() => checkEscalation(rbac, bob, { ...next, rules: [...next.rules, PODS] }, old)).toThrow('is forbidden');
});

test('an aggregation rule can gather anything, so it needs everything', async () => {
  const aggregate: KubeObject = {
    ...API,
    kind: 'ClusterRole',
    metadata: { name: 'a' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] },
    rules: [],
  };
  expect(() => checkEscalation(rbac, bob, aggregate, undefined)).toThrow(
    'must have cluster-admin privileges to use the aggregationRule',
  );
});
