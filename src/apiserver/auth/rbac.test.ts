import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { systemClock } from '../../clock.ts';
import { openStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { bootstrapRbac } from './bootstrap-policy.ts';
import { denialMessage, denied } from './denial.ts';
import { ANONYMOUS, type Attributes, type Identity, LOOPBACK } from './identity.ts';
import { RbacAuthorizer } from './rbac.ts';

const GROUP = 'rbac.authorization.k8s.io';
const PLURALS: Record<string, string> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};

let store: Store;
let rbac: RbacAuthorizer;

function key(object: KubeObject) {
  const { name = '', namespace = '' } = object.metadata;
  return { resource: `${GROUP}/${PLURALS[object.kind]}`, namespace, name };
}

function put(...objects: KubeObject[]): Promise<void> {
  return store.write((tx) => {
    for (const object of objects) tx.put(key(object), structuredClone(object));
  });
}

function role(name: string, rules: unknown[], namespace?: string): KubeObject {
  const kind = namespace ? 'Role' : 'ClusterRole';
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name, namespace }, rules };
}

function binding(
  name: string,
  roleKind: string,
  roleName: string,
  subjects: unknown[],
  namespace?: string,
): KubeObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: GROUP, kind: roleKind, name: roleName },
    subjects,
  };
}

const user = (name: string, ...groups: string[]): Identity => ({
  user: name,
  groups: [...groups, 'system:authenticated'],
});
const ask = (identity: Identity, attributes: Attributes) => rbac.authorize(identity, attributes).allowed;
const list = (resource: string, namespace = '', group = ''): Attributes => ({
  verb: 'list',
  group,
  resource,
  namespace,
});

beforeEach(() => {
  store = openStore(':memory:', { clock: systemClock });
  rbac = new RbacAuthorizer(store);
});
afterEach(async () => {
  rbac.close();
  await store.close();
});

test('the standard roles: anonymous sees /version, users discovery, masters everything', async () => {
  await put(...bootstrapRbac());
  expect(ask(ANONYMOUS, { verb: 'get', path: '/version' })).toBe(true);
  expect(ask(ANONYMOUS, { verb: 'get', path: '/apis' })).toBe(false);
  expect(ask(user('u'), { verb: 'get', path: '/apis/apps/v1' })).toBe(true);
  expect(ask(user('u'), list('pods', 'default'))).toBe(false);
  expect(ask(LOOPBACK, { verb: 'delete', resource: 'anything' })).toBe(true);
});

test('admin, edit and view hold what is aggregated into them', async () => {
  await put(
    ...bootstrapRbac(),
    binding('e', 'ClusterRole', 'edit', [{ kind: 'User', name: 'ed' }], 'n'),
    binding('v', 'ClusterRole', 'view', [{ kind: 'User', name: 'vi' }], 'n'),
    binding('a', 'ClusterRole', 'admin', [{ kind: 'User', name: 'ad' }], 'n'),
  );
  expect(ask(user('vi'), list('pods', 'n'))).toBe(true);
  expect(ask(user('vi'), list('secrets', 'n'))).toBe(false);
  expect(ask(user('ed'), list('secrets', 'n'))).toBe(true);
  expect(ask(user('ed'), list('deployments', 'n', 'apps'))).toBe(true);
  expect(ask(user('ed'), { verb: 'create', group: GROUP, resource: 'roles', namespace: 'n' })).toBe(false);
  expect(ask(user('ad'), { verb: 'create', group: GROUP, resource: 'roles', namespace: 'n' })).toBe(true);
  expect(ask(user('ad'), list('pods', 'other'))).toBe(false);
});

