import { afterEach, beforeEach, expect, it } from 'vitest';
import { pod, VirtualTestCluster } from '../simulation.fixture.ts';
import { delayOf } from './stage.ts';

let cluster: VirtualTestCluster;
beforeEach(async () => {
  cluster = await VirtualTestCluster.start(1);
});
afterEach(() => cluster.close());

const annotations = (stage: string, values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${stage}.stage.kwok.x-k8s.io/${name}`, value]));

it('waits somewhere between delay and jitter, for each pod always as long', () => {
  const asked = (uid: string, values: Record<string, string>) =>
    delayOf({ ...pod('x'), metadata: { name: 'x', uid, annotations: annotations('pod-ready', values) } }, 'pod-ready');
  const times = Array.from({ length: 50 }, (_, n) => asked(`uid-${n}`, { delay: '2s', 'jitter-delay': '4s' }));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(2000);
  expect(Math.max(...times)).toBeLessThan(4000);
  expect(new Set(times).size).toBeGreaterThan(40);
  expect(asked('uid-7', { delay: '2s', 'jitter-delay': '4s' })).toBe(times[7]);
  // As kwok has it: a jitter below the delay is the delay.
  expect(asked('uid-1', { delay: '4s', 'jitter-delay': '3s' })).toBe(3000);
  expect(asked('uid-1', { delay: 'soon', 'jitter-delay': 'later' })).toBe(100);
});

it('creates pods and runs their init containers as long as they are told to', async () => {
  const told = {
    ...annotations('pod-create', { delay: '20s' }),
    ...annotations('pod-init-container-completed', { delay: '30s' }),
  };
  await cluster.create(pod('slow', { initContainers: [{ name: 'i', image: 'busybox' }] }, { annotations: told }));
  await cluster.podWhen('slow', ({ status }) => Boolean(status?.startTime));
  cluster.clock.advance(21_000);
  const { status } = await cluster.podWhen('slow', (p) => p.status.initContainerStatuses[0].state.running);
  expect(status.phase).toBe('Pending');
  cluster.clock.advance(31_000);
  await cluster.phase('slow', 'Running');
});

it('fails a running pod that has the label for it, as its annotations say', async () => {
  const stage = 'pod-container-running-failed';
  const containers = ['web', 'side'].map((name) => ({ name, image: 'nginx' }));
  const told = annotations(stage, {
    delay: '10s',
    'container-name': 'web',
    'exit-code': '42',
    reason: 'Chaos',
    message: 'as asked',
  });
  await cluster.create(
    pod('doomed', { containers }, { annotations: told, labels: { [`${stage}.stage.kwok.x-k8s.io`]: 'true' } }),
  );
  await cluster.phase('doomed', 'Running');
  cluster.clock.advance(5000);
  await cluster.settle();
  expect(cluster.pod('doomed')?.status.phase).toBe('Running');
  cluster.clock.advance(6000);
  const { status } = await cluster.phase('doomed', 'Failed');
  const [web, side] = status.containerStatuses;
  expect(web.state.terminated).toMatchObject({ exitCode: 42, reason: 'Chaos', message: 'as asked' });
  expect(side.state.terminated.exitCode).toBe(137);
  expect(status.conditions.find((c: { type: string }) => c.type === 'Ready').status).toBe('False');
});

it('fails a pod in its init containers', async () => {
  const stage = 'pod-init-container-running-failed';
  const labels = { [`${stage}.stage.kwok.x-k8s.io`]: 'true' };
  await cluster.create(pod('doomed', { initContainers: [{ name: 'i', image: 'busybox' }] }, { labels }));
  await cluster.podWhen('doomed', (p) => Boolean(p.status?.startTime));
  cluster.clock.advance(2000);
  const { status } = await cluster.phase('doomed', 'Failed');
  expect(status.initContainerStatuses[0].state.terminated).toMatchObject({
    exitCode: 1,
    reason: 'initContainerError',
  });
  expect(status.containerStatuses[0].state.waiting.reason).toBe('PodInitializing');
});

it('makes a pod fail that gets the label while it runs', async () => {
  await cluster.create(pod('web'));
  await cluster.phase('web', 'Running');
  const labels = { 'pod-container-running-failed.stage.kwok.x-k8s.io': 'true' };
  await cluster.merge(pod('web'), { metadata: { labels } });
  cluster.clock.advance(2000);
  const { status } = await cluster.phase('web', 'Failed');
  expect(status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 1, reason: 'containerFailed' });
});
