import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import { bootstrapObjects } from './bootstrap-objects.ts';
import { clusterRoleAggregation } from './cluster-role-aggregation.ts';
import { eventTtl } from './event-ttl.ts';
import { startLoops } from './index.ts';
import { namespace, TestCluster } from './testing/test-cluster.ts';

let cluster: TestCluster;

beforeEach(() => {
  cluster = new TestCluster();
});
afterEach(() => cluster.close());

function role(name: string, labels: Record<string, string>, resource: string): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: [resource] }],
  };
}

function event(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'n' },
    involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' },
    reason: 'R',
    lastTimestamp: rfc3339(cluster.clock.now()),
  };
}

test('an aggregating role follows the roles its selectors match', async () => {
  await cluster.create(role('a', { team: 'x' }, 'pods'));
  cluster.start(clusterRoleAggregation);
  const sum = {
    ...role('sum', {}, 'x'),
    rules: [],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { team: 'x' } }] },
  };
  await cluster.create(sum);
  const resources = () => (cluster.get(sum)?.rules ?? []).flatMap((rule: { resources: string[] }) => rule.resources);
  await cluster.until(() => resources().join() === 'pods');
  const b = await cluster.create(role('b', { team: 'x' }, 'secrets'));
  await cluster.until(() => resources().join() === 'pods,secrets');
  await cluster.merge(b, { metadata: { labels: { team: 'y' } } });
  await cluster.until(() => resources().join() === 'pods');
});

test('events go an hour after they were last written, on one timer', async () => {
  await cluster.create(namespace('n'));
  cluster.start(eventTtl);
  expect(cluster.clock.pending).toBe(0);
  const old = await cluster.create(event('old'));
  await cluster.create(event('other'));
  expect(cluster.clock.pending).toBe(1);
  cluster.clock.advance(30 * 60_000);
  const young = await cluster.create(event('young'));
  await cluster.merge(old, { count: 2, lastTimestamp: rfc3339(cluster.clock.now()) });
  cluster.clock.advance(32 * 60_000);
  await cluster.until(() => cluster.context.store.count('/events') === 2);
  expect(cluster.get(young)).toBeDefined();
  expect(cluster.get(old)).toBeDefined();
  cluster.clock.advance(31 * 60_000);
  await cluster.until(() => cluster.context.store.count('/events') === 0);
  await cluster.until(() => cluster.clock.pending === 0);
});

test('events from before a restart keep their age', async () => {
  await cluster.create(namespace('n'));
  await cluster.create(event('old'));
  cluster.clock.advance(61 * 60_000);
  cluster.start(eventTtl);
  cluster.clock.advance(0);
  await cluster.until(() => cluster.context.store.count('/events') === 0);
});

test('the objects of a fresh cluster can all be created, and leave the loops nothing to do', async () => {
  const objects = bootstrapObjects({ rootCa: 'THE CA', clientCa: 'CLIENTS', address: '192.0.2.1', port: 6443, now: 0 });
  for (const object of objects) {
    await cluster.create(object);
    if (object.status) await cluster.merge(object, { status: object.status }, 'status');
  }
  expect(objects.length).toBeGreaterThan(160);
  const { rv } = cluster.context.store;
  const stop = startLoops(cluster.context);
  await cluster.settle();
  stop();
  expect(cluster.context.store.rv).toBe(rv);
  expect(cluster.warnings).toEqual([]);
  const service = cluster.get({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
  });
  expect(service?.spec.clusterIP).toBe('10.96.0.1');
});
