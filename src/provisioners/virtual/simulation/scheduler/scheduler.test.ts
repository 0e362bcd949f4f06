import { afterEach, beforeEach, expect, it } from 'vitest';
import { asking, message, pod, VirtualTestCluster } from '../simulation.fixture.ts';

let cluster: VirtualTestCluster;
beforeEach(async () => {
  cluster = await VirtualTestCluster.start();
});
afterEach(() => cluster.close());

it('spreads pods over nodes, the emptiest first', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await cluster.create(pod(name, asking('1')));
  for (const name of ['a', 'b', 'c', 'd']) await cluster.phase(name, 'Running');
  const nodes = cluster.pods.map(({ spec }) => spec.nodeName).sort();
  expect(nodes).toEqual(['t-node-0', 't-node-0', 't-node-1', 't-node-1']);
});

it('says what is missing, and looks again when it comes', async () => {
  await cluster.create(pod('large', asking('9')));
  const waiting = await cluster.podWhen('large', (p) => message(p, 'PodScheduled') !== '');
  expect(message(waiting, 'PodScheduled')).toBe(
    '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  );
  const node = cluster.all('Node', 'v1')[0];
  if (!node) throw new Error('no node');
  await cluster.merge(node, { status: { allocatable: { cpu: '16' }, capacity: { cpu: '16' } } }, 'status');
  const running = await cluster.phase('large', 'Running');
  expect(running.spec.nodeName).toBe('t-node-0');
});

it('waits for scheduling gates and leaves other schedulers alone', async () => {
  await cluster.create(pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] }));
  await cluster.create(pod('foreign', { schedulerName: 'other' }));
  await cluster.settle();
  expect(cluster.pod('gated')?.spec.nodeName).toBeUndefined();
  expect(cluster.pod('foreign')?.spec.nodeName).toBeUndefined();
  await cluster.merge(pod('gated'), { spec: { schedulingGates: null } });
  await cluster.phase('gated', 'Running');
});

it('keeps pods apart and together as they ask', async () => {
  const term = (app: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' });
  const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('x')] } };
  for (const name of ['x-0', 'x-1', 'x-2'])
    await cluster.create(pod(name, { affinity: apart }, { labels: { app: 'x' } }));
  const left = await cluster.podWhen('x-2', (p) => message(p, 'PodScheduled') !== '');
  expect(message(left, 'PodScheduled')).toContain("2 node(s) didn't match pod anti-affinity rules");
  const one = await cluster.phase('x-0', 'Running');
  const two = await cluster.phase('x-1', 'Running');
  expect(one.spec.nodeName).not.toBe(two.spec.nodeName);
  await cluster.merge(one, { metadata: { labels: { first: 'yes' } } });
  const near = { labelSelector: { matchLabels: { first: 'yes' } }, topologyKey: 'kubernetes.io/hostname' };
  const together = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
  await cluster.create(pod('friend', { affinity: together }));
  const friend = await cluster.phase('friend', 'Running');
  expect(friend.spec.nodeName).toBe(one.spec.nodeName);
});

it('does not give a host port out twice on a node', async () => {
  const spec = { containers: [{ name: 'c', image: 'nginx', ports: [{ containerPort: 80, hostPort: 8080 }] }] };
  for (const name of ['p-0', 'p-1', 'p-2']) await cluster.create(pod(name, spec));
  const left = await cluster.podWhen('p-2', (p) => message(p, 'PodScheduled') !== '');
  expect(message(left, 'PodScheduled')).toContain("2 node(s) didn't have free ports for the requested pod ports");
});

it('makes room for the more important, at the cost of the least important', async () => {
  for (const [name, value] of Object.entries({ low: 10, high: 1000 })) {
    await cluster.create({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value });
  }
  await cluster.create(pod('keep-0', { ...asking('7'), priorityClassName: 'high' }));
  await cluster.phase('keep-0', 'Running');
  await cluster.create(pod('victim', { ...asking('7'), priorityClassName: 'low' }));
  await cluster.phase('victim', 'Running');
  const where = cluster.pod('victim')?.spec.nodeName;
  await cluster.create(pod('urgent', { ...asking('7'), priorityClassName: 'high' }));
  const urgent = await cluster.phase('urgent', 'Running');
  expect(urgent.spec.nodeName).toBe(where);
  expect(cluster.pod('victim')).toBeUndefined();
  expect(cluster.pod('keep-0')?.status.phase).toBe('Running');
  await cluster.until(() => cluster.all('Event', 'v1').some(({ reason }) => reason === 'Preempted'));
});

it('spreads over a topology when told not to skew', async () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 's' } },
  };
  const [first] = cluster.all('Node', 'v1');
  if (!first) throw new Error('no node');
  for (const name of ['s-0', 's-1']) {
    await cluster.create(pod(name, { topologySpreadConstraints: [constraint] }, { labels: { app: 's' } }));
    await cluster.phase(name, 'Running');
  }
  await cluster.merge(first, { spec: { unschedulable: true } });
  await cluster.until(() => cluster.get(first)?.spec.taints?.length === 1);
  for (const name of ['s-2', 's-3']) {
    await cluster.create(pod(name, { topologySpreadConstraints: [constraint] }, { labels: { app: 's' } }));
  }
  await cluster.phase('s-2', 'Running');
  const left = await cluster.podWhen('s-3', (p) => message(p, 'PodScheduled') !== '');
  expect(message(left, 'PodScheduled')).toMatch(
    /1 node\(s\) didn't match pod topology spread constraints, 1 node\(s\) were unschedulable/,
  );
});
