// What goes wrong, on scripts in place of kind and Docker; what goes right is the conformance suite.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sleep, systemClock } from '../../clock.ts';
import * as settle from '../docker-cluster/testing/settle.ts';
import type { ClusterRequest, Progress } from '../provisioner.ts';
import type { KindSpec } from './config.ts';
import type { KindProvisioner } from './kind-provisioner.ts';
import { FakeWorld } from './testing/fake-world.ts';

let world: FakeWorld;
let kind: KindProvisioner;
const wanted: ClusterRequest<KindSpec> = {
  id: 'u-1',
  name: 'dev',
  spec: { clusterName: 'dev', workerNodes: 1 },
  resolved: { image: 'kindest/node:v1.35.8' },
  initialized: false,
};
beforeEach(() => {
  world = new FakeWorld();
  kind = world.provisioner();
});
afterEach(() => world.close());

const until = (phase: Progress['phase'], request = wanted) => settle.until(kind, phase, request);
const gone = () => settle.gone(kind, wanted);

it('says what kind said when it failed, tries again, and gets there when the trouble is over', async () => {
  world.set('fail', 'ERROR: failed to create cluster: Bind for 0.0.0.0:80 failed: port is already allocated\n');
  kind = world.provisioner({ retryMs: 300 });
  const blocked = await until('blocked');
  expect(blocked).toMatchObject({ reason: 'PortTaken', next: expect.stringContaining('free the port') });
  expect(blocked.output?.join()).toContain('port is already allocated');
  world.set('fail', undefined);
  await until('ready');
});

it('says that Docker is down, while making and while removing, and goes on when it is back', async () => {
  world.set('down', '');
  expect(await kind.probe()).toMatchObject({ isUsable: false, why: expect.stringContaining('Docker does not answer') });
  expect(await kind.ensure(wanted)).toMatchObject({ phase: 'blocked', reason: 'DockerUnreachable' });
  // Nothing was ever made: a deletion need not wait for Docker.
  expect(await kind.remove(wanted)).toMatchObject({ isDone: true, reason: 'NothingMade' });
  world.set('down', undefined);
  await until('ready');
  world.set('down', '');
  expect(await kind.remove(wanted)).toMatchObject({ isDone: false, reason: 'DockerUnreachable', lookAgainMs: 10_000 });
  world.set('down', undefined);
  expect(await gone()).toEqual(['container dev-control-plane', 'container dev-worker', 'network kind']);
  expect(world.leftovers()).toEqual([]);
});

it('is not ready before the cluster says so itself', async () => {
  world.missing = ['cluster DNS is not available'];
  for (let i = 0; i < 200; i++) {
    const progress = await kind.ensure(wanted);
    if (progress.reason === 'WaitingForReady') {
      expect(progress).toMatchObject({ phase: 'working', message: 'cluster DNS is not available' });
      break;
    }
    expect(progress.phase).not.toBe('ready');
    await sleep(systemClock, 20);
  }
  // Docker is left alone in the meantime: that it is down is not even noticed.
  world.set('down', '');
  expect(await kind.ensure(wanted)).toMatchObject({ reason: 'WaitingForReady' });
  world.missing = [];
  expect(await kind.ensure(wanted)).toMatchObject({ phase: 'ready' });
  world.set('down', undefined);
});

it('starts what was stopped, reports what is gone, makes anew what is gone whole', async () => {
  await until('ready');
  const kept = { ...wanted, initialized: true };
  world.run('docker', 'stop', '--time', '1', 'dev-worker');
  expect(await kind.ensure(kept)).toMatchObject({ reason: 'Starting', message: expect.stringContaining('dev-worker') });
  expect(world.stateOf('dev-worker')).toBe('running');
  world.drop('dev-worker');
  expect(await kind.ensure(kept)).toMatchObject({ phase: 'blocked', reason: 'NodeLost' });
  world.drop('dev-control-plane');
  await until('ready', kept);
  expect(world.containers()).toEqual(['dev-control-plane', 'dev-worker']);
});

it('says that a changed spec needs a new cluster, and goes on with the old one', async () => {
  await until('ready');
  const changed = { ...wanted, spec: { ...wanted.spec, workerNodes: 3 }, initialized: true };
  const progress = await kind.ensure(changed);
  expect(progress.phase).toBe('ready');
  expect(progress.cluster?.outdated).toContain('kind cannot change it in place');
  expect(await kind.upgrade(changed)).toMatchObject({ phase: 'refused', reason: 'RecreateRequired' });
});

it('leaves a network alone that was there before', async () => {
  world.run('docker', 'ps', '-aq', '--filter', 'x');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${world.env.FAKE_WORLD}/networks/kind`, 'theirs');
  await until('ready');
  expect(await gone()).not.toContain('network kind');
  expect(world.networks()).toEqual(['kind']);
});

it('resolves versions from what is on the machine', async () => {
  const dev = (wish: object) => ({ id: 'u1', name: 'dev', spec: { clusterName: 'dev', ...wish } });
  expect(await kind.resolve(dev({ kubernetesVersion: '1.34' }))).toEqual({
    version: 'v1.34.10',
    image: 'kindest/node:v1.34.10',
  });
  expect(await kind.resolve(dev({ image: 'mine/node:v1.33.1' }))).toEqual({
    version: 'v1.33.1',
    image: 'mine/node:v1.33.1',
  });
  await expect(kind.resolve(dev({ kubernetesVersion: '1.13' }))).rejects.toThrow('1.13 cannot be had');
});

it('does not stop several control planes, which might not find each other again', async () => {
  const several = { ...wanted, spec: { clusterName: 'dev', controlPlaneNodes: 3 } };
  await until('ready', several);
  expect(await kind.suspend(several)).toMatchObject({ phase: 'refused', reason: 'CannotSuspend' });
  expect(await kind.observe(several)).toMatchObject({ phase: 'ready' });
  await gone();
});
