import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { systemClock } from '../../clock.ts';
import { openStore } from '../store/sqlite-store.ts';
import { RbacAuthorizer } from './rbac.ts';

const GROUP = 'rbac.authorization.k8s.io';
const USERS = ['a', 'b', 'system:serviceaccount:n:s'];
const GROUPS = ['g', 'h'];
const SUBJECTS = [
  ...USERS.slice(0, 2).map((name) => ({ kind: 'User', name })),
  ...GROUPS.map((name) => ({ kind: 'Group', name })),
  { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  { kind: 'ServiceAccount', name: 's' },
];

interface Step {
  plural: 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings';
  name: string;
  remove: boolean;
  resources: string[];
  subjects: number[];
  clusterRole: boolean;
  role: string;
}

const step: fc.Arbitrary<Step> = fc.record({
  plural: fc.constantFrom('roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'),
  name: fc.constantFrom('x', 'y', 'z'),
  remove: fc.boolean(),
  resources: fc.subarray(['pods', 'secrets', '*']),
  subjects: fc.subarray(SUBJECTS.map((_, i) => i)),
  clusterRole: fc.boolean(),
  role: fc.constantFrom('x', 'y', 'z'),
});

function objectOf({ plural, name, resources, subjects, clusterRole, role }: Step): KubeObject {
  const namespaced = !plural.startsWith('cluster');
  const object: KubeObject = {
    apiVersion: `${GROUP}/v1`,
    kind: plural,
    metadata: namespaced ? { name, namespace: 'n' } : { name },
  };
  if (plural.endsWith('roles')) return { ...object, rules: [{ verbs: ['get'], apiGroups: [''], resources }] };
  const kind = clusterRole || !namespaced ? 'ClusterRole' : 'Role';
  return { ...object, roleRef: { kind, name: role }, subjects: subjects.map((i) => SUBJECTS[i]) };
}

function decisions(rbac: RbacAuthorizer): boolean[] {
  const identities = USERS.flatMap((user) => [[], ['g'], GROUPS].map((groups) => ({ user, groups })));
  return identities.flatMap((identity) =>
    ['pods', 'secrets'].flatMap((resource) =>
      ['n', 'm', ''].map((namespace) => rbac.authorize(identity, { verb: 'get', resource, namespace }).allowed),
    ),
  );
}

test('an authorizer that followed every change decides as one that has just read the store', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const store = openStore(':memory:', { clock: systemClock, retention: false });
      const following = new RbacAuthorizer(store);
      for (const next of steps) {
        const namespace = next.plural.startsWith('cluster') ? '' : 'n';
        const key = { resource: `${GROUP}/${next.plural}`, namespace, name: next.name };
        await store.write((tx) => (next.remove ? tx.delete(key) : tx.put(key, objectOf(next))));
        const fresh = new RbacAuthorizer(store);
        expect(decisions(following)).toEqual(decisions(fresh));
        fresh.close();
      }
      following.close();
      await store.close();
    }),
    { numRuns: 25 },
  );
});
