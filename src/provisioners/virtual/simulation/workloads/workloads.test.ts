import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/object.ts';
import { deployment, pod, VirtualTestCluster } from '../simulation.fixture.ts';
import { readIndexes, writeIndexes } from './job-indexes.ts';

let cluster: VirtualTestCluster;
beforeEach(async () => {
  cluster = await VirtualTestCluster.start();
});
afterEach(() => cluster.close());

const available = (object: KubeObject, count: number) =>
  cluster.until(() => {
    const found = cluster.get(object);
    const status = found?.status;
    return status?.observedGeneration === found?.metadata.generation && (status?.availableReplicas ?? 0) === count;
  }, `${object.metadata.name} has ${count} available`);

const job = (name: string, spec: object, template: object = {}): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'default' },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }], ...template } },
    ...spec,
  },
});

const condition = (object: KubeObject, type: string) =>
  cluster.get(object)?.status?.conditions?.find((c: { type: string }) => c.type === type);

it('never has fewer or more pods than a rollout allows', async () => {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  const web = deployment('web', 4, { strategy: { type: 'RollingUpdate', rollingUpdate } });
  await cluster.create(web);
  await available(web, 4);
  const seen: number[] = [];
  const stop = cluster.context.store.watch({ resource: '/pods', afterRv: cluster.context.store.rv }, () => {
    seen.push(cluster.pods.filter(({ metadata }) => !metadata.deletionTimestamp).length);
  });
  await cluster.merge(web, { spec: { template: { metadata: { labels: { v: '2' } } } } });
  await cluster.until(
    () => cluster.get(web)?.status?.updatedReplicas === 4 && cluster.get(web)?.status?.replicas === 4,
  );
  stop();
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(4);
  expect(Math.max(...seen)).toBeLessThanOrEqual(5);
  expect(condition(web, 'Progressing')?.reason).toBe('NewReplicaSetAvailable');
});

it('recreates only when the last old pod is gone', async () => {
  const web = deployment('web', 2, { strategy: { type: 'Recreate' } });
  await cluster.create(web);
  await available(web, 2);
  let mixed = false;
  const stop = cluster.context.store.watch({ resource: '/pods', afterRv: cluster.context.store.rv }, () => {
    const versions = new Set(cluster.pods.map(({ metadata }) => metadata.labels?.v));
    mixed ||= versions.size > 1;
  });
  await cluster.merge(web, { spec: { template: { metadata: { labels: { v: '2' } } } } });
  await cluster.until(
    () => cluster.get(web)?.status?.updatedReplicas === 2 && cluster.get(web)?.status?.availableReplicas === 2,
  );
  stop();
  expect(mixed).toBe(false);
});

it('says when a rollout has missed its deadline', async () => {
  const web = deployment('web', 1, { progressDeadlineSeconds: 5 });
  web.spec.template.spec.containers[0].image = 'nginx:nonexistent';
  await cluster.create(web);
  await cluster.until(() => condition(web, 'Progressing') !== undefined);
  cluster.clock.advance(10_000);
  await cluster.until(() => condition(web, 'Progressing')?.reason === 'ProgressDeadlineExceeded');
});

it('adopts matching orphans and releases what no longer matches', async () => {
  const labels = { app: 'rc' };
  await cluster.create(pod('orphan', {}, { labels }));
  const controller: KubeObject = {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'rc', namespace: 'default' },
    spec: { replicas: 1, selector: labels, template: { metadata: { labels }, spec: pod('x').spec } },
  };
  await cluster.create(controller);
  await cluster.until(() => cluster.pod('orphan')?.metadata.ownerReferences?.[0]?.name === 'rc');
  expect(cluster.pods).toHaveLength(1);
  await cluster.merge(pod('orphan'), { metadata: { labels: { app: 'free' } } });
  await cluster.until(() => !cluster.pod('orphan')?.metadata.ownerReferences && cluster.pods.length === 2);
});

it('counts on from the revision of a ReplicaSet it adopts, however large', async () => {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'other' }] } };
  await cluster.create({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'adopted',
      namespace: 'default',
      labels,
      annotations: { 'deployment.kubernetes.io/revision': '3546343826724305832' },
    },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  const web = deployment('web', 1);
  await cluster.create(web);
  const revision = () => cluster.get(web)?.metadata.annotations?.['deployment.kubernetes.io/revision'];
  await cluster.until(() => revision() === '3546343826724305833');
});

it('updates a StatefulSet down to its partition', async () => {
  const labels = { app: 'db' };
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'db:1' }] } },
    },
  };
  await cluster.create(set);
  await available(set, 3);
  expect(cluster.pod('db-1')?.metadata.labels).toMatchObject({
    'statefulset.kubernetes.io/pod-name': 'db-1',
    'apps.kubernetes.io/pod-index': '1',
  });
  const image = (name: string) => cluster.pod(name)?.spec.containers[0].image;
  await cluster.merge(set, { spec: { template: { spec: { containers: [{ name: 'c', image: 'db:2' }] } } } });
  await cluster.until(() => image('db-2') === 'db:2' && cluster.get(set)?.status?.readyReplicas === 3);
  expect([image('db-0'), image('db-1')]).toEqual(['db:1', 'db:1']);
  // A member below the partition comes back as it was.
  await cluster.delete(pod('db-0'));
  await cluster.until(() => cluster.get(set)?.status?.readyReplicas === 3 && image('db-0') === 'db:1');
  await cluster.merge(set, { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
  await cluster.until(() => cluster.get(set)?.status?.currentRevision === cluster.get(set)?.status?.updateRevision);
  expect(['db-0', 'db-1', 'db-2'].map(image)).toEqual(['db:2', 'db:2', 'db:2']);
});

