import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { TokenError } from '../auth/service-account-tokens.ts';
import { namespace, TestCluster } from './testing/test-cluster.ts';
import { tokenSecrets } from './token-secrets.ts';

let cluster: TestCluster;
const ACCOUNT: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa', namespace: 'n' } };
const SECRET: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name: 's', namespace: 'n', annotations: { 'kubernetes.io/service-account.name': 'sa' } },
};

beforeEach(async () => {
  cluster = new TestCluster();
  await cluster.create(namespace('n'));
  await cluster.create(ACCOUNT);
});
afterEach(() => cluster.close());

const text = (key: string) => Buffer.from(cluster.get(SECRET)?.data?.[key] ?? '', 'base64').toString();

test('a token secret is filled, works, and goes with its ServiceAccount', async () => {
  cluster.start(tokenSecrets);
  await cluster.create(SECRET);
  await cluster.until(() => text('token') !== '');
  expect(text('ca.crt')).toBe('THE CA');
  expect(text('namespace')).toBe('n');
  const token = text('token');
  expect(cluster.context.tokens.verify(token).identity.user).toBe('system:serviceaccount:n:sa');
  await cluster.delete(ACCOUNT);
  await cluster.until(() => cluster.get(SECRET) === undefined);
  expect(() => cluster.context.tokens.verify(token)).toThrow(TokenError);
});

test('one from before the start is filled, one without a ServiceAccount is removed', async () => {
  await cluster.create(SECRET);
  const lost = structuredClone(SECRET);
  lost.metadata = { ...lost.metadata, name: 'lost', annotations: { 'kubernetes.io/service-account.name': 'nobody' } };
  await cluster.create(lost);
  cluster.start(tokenSecrets);
  await cluster.until(() => text('token') !== '' && cluster.get(lost) === undefined);
});

test('deleting the secret ends its token', async () => {
  cluster.start(tokenSecrets);
  await cluster.create(SECRET);
  await cluster.until(() => text('token') !== '');
  const token = text('token');
  await cluster.delete(SECRET);
  expect(() => cluster.context.tokens.verify(token)).toThrow('invalidated');
});

test('a secret of an earlier ServiceAccount of the same name is removed', async () => {
  const stale = structuredClone(SECRET);
  stale.metadata.annotations = { ...stale.metadata.annotations, 'kubernetes.io/service-account.uid': 'another' };
  await cluster.create(stale);
  cluster.start(tokenSecrets);
  await cluster.until(() => cluster.get(SECRET) === undefined);
});
