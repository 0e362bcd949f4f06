import { afterEach, beforeEach, expect, it } from 'vitest';
import { pod, VirtualTestCluster } from '../simulation.fixture.ts';

let cluster: VirtualTestCluster;
beforeEach(async () => {
  cluster = await VirtualTestCluster.start(1);
});
afterEach(() => cluster.close());

it('brings a pod up as a kubelet reports it', async () => {
  await cluster.create(pod('web'));
  const creating = await cluster.podWhen('web', ({ status }) => Boolean(status?.startTime));
  expect(creating.status.containerStatuses[0].state).toEqual({ waiting: { reason: 'ContainerCreating' } });
  const { status, metadata } = await cluster.phase('web', 'Running');
  expect(status).toMatchObject({
    observedGeneration: metadata.generation,
    hostIP: '172.18.0.2',
    hostIPs: [{ ip: '172.18.0.2' }],
    podIP: '10.244.0.2',
    podIPs: [{ ip: '10.244.0.2' }],
    qosClass: 'BestEffort',
  });
  expect(status.conditions.map((c: { type: string; status: string }) => `${c.type}=${c.status}`)).toEqual([
    'PodReadyToStartContainers=True',
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ]);
  expect(status.containerStatuses[0]).toMatchObject({
    ready: true,
    started: true,
    image: 'docker.io/library/nginx:latest',
  });
});

it('runs init containers first', async () => {
  await cluster.create(pod('init', { initContainers: [{ name: 'i', image: 'busybox' }] }));
  const before = await cluster.podWhen('init', ({ status }) => Boolean(status?.startTime));
  expect(before.status.containerStatuses[0].state.waiting.reason).toBe('PodInitializing');
  const { status } = await cluster.phase('init', 'Running');
  expect(status.initContainerStatuses[0].state.terminated.reason).toBe('Completed');
});

it('never starts what cannot be pulled', async () => {
  await cluster.create(pod('typo', { containers: [{ name: 'c', image: 'webserver:404' }] }));
  const { status } = await cluster.podWhen(
    'typo',
    (p) => p.status?.containerStatuses?.[0]?.state.waiting?.reason === 'ImagePullBackOff',
  );
  expect(status.phase).toBe('Pending');
});

it('waits for the configuration a pod needs', async () => {
  const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } }];
  await cluster.create(pod('needy', { containers: [{ name: 'c', image: 'nginx', env }] }));
  await cluster.podWhen(
    'needy',
    (p) => p.status?.containerStatuses?.[0]?.state.waiting?.reason === 'CreateContainerConfigError',
  );
  await cluster.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default' },
    data: { a: '1' },
  });
  await cluster.phase('needy', 'Running');
});

it('ends pods at their deadline', async () => {
  await cluster.create(pod('brief', { activeDeadlineSeconds: 5 }));
  await cluster.phase('brief', 'Running');
  cluster.clock.advance(6000);
  const { status } = await cluster.phase('brief', 'Failed');
  expect(status.reason).toBe('DeadlineExceeded');
});

it('starts what crashes again, with pauses', async () => {
  await cluster.create(
    pod('crash', { containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'exit 2'] }] }),
  );
  const waiting = (p: { status?: { containerStatuses?: { state: { waiting?: { reason: string } } }[] } }) =>
    p.status?.containerStatuses?.[0]?.state.waiting?.reason === 'CrashLoopBackOff';
  const { status } = await cluster.podWhen('crash', waiting as never);
  expect(status.phase).toBe('Running');
  expect(status.containerStatuses[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 2 } } });
  cluster.clock.advance(11_000);
  await cluster.podWhen('crash', (p) => p.status.containerStatuses[0].restartCount === 2);
});

it('ends as restartPolicy says', async () => {
  const run = (name: string, restartPolicy: string, ...command: string[]) =>
    cluster.create(pod(name, { restartPolicy, containers: [{ name: 'c', image: 'busybox', command }] }));
  await run('good', 'Never', 'true');
  await run('bad', 'Never', 'false');
  await run('slow', 'OnFailure', 'sleep', '3');
  await cluster.phase('good', 'Succeeded');
  await cluster.phase('bad', 'Failed');
  await cluster.phase('slow', 'Running');
  cluster.clock.advance(3000);
  await cluster.phase('slow', 'Succeeded');
});

it('keeps the pace that kwok annotations ask for', async () => {
  const annotations = { 'pod-ready.stage.kwok.x-k8s.io/delay': '30s' };
  await cluster.create(pod('slow', {}, { annotations }));
  await cluster.podWhen('slow', ({ status }) => Boolean(status?.startTime));
  cluster.clock.advance(20_000);
  await cluster.settle();
  expect(cluster.pod('slow')?.status.phase).toBe('Pending');
  cluster.clock.advance(10_000);
  await cluster.phase('slow', 'Running');
});

it('follows changes of the spec', async () => {
  await cluster.create(pod('web'));
  const { spec } = await cluster.phase('web', 'Running');
  await cluster.merge(pod('web'), { spec: { containers: [{ ...spec.containers[0], image: 'nginx:2' }] } });
  const { status, metadata } = await cluster.podWhen('web', (p) => p.status.containerStatuses[0].restartCount === 1);
  expect(status.observedGeneration).toBe(metadata.generation);
  expect(status.containerStatuses[0].image).toBe('docker.io/library/nginx:2');
});

it('finishes deletions', async () => {
  await cluster.create(pod('web'));
  await cluster.phase('web', 'Running');
  await cluster.delete(pod('web'));
  await cluster.until(() => cluster.pod('web') === undefined);
});
