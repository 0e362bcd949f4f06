import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Condition, KubeObject } from '../../api/object.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceDefaults } from './namespace-defaults.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { configMap, namespace, TestCluster } from './testing/test-cluster.ts';

let cluster: TestCluster;
const NS = namespace('n');

beforeEach(async () => {
  cluster = new TestCluster();
  await cluster.create(NS);
});
afterEach(() => cluster.close());

const gone = () => cluster.until(() => cluster.get(NS) === undefined, 'the namespace is gone');
const condition = (type: string): Condition | undefined =>
  cluster.get(NS)?.status?.conditions?.find((c: Condition) => c.type === type);

function pod(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n', finalizers: ['test/hold'] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
}

test('a deleted namespace takes its content with it and nothing else', async () => {
  cluster.start(namespaceLifecycle);
  await cluster.create(namespace('other'));
  const kept = await cluster.create(configMap('other', 'kept'));
  await Promise.all(Array.from({ length: 700 }, (_, i) => cluster.create(configMap('n', `c-${i}`))));
  await cluster.delete(NS);
  await gone();
  expect(cluster.context.store.count('/configmaps', 'n')).toBe(0);
  expect(cluster.get(kept)).toBeDefined();
  expect(cluster.warnings).toEqual([]);
});

test('a namespace that was terminating at a restart is finished', async () => {
  await cluster.create(configMap('n', 'c'));
  await cluster.delete(NS);
  cluster.start(namespaceLifecycle);
  await gone();
});

test('content with finalizers holds it, and conditions say what', async () => {
  cluster.start(namespaceLifecycle);
  const held = configMap('n', 'held');
  held.metadata.finalizers = ['test/hold'];
  await cluster.create(held);
  await cluster.create(configMap('n', 'free'));
  await cluster.delete(NS);
  await cluster.until(() => condition('NamespaceContentRemaining')?.status === 'True');
  expect(condition('NamespaceContentRemaining')).toMatchObject({
    reason: 'SomeResourcesRemain',
    message: 'Some resources are remaining: configmaps. has 1 resource instances',
  });
  expect(condition('NamespaceFinalizersRemaining')).toMatchObject({
    status: 'True',
    message: 'Some content in the namespace has finalizers remaining: test/hold in 1 resource instances',
  });
  expect(condition('NamespaceDeletionDiscoveryFailure')).toMatchObject({
    status: 'False',
    reason: 'ResourcesDiscovered',
  });
  await cluster.merge(held, { metadata: { finalizers: null } });
  await gone();
});

test('pods go first; the rest stays until they are gone', async () => {
  cluster.start(namespaceLifecycle, namespaceDefaults);
  await cluster.until(() => cluster.context.store.count('/serviceaccounts', 'n') === 1);
  const held = await cluster.create(pod('p'));
  const config = await cluster.create(configMap('n', 'c'));
  await cluster.delete(NS);
  await cluster.until(() => condition('NamespaceContentRemaining')?.status === 'True');
  expect(cluster.get(held)?.metadata.deletionTimestamp).toBeDefined();
  expect(cluster.get(config)).toBeDefined();
  expect(cluster.get(config)?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.merge(held, { metadata: { finalizers: null } });
  await gone();
});

test('another finalizer on the namespace keeps it, emptied and with its conditions set', async () => {
  cluster.start(namespaceLifecycle);
  await cluster.merge(NS, { metadata: { finalizers: ['test/hold'] } });
  await cluster.create(configMap('n', 'c'));
  await cluster.delete(NS);
  await cluster.until(() => cluster.get(NS)?.spec.finalizers?.length === 0 || !cluster.get(NS)?.spec.finalizers);
  expect(condition('NamespaceContentRemaining')).toMatchObject({ status: 'False', reason: 'ContentRemoved' });
  expect(cluster.context.store.count('/configmaps', 'n')).toBe(0);
  await cluster.merge(NS, { metadata: { finalizers: null } });
  await gone();
});

test('with the garbage collector and the defaults at work too', async () => {
  cluster.start(namespaceLifecycle, garbageCollector, namespaceDefaults);
  const owner = await cluster.create(configMap('n', 'owner'));
  await cluster.create(configMap('n', 'child', owner));
  await cluster.until(() => cluster.context.store.count('/serviceaccounts', 'n') === 1);
  await cluster.delete(NS);
  await gone();
  await cluster.settle();
  expect(cluster.context.store.count('/serviceaccounts', 'n')).toBe(0);
  expect(cluster.warnings).toEqual([]);
});