test('subresources, any subresource, names, groups, verbs', async () => {
  await put(
    role('r', [
      { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
      { verbs: ['update'], apiGroups: ['*'], resources: ['*/scale'] },
      { verbs: ['*'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'] },
    ]),
    binding('b', 'ClusterRole', 'r', [{ kind: 'Group', name: 'devs' }]),
  );
  const dev = user('d', 'devs');
  const get = (attributes: Partial<Attributes>) => ask(dev, { verb: 'get', group: '', namespace: 'n', ...attributes });
  expect(get({ resource: 'pods', subresource: 'log', name: 'p' })).toBe(true);
  expect(get({ resource: 'pods', name: 'p' })).toBe(false);
  expect(get({ verb: 'update', group: 'apps', resource: 'deployments', subresource: 'scale' })).toBe(true);
  expect(get({ verb: 'update', group: 'apps', resource: 'deployments' })).toBe(false);
  expect(get({ verb: 'delete', resource: 'configmaps', name: 'mine' })).toBe(true);
  expect(get({ verb: 'delete', resource: 'configmaps', name: 'other' })).toBe(false);
  expect(get({ verb: 'list', resource: 'configmaps' })).toBe(false);
});

test('paths: exact and by prefix; a RoleBinding grants none', async () => {
  const rules = [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] }];
  await put(
    role('r', rules),
    binding('b', 'ClusterRole', 'r', [{ kind: 'User', name: 'u' }]),
    binding('l', 'ClusterRole', 'r', [{ kind: 'User', name: 'local' }], 'n'),
  );
  expect(ask(user('u'), { verb: 'get', path: '/metrics' })).toBe(true);
  expect(ask(user('u'), { verb: 'get', path: '/metrics/x' })).toBe(false);
  expect(ask(user('u'), { verb: 'get', path: '/logs/a/b' })).toBe(true);
  expect(ask(user('u'), { verb: 'post', path: '/metrics' })).toBe(false);
  expect(ask(user('local'), { verb: 'get', path: '/metrics' })).toBe(false);
});

test('a ServiceAccount subject without a namespace is one of the binding’s own', async () => {
  await put(
    role('r', [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }], 'n'),
    binding('b', 'Role', 'r', [{ kind: 'ServiceAccount', name: 'sa' }], 'n'),
  );
  expect(ask(user('system:serviceaccount:n:sa'), list('pods', 'n'))).toBe(true);
  expect(ask(user('system:serviceaccount:m:sa'), list('pods', 'n'))).toBe(false);
});

test('changes count from the moment they are committed', async () => {
  const u = user('u');
  const pods = list('pods', 'n');
  expect(ask(u, pods)).toBe(false);
  await put(role('r', [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }], 'n'));
  await put(binding('b', 'Role', 'r', [{ kind: 'User', name: 'u' }], 'n'));
  expect(ask(u, pods)).toBe(true);
  await put(role('r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], 'n'));
  expect(ask(u, pods)).toBe(false);
  await put(role('r', [{ verbs: ['*'], apiGroups: [''], resources: ['pods'] }], 'n'));
  await put(binding('b', 'Role', 'r', [{ kind: 'User', name: 'someone' }], 'n'));
  expect(ask(u, pods)).toBe(false);
  expect(ask(user('someone'), pods)).toBe(true);
  await store.write((tx) => tx.delete({ resource: `${GROUP}/rolebindings`, namespace: 'n', name: 'b' }));
  expect(ask(user('someone'), pods)).toBe(false);

  await put(binding('c', 'ClusterRole', 'cr', [{ kind: 'User', name: 'u' }]));
  expect(rbac.authorize(u, pods)).toEqual({
    allowed: false,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "cr" not found',
  });
  await put(role('cr', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]));
  expect(rbac.authorize(u, pods)).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "cr" to User "u"',
  });
});

test('denials read as upstream’s', () => {
  const u = user('u');
  expect(denied(u, list('pods', 'n')).message).toBe(
    'pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "n"',
  );
  const get: Attributes = { verb: 'get', group: 'apps', resource: 'deployments', subresource: 'scale', name: 'd' };
  expect(denied(u, get).message).toBe(
    'deployments.apps "d" is forbidden: User "u" cannot get resource "deployments/scale" in API group "apps" at the cluster scope',
  );
  expect(denied(u, { verb: 'get', path: '/x' }).message).toBe('forbidden: User "u" cannot get path "/x"');
  expect(denialMessage(user('<b>'), { verb: 'get', path: '/' })).toContain('User "&lt;b&gt;"');
});

test('rulesFor lists cluster and local rules', async () => {
  await put(...bootstrapRbac(), binding('v', 'ClusterRole', 'view', [{ kind: 'User', name: 'vi' }], 'n'));
  const here = rbac.rulesFor(user('vi'), 'n').rules;
  const elsewhere = rbac.rulesFor(user('vi'), 'm').rules;
  expect(here.length).toBeGreaterThan(elsewhere.length);
  expect(elsewhere.some((rule) => rule.resources?.includes('selfsubjectaccessreviews'))).toBe(true);
});

test('nothing is watched before the first question, and nothing after close', async () => {
  let watches = 0;
  const counted = new Proxy(store, {
    get(target, name) {
      if (name === 'watch') {
        return (...parameters: Parameters<Store['watch']>) => {
          watches += 1;
          const stop = target.watch(...parameters);
          return () => {
            watches -= 1;
            stop();
          };
        };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const lazy = new RbacAuthorizer(counted);
  expect(watches).toBe(0);
  lazy.authorize(LOOPBACK, list('pods'));
  expect(watches).toBe(0);
  lazy.authorize(user('u'), list('pods'));
  expect(watches).toBe(4);
  lazy.close();
  expect(watches).toBe(0);
});
