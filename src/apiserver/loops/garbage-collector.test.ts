import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { garbageCollector } from './garbage-collector.ts';
import { configMap, namespace, ownerRef, TestCluster } from './testing/test-cluster.ts';

let cluster: TestCluster;

beforeEach(async () => {
  cluster = new TestCluster();
  await cluster.create(namespace('default'));
  await cluster.create(namespace('n'));
  await cluster.create(namespace('m'));
});
afterEach(() => cluster.close());

const make = (name: string, ...owners: KubeObject[]) => cluster.create(configMap('n', name, ...owners));
const there = (object: KubeObject) => cluster.get(object) !== undefined;
const gone = (...objects: KubeObject[]) => cluster.until(() => !objects.some(there), 'objects are gone');

function blocking(name: string, owner: KubeObject): Promise<KubeObject> {
  const object = configMap('n', name);
  object.metadata.ownerReferences = [ownerRef(owner, true)];
  return cluster.create(object);
}

test('background: dependents follow their owner, and theirs follow them', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  const child = await make('child', owner);
  const grandchild = await make('grandchild', child);
  const stranger = await make('stranger');
  await cluster.delete(owner, { propagationPolicy: 'Background' });
  await gone(owner, child, grandchild);
  expect(there(stranger)).toBe(true);
  expect(cluster.warnings).toEqual([]);
});

test('what was already dangling before the start is found', async () => {
  const owner = await make('owner');
  const child = await make('child', owner);
  const kept = await make('kept', await make('living'));
  await cluster.delete(owner);
  await cluster.settle();
  expect(there(child)).toBe(true);
  cluster.start(garbageCollector);
  await gone(child);
  expect(there(kept)).toBe(true);
});

test('an owner of the same name and another uid is not the owner', async () => {
  cluster.start(garbageCollector);
  const first = await make('owner');
  await cluster.delete(first);
  await make('owner');
  const child = await make('child', first);
  await gone(child);
});

test('a dependent with another living owner stays and loses the dangling reference', async () => {
  cluster.start(garbageCollector);
  const a = await make('a');
  const b = await make('b');
  const child = await make('child', a, b);
  await cluster.delete(a);
  await cluster.until(() => cluster.get(child)?.metadata.ownerReferences?.length === 1);
  expect(cluster.get(child)?.metadata.ownerReferences?.[0]?.name).toBe('b');
  await cluster.delete(b);
  await gone(child);
});

test('foreground: the owner waits for dependents that block it', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  const child = await blocking('child', owner);
  await cluster.merge(child, { metadata: { finalizers: ['test/hold'] } });
  await cluster.delete(owner, { propagationPolicy: 'Foreground' });
  await cluster.until(() => cluster.get(child)?.metadata.deletionTimestamp !== undefined);
  await cluster.settle();
  expect(cluster.get(owner)?.metadata.finalizers).toEqual(['foregroundDeletion']);
  await cluster.merge(child, { metadata: { finalizers: null } });
  await gone(child, owner);
});

test('foreground: dependents that do not block are deleted without waiting for them', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  const child = await make('child', owner);
  await cluster.merge(child, { metadata: { finalizers: ['test/hold'] } });
  await cluster.delete(owner, { propagationPolicy: 'Foreground' });
  await gone(owner);
  await cluster.until(() => cluster.get(child)?.metadata.deletionTimestamp !== undefined);
});

test('foreground: a dependent that someone else owns too is let go, not deleted', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  const other = await make('other');
  const child = configMap('n', 'child', other);
  child.metadata.ownerReferences?.push(ownerRef(owner, true));
  await cluster.create(child);
  await cluster.delete(owner, { propagationPolicy: 'Foreground' });
  await gone(owner);
  expect(cluster.get(child)?.metadata.ownerReferences?.map((ref) => ref.name)).toEqual(['other']);
});

test('orphan: dependents stay without the reference', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  const child = await make('child', owner);
  await cluster.delete(owner, { propagationPolicy: 'Orphan' });
  await gone(owner);
  await cluster.settle();
  expect(cluster.get(child)?.metadata.ownerReferences).toBeUndefined();
});

test('orphaning and foreground deletion that were under way at a restart are finished', async () => {
  const owner = await make('owner');
  const child = await make('child', owner);
  await cluster.delete(owner, { propagationPolicy: 'Orphan' });
  const front = await make('front');
  const blocker = await blocking('blocker', front);
  await cluster.delete(front, { propagationPolicy: 'Foreground' });
  cluster.start(garbageCollector);
  await gone(owner, front, blocker);
  expect(there(child)).toBe(true);
});

