// What has to hold however often a tenant falls asleep in the middle of something.
import { afterEach, expect, it } from 'vitest';
import { deployment, pod, VirtualTestCluster } from './simulation.fixture.ts';

let cluster: VirtualTestCluster;
afterEach(() => cluster.close());

it('goes on where it stopped, and makes nothing twice', async () => {
  cluster = await VirtualTestCluster.start();
  await cluster.create(deployment('web', 5));
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setTimeout(resolve, round % 7));
    cluster.restart();
    if (round === 10)
      await cluster.merge(deployment('web', 5), { spec: { template: { metadata: { labels: { v: '2' } } } } });
  }
  await cluster.until(() => {
    const found = cluster.get(deployment('web', 5));
    const status = found?.status;
    return (
      status?.observedGeneration === found?.metadata.generation &&
      status?.updatedReplicas === 5 &&
      status?.availableReplicas === 5 &&
      status?.replicas === 5
    );
  });
  expect(cluster.pods.filter(({ metadata }) => metadata.labels?.v === '2')).toHaveLength(5);
  // Old pods no longer count as replicas while they end; they do end.
  await cluster.until(() => cluster.pods.length === 5);
  const addresses = new Set(cluster.pods.map(({ status }) => status.podIP));
  expect(addresses.size).toBe(5);
});

it('does nothing and waits for nothing when there is nothing to do', async () => {
  cluster = await VirtualTestCluster.start();
  await cluster.create(pod('web'));
  await cluster.phase('web', 'Running');
  await cluster.settle();
  const { rv } = cluster.context.store;
  const timers = cluster.clock.pending;
  cluster.clock.advance(3_600_000);
  await cluster.settle();
  expect(cluster.context.store.rv).toBe(rv);
  expect(timers).toBe(0);
});

it('adopts nodes that were made for kwok', async () => {
  cluster = await VirtualTestCluster.start(0);
  const annotations = { 'kwok.x-k8s.io/node': 'fake' };
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'kwok-0', annotations },
    status: { capacity: { cpu: '32' }, allocatable: { cpu: '32' } },
  });
  await cluster.create(pod('web'));
  const { spec } = await cluster.phase('web', 'Running');
  expect(spec.nodeName).toBe('kwok-0');
  expect(cluster.all('Node', 'v1')[0]?.status.capacity).toMatchObject({ cpu: '32', pods: '110' });
});

it('evicts from a node that is not ready, after what pods tolerate', async () => {
  cluster = await VirtualTestCluster.start();
  await cluster.create(deployment('web', 1));
  await cluster.until(() => cluster.pods[0]?.status?.phase === 'Running');
  const [first] = cluster.pods;
  const node = cluster.all('Node', 'v1').find(({ metadata }) => metadata.name === first?.spec.nodeName);
  if (!first || !node) throw new Error('no pod');
  const conditions = node.status.conditions.map((c: { type: string }) =>
    c.type === 'Ready' ? { ...c, status: 'Unknown' } : c,
  );
  await cluster.merge(node, { status: { conditions } }, 'status');
  await cluster.until(() => cluster.get(node)?.spec.taints?.length === 2);
  await cluster.until(() =>
    cluster.pods[0]?.status.conditions.some(
      (c: { type: string; status: string }) => c.type === 'Ready' && c.status === 'False',
    ),
  );
  cluster.clock.advance(200_000);
  await cluster.settle();
  expect(cluster.pods).toHaveLength(1);
  cluster.clock.advance(101_000);
  await cluster.until(() =>
    cluster.pods.some((p) => p.spec.nodeName !== node.metadata.name && p.status?.phase === 'Running'),
  );
  // Its kubelet does not answer: the old pod stays until the node is back or gone.
  expect(cluster.get(first)?.metadata.deletionTimestamp).toBeDefined();
  await cluster.delete(node);
  await cluster.until(() => cluster.get(first) === undefined);
});