it('counts every pod of a Job once', async () => {
  const many = job('many', { completions: 7, parallelism: 3 });
  await cluster.create(many);
  for (let round = 0; round < 10; round++) {
    await new Promise((resolve) => setTimeout(resolve, 3));
    cluster.clock.advance(100);
    cluster.restart();
  }
  await cluster.until(() => condition(many, 'Complete') !== undefined);
  expect(cluster.get(many)?.status).toMatchObject({ succeeded: 7 });
  await cluster.until(() => cluster.pods.every(({ metadata }) => !metadata.finalizers));
  expect(cluster.pods).toHaveLength(7);
});

it('suspends and resumes a Job, and ends it when it fails too often', async () => {
  const paused = job('paused', { suspend: true });
  await cluster.create(paused);
  await cluster.until(() => condition(paused, 'Suspended')?.status === 'True');
  expect(cluster.pods).toHaveLength(0);
  await cluster.merge(paused, { spec: { suspend: false } });
  await cluster.until(() => condition(paused, 'Complete') !== undefined);
  const failing = job(
    'failing',
    { backoffLimit: 2 },
    { containers: [{ name: 'c', image: 'busybox', command: ['false'] }] },
  );
  await cluster.create(failing);
  await cluster.until(() => condition(failing, 'Failed') !== undefined);
  expect(condition(failing, 'Failed')).toMatchObject({ reason: 'BackoffLimitExceeded' });
  expect(cluster.get(failing)?.status.failed).toBe(3);
});

it('removes a Job when its time after the end is over', async () => {
  const brief = job('brief', { ttlSecondsAfterFinished: 60 });
  await cluster.create(brief);
  await cluster.until(() => condition(brief, 'Complete') !== undefined);
  cluster.clock.advance(61_000);
  await cluster.until(() => cluster.get(brief)?.metadata.deletionTimestamp !== undefined || !cluster.get(brief));
});

const podsOf = (name: string) => cluster.pods.filter(({ metadata }) => metadata.labels?.['job-name'] === name);
const failing = (exitCode: number) => ({
  containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', `exit ${exitCode}`] }],
});

it('ends a Job at once when its podFailurePolicy says so', async () => {
  const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }];
  const once = job('once', { podFailurePolicy: { rules } }, failing(42));
  await cluster.create(once);
  await cluster.until(() => condition(once, 'Failed'), 'the Job fails');
  expect(condition(once, 'Failed')).toMatchObject({ reason: 'PodFailurePolicy' });
  expect(condition(once, 'Failed').message).toMatch(
    /^Container c for pod default\/once-\w+ failed with exit code 42 matching FailJob rule at index 0$/,
  );
  expect(podsOf('once')).toHaveLength(1);
});

it('does not count failures that a podFailurePolicy ignores', async () => {
  const rules = [{ action: 'Ignore', onExitCodes: { operator: 'NotIn', values: [1] } }];
  const patient = job('patient', { backoffLimit: 0, podFailurePolicy: { rules } }, failing(7));
  await cluster.create(patient);
  await cluster.until(() => podsOf('patient').length >= 3, 'failed pods are replaced');
  expect(condition(patient, 'Failed')).toBeUndefined();
  expect(cluster.get(patient)?.status?.failed).toBeUndefined();
});

it('gives up an index that fails too often, and goes on with the others', async () => {
  const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
  const some = job('some', { ...indexed, backoffLimitPerIndex: 1 }, failing(1));
  await cluster.create(some);
  await cluster.until(() => condition(some, 'Failed'), 'the Job fails');
  expect(condition(some, 'Failed')).toMatchObject({ reason: 'FailedIndexes', message: 'Job has failed indexes' });
  expect(cluster.get(some)?.status).toMatchObject({ failedIndexes: '0-2', failed: 6 });
  const tries = podsOf('some').map(
    ({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'],
  );
  expect(tries.sort()).toEqual(['0', '0', '0', '1', '1', '1']);
});

it('stops when more indexes have failed than a Job can bear', async () => {
  const indexed = { completionMode: 'Indexed', completions: 5, parallelism: 1 };
  const few = job('few', { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }, failing(1));
  await cluster.create(few);
  await cluster.until(() => condition(few, 'Failed'), 'the Job fails');
  expect(condition(few, 'Failed').reason).toBe('MaxFailedIndexesExceeded');
  expect(cluster.get(few)?.status?.failedIndexes).toBe('0,1');
});

it('calls a Job complete when its successPolicy is met', async () => {
  const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 1 };
  const leader = job('leader', { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0,1' }] } });
  await cluster.create(leader);
  await cluster.until(() => condition(leader, 'Complete'), 'the Job completes');
  expect(condition(leader, 'SuccessCriteriaMet')).toMatchObject({
    reason: 'SuccessPolicy',
    message: 'Matched rules at index 0',
  });
  expect(cluster.get(leader)?.status).toMatchObject({ completedIndexes: '0,1', succeeded: 2 });
});

it('writes indexes in their short form', () => {
  for (const text of ['', '0', '0,1', '0-2', '1,3-5,7']) expect(writeIndexes(readIndexes(text))).toBe(text);
});
