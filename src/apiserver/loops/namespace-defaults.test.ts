import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { namespaceDefaults } from './namespace-defaults.ts';
import { namespace, TestCluster } from './testing/test-cluster.ts';

let cluster: TestCluster;
const ACCOUNT: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'n' } };
const BUNDLE: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kube-root-ca.crt', namespace: 'n' },
};

beforeEach(() => {
  cluster = new TestCluster();
});
afterEach(() => cluster.close());

const complete = () =>
  cluster.until(() => !!cluster.get(ACCOUNT) && cluster.get(BUNDLE)?.data?.['ca.crt'] === 'THE CA');

test('a new namespace gets them, and one from before the start too', async () => {
  await cluster.create(namespace('old'));
  cluster.start(namespaceDefaults);
  await cluster.create(namespace('n'));
  await complete();
  await cluster.until(() => cluster.context.store.count('/serviceaccounts', 'old') === 1);
});

test('they come back when deleted and are put right when changed', async () => {
  cluster.start(namespaceDefaults);
  await cluster.create(namespace('n'));
  await complete();
  const before = cluster.get(ACCOUNT)?.metadata.uid;
  await cluster.delete(ACCOUNT);
  await cluster.until(() => !!cluster.get(ACCOUNT) && cluster.get(ACCOUNT)?.metadata.uid !== before);
  await cluster.delete(BUNDLE);
  await complete();
  await cluster.merge(BUNDLE, { data: { 'ca.crt': 'EVIL', more: 'x' } });
  await complete();
  expect(cluster.get(BUNDLE)?.data).toEqual({ 'ca.crt': 'THE CA' });
});

test('nothing is written once all is right', async () => {
  cluster.start(namespaceDefaults);
  await cluster.create(namespace('n'));
  await complete();
  await cluster.settle();
  const { rv } = cluster.context.store;
  await cluster.merge(namespace('n'), { metadata: { labels: { a: 'b' } } });
  await cluster.settle();
  expect(cluster.context.store.rv).toBe(rv + 1);
});

test('a namespace that is being deleted gets nothing back', async () => {
  cluster.start(namespaceDefaults);
  await cluster.create(namespace('n'));
  await complete();
  await cluster.merge(namespace('n'), { metadata: { finalizers: ['test/hold'] } });
  await cluster.delete(namespace('n'));
  await cluster.delete(ACCOUNT);
  await cluster.settle();
  expect(cluster.get(ACCOUNT)).toBeUndefined();
  expect(cluster.warnings).toEqual([]);
});