test('nothing is let go before all kinds have been read', async () => {
  // Roles are read long after ConfigMaps: the owner must not be finished before its dependents are known.
  const owner = await make('owner');
  const role = await cluster.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r', namespace: 'n', ownerReferences: [ownerRef(owner)] },
    rules: [],
  });
  for (const kind of ['Endpoints', 'LimitRange', 'Secret', 'ServiceAccount', 'ResourceQuota']) {
    await cluster.create({ apiVersion: 'v1', kind, metadata: { name: 'filler', namespace: 'n' } });
  }
  await cluster.delete(owner, { propagationPolicy: 'Orphan' });
  cluster.start(garbageCollector);
  await gone(owner);
  await cluster.settle();
  expect(cluster.get(role)).toBeDefined();
  expect(cluster.get(role)?.metadata.ownerReferences).toBeUndefined();
});

test('a circle in foreground deletion ends', async () => {
  cluster.start(garbageCollector);
  const a = await make('a');
  const b = await blocking('b', a);
  const c = await blocking('c', b);
  await cluster.merge(a, { metadata: { ownerReferences: [ownerRef(c, true)] } });
  await cluster.delete(a, { propagationPolicy: 'Foreground' });
  await gone(a, b, c);
});

test('an owner in another namespace counts as absent, and an event says so', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  const child = await cluster.create(configMap('m', 'child', owner));
  await gone(child);
  expect(there(owner)).toBe(true);
  const events = cluster.context.store.list({ resource: '/events', namespace: 'm' }).items.map((item) => item.object());
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    reason: 'OwnerRefInvalidNamespace',
    type: 'Warning',
    message: `ownerRef [v1/ConfigMap, namespace: m, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "m"`,
    involvedObject: { kind: 'ConfigMap', namespace: 'm', name: 'child' },
  });
});

test('another namespace cannot hold up a foreground deletion', async () => {
  const owner = await make('owner');
  const intruder = configMap('m', 'intruder');
  intruder.metadata.ownerReferences = [ownerRef(owner, true)];
  intruder.metadata.finalizers = ['test/hold'];
  await cluster.create(intruder);
  cluster.start(garbageCollector);
  await cluster.delete(owner, { propagationPolicy: 'Foreground' });
  await gone(owner);
});

test('cluster-scoped owners own in every namespace; namespaced ones own nothing cluster-scoped', async () => {
  cluster.start(garbageCollector);
  const role: KubeObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'r' },
    rules: [],
  };
  const owner = await cluster.create(role);
  const child = await make('child', owner);
  const local = await make('local');
  const odd = await cluster.create({ ...role, metadata: { name: 'odd', ownerReferences: [ownerRef(local)] } });
  await cluster.delete(owner);
  await gone(child);
  await cluster.until(() => cluster.context.store.count('/events', 'default') === 1, 'an event about the odd one');
  await cluster.delete(local);
  await cluster.settle();
  expect(there(odd)).toBe(true);
});

test('an owner of an unknown kind is not taken for absent', async () => {
  cluster.start(garbageCollector);
  const owner: KubeObject = { apiVersion: 'acme.com/v1', kind: 'Widget', metadata: { name: 'w', uid: 'w1' } };
  const child = await make('child', owner);
  await cluster.settle();
  expect(there(child)).toBe(true);
  expect(cluster.warnings).toEqual([]);
});

test('when the owner’s kind appears, it is known whether the owner exists', async () => {
  cluster.start(garbageCollector);
  const owner: KubeObject = { apiVersion: 'acme.com/v1', kind: 'Widget', metadata: { name: 'w', uid: 'w1' } };
  const child = await make('child', owner);
  await cluster.settle();
  const { registry, store } = cluster.context;
  const names = { group: 'acme.com', kind: 'Widget', plural: 'widgets', storage: 'acme.com/widgets' };
  registry.setCustom('widgets.acme.com', [{ ...cluster.resource(configMap('n', 'x')), ...names }]);
  const key = { resource: 'apiextensions.k8s.io/customresourcedefinitions', namespace: '', name: 'widgets.acme.com' };
  await store.write((tx) => tx.put(key, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'X', metadata: { uid: 'c' } }));
  await gone(child);
});

test('a thousand dependents go without blocking the event loop', async () => {
  cluster.start(garbageCollector);
  const owner = await make('owner');
  await Promise.all(Array.from({ length: 1000 }, (_, i) => make(`child-${i}`, owner)));
  // CPU time between two beats, not wall time: other processes must not fail this.
  let longest = 0;
  let last = process.cpuUsage();
  const beat = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.cpuUsage();
  }, 1);
  await cluster.delete(owner);
  await cluster.until(() => cluster.context.store.count('/configmaps', 'n') === 0);
  clearInterval(beat);
  expect(longest).toBeLessThan(100);
});
