import { expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { KubeError, type ObjectStore, type ResourceRef } from '../../kube/index.ts';
import { diagnose } from './diagnosis.ts';

const place = { name: 'team', namespace: 'vcluster-team' };
const object = (kind: string, more: object): KubeObject => ({ apiVersion: 'v1', kind, metadata: {}, ...more });
const pod = (status: object): KubeObject => ({ ...object('Pod', { status }), metadata: { name: 'team-0' } });

/** Knows the objects it is given, by kind. */
function hostWith(objects: KubeObject[]): ObjectStore {
  const of = ({ kind }: ResourceRef) => objects.filter((o) => o.kind === kind);
  return {
    get: async (resource: ResourceRef) => {
      const [found] = of(resource);
      if (!found) throw new KubeError({ code: 404 });
      return found;
    },
    list: async (resource: ResourceRef) => ({ items: of(resource) }),
  } as unknown as ObjectStore;
}

const why = (objects: KubeObject[], status?: object, ageMs = 60_000) =>
  diagnose(hostWith(objects), place, { pod: status && pod(status), ageMs });
const waiting = (reason: string, message = '') => ({
  containerStatuses: [{ name: 'syncer', state: { waiting: { reason, message } } }],
});
const unschedulable = { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] };
const event = (message: string, reason = 'X') => object('Event', { message, reason, lastTimestamp: '2030-01-01' });

it('waits for a pod that is not there yet, and says why the host makes none', async () => {
  expect(await why([])).toMatchObject({ isStuck: false, reason: 'CreatingPod' });
  const quota = 'create Pod team-0 failed: exceeded quota: small';
  expect(await why([event(quota)])).toMatchObject({
    isStuck: true,
    reason: 'QuotaExceeded',
    message: expect.stringContaining(quota),
  });
});

it('names an image that cannot be pulled', async () => {
  const answer = await why([], waiting('ErrImagePull', 'no such image x'));
  expect(answer).toMatchObject({
    isStuck: true,
    reason: 'ImagePullFailed',
    message: expect.stringContaining('no such image x'),
  });
});

it('gives the last line of a control plane that ends again and again', async () => {
  const terminated = { exitCode: 1, message: 'starting\nfatal: unknown field "nonsense"\n' };
  const status = {
    name: 'syncer',
    restartCount: 3,
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated },
  };
  expect(await why([], { containerStatuses: [status] })).toMatchObject({
    isStuck: true,
    reason: 'CrashLoopBackOff',
    message: 'syncer ended with 1 (3 restarts): fatal: unknown field "nonsense"',
    output: ['starting', 'fatal: unknown field "nonsense"'],
  });
});

it('tells a host without a default storage class from one whose volume is on its way', async () => {
  const claim = (spec: object) => object('PersistentVolumeClaim', { spec, status: { phase: 'Pending' } });
  expect(await why([claim({})], unschedulable)).toMatchObject({ isStuck: true, reason: 'NoStorageClass' });
  const fast = object('StorageClass', {});
  expect(await why([claim({ storageClassName: 'fast' }), fast], unschedulable)).toMatchObject({
    isStuck: false,
    reason: 'WaitingForVolume',
  });
  expect(await why([claim({ storageClassName: 'none' })], unschedulable)).toMatchObject({
    isStuck: true,
    message: expect.stringContaining('there is no StorageClass none'),
  });
});

it('gives scheduling a while before it calls a pod stuck', async () => {
  expect(await why([], unschedulable, 1000)).toMatchObject({ isStuck: false, reason: 'Unschedulable' });
  expect(await why([], unschedulable)).toMatchObject({ isStuck: true, message: expect.stringContaining('0/1 nodes') });
});

it('says which part of the start is under way', async () => {
  const running = { state: { running: {} } };
  expect(await why([], { initContainerStatuses: [running] })).toMatchObject({ reason: 'CopyingBinaries' });
  expect(await why([], { containerStatuses: [running] })).toMatchObject({ reason: 'Starting' });
});
