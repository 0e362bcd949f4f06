// What goes wrong and what changes, on scripts in place of k3d and Docker; what goes right is the conformance suite.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sleep, systemClock } from '../../clock.ts';
import * as settle from '../docker-cluster/testing/settle.ts';
import type { ClusterRequest, Progress } from '../provisioner.ts';
import type { K3dSpec } from './config.ts';
import type { K3dProvisioner } from './k3d-provisioner.ts';
import { FakeWorld } from './testing/fake-world.ts';

let world: FakeWorld;
let k3d: K3dProvisioner;
const wanted: ClusterRequest<K3dSpec> = {
  id: 'u-1',
  name: 'dev',
  spec: { clusterName: 'dev', agents: 1 },
  resolved: { image: 'rancher/k3s:v1.35.0-k3s1' },
  initialized: false,
};
const kept = (spec: Partial<K3dSpec> = {}) => ({ ...wanted, spec: { ...wanted.spec, ...spec }, initialized: true });
beforeEach(() => {
  world = new FakeWorld();
  k3d = world.provisioner();
});
afterEach(() => world.close());

const until = (phase: Progress['phase'], request = wanted) => settle.until(k3d, phase, request);
const gone = () => settle.gone(k3d, wanted);

it('says what k3d said when it failed, tries again, and gets there when the trouble is over', async () => {
  world.set('fail', 'time="x" level=error msg="Bind for 127.0.0.1:6550 failed: port is already allocated"\n');
  k3d = world.provisioner({ retryMs: 300 });
  const blocked = await until('blocked');
  expect(blocked).toMatchObject({ reason: 'PortTaken', next: expect.stringContaining('free the port') });
  expect(blocked.transcript).toMatchObject({
    title: 'k3d: make dev',
    text: expect.stringContaining('already allocated'),
  });
  world.set('fail', undefined);
  await until('ready');
});

it('goes on when Docker dies in the middle of a create, and when it is back', async () => {
  world.set('delay', '0.2');
  await k3d.ensure(wanted);
  await sleep(systemClock, 300);
  world.set('down', '');
  expect(await until('blocked')).toMatchObject({
    reason: 'DockerUnreachable',
    next: expect.stringContaining('start Docker'),
  });
  expect(await k3d.remove(wanted)).toMatchObject({ isDone: false, reason: 'DockerUnreachable' });
  world.set('down', undefined);
  world.set('delay', undefined);
  await until('ready');
  expect((await gone()).sort()).toEqual([
    'container k3d-dev-agent-0',
    'container k3d-dev-server-0',
    'network k3d-dev',
    'volume k3d-dev-images',
  ]);
  expect(world.leftovers()).toEqual([]);
});

it('keeps nothing secret on disk once the cluster is made: no configuration, no copies of it', async () => {
  const registryConfig = 'configs: { r: { auth: { password: hidden-word } } }';
  await until('ready', { ...wanted, access: { registryConfig } });
  const files = readdirSync(world.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    expect(readFileSync(file, 'utf8'), file).not.toContain('hidden-word');
    expect(statSync(file).mode & 0o077, file).toBe(0);
  }
});

it('refuses a name whose network or volume somebody else has, and touches neither', async () => {
  world.put('networks', 'k3d-dev', 'theirs');
  expect(await k3d.ensure(wanted)).toMatchObject({
    phase: 'refused',
    reason: 'NameTaken',
    next: expect.stringContaining('docker network rm k3d-dev'),
  });
  expect(await gone()).toEqual([]);
  expect(world.networks()).toEqual(['k3d-dev']);
  world.run('docker', 'network', 'rm', 'k3d-dev');
  world.put('volumes', 'k3d-dev-images', '');
  expect(await k3d.ensure(wanted)).toMatchObject({
    phase: 'refused',
    message: expect.stringContaining('k3d-dev-images'),
  });
});

it('starts what was stopped, makes lost agents again, reports a lost server, makes anew what is gone whole', async () => {
  await until('ready');
  world.run('docker', 'stop', '--time', '1', 'k3d-dev-server-0');
  expect(await k3d.ensure(kept())).toMatchObject({ phase: 'working', reason: 'Starting' });
  await until('ready', kept());
  expect(world.stateOf('k3d-dev-server-0')).toBe('running');
  world.drop('k3d-dev-agent-0');
  world.staleNodes.add('k3d-dev-agent-0').add('k3d-dev-server-0');
  const healed = await until('ready', kept());
  expect(healed.cluster?.nodes.map((node) => node.name)).toEqual(['k3d-dev-agent-1-0', 'k3d-dev-server-0']);
  expect([...world.staleNodes]).toEqual(['k3d-dev-server-0']);
  expect(healed.transcript?.title).toBe('k3d: adding agents of dev');
  world.drop('k3d-dev-server-0');
  expect(await k3d.ensure(kept())).toMatchObject({ phase: 'blocked', reason: 'NodeLost' });
  world.drop('k3d-dev-agent-1-0');
  await until('ready', kept());
  expect(world.containers()).toEqual(['k3d-dev-agent-0', 'k3d-dev-server-0']);
});

it('takes the youngest agents away, and gives the next ones names that nobody had', async () => {
  await until('ready');
  await until('ready', kept({ agents: 3 }));
  expect(world.containers()).toEqual(['k3d-dev-agent-0', 'k3d-dev-agent-3-0', 'k3d-dev-agent-3-1', 'k3d-dev-server-0']);
  await until('ready', kept({ agents: 1 }));
  expect(world.containers()).toEqual(['k3d-dev-agent-0', 'k3d-dev-server-0']);
  await until('ready', kept({ agents: 2 }));
  expect(world.containers()).toContain('k3d-dev-agent-4-0');
  world.drop('k3d-dev-agent-4-0');
  await until('ready', kept({ agents: 2 }));
  expect(world.containers()).toContain('k3d-dev-agent-5-0');
});

it('says why agents could not be added, waits, and adds them when it can', async () => {
  await until('ready');
  world.set('fail', 'time="x" level=fatal msg="write /x: no space left on device"\n');
  k3d = world.provisioner({ retryMs: 300 });
  const more = kept({ agents: 2 });
  expect(await until('blocked', more)).toMatchObject({
    reason: 'DiskFull',
    message: expect.stringContaining('k3d node create'),
  });
  world.set('fail', undefined);
  await until('ready', more);
});

it('puts images into all nodes, again when they change or a node comes, and says which are missing', async () => {
  const images = ['mine/app:1'];
  const first = { ...wanted, spec: { ...wanted.spec, images } };
  expect(await until('blocked', first)).toMatchObject({
    reason: 'ImageUnavailable',
    message: expect.stringContaining('mine/app:1'),
  });
  world.put('images', 'mine/app:1', 'sha256:one');
  await until('ready', first);
  const imported = () => JSON.parse(readFileSync(join(world.home, 'u-1', 'images.json'), 'utf8'))['mine/app:1'];
  await until('ready', kept({ images }));
  expect(imported()).toEqual({ id: 'sha256:one', nodes: ['k3d-dev-agent-0', 'k3d-dev-server-0'] });
  world.put('images', 'mine/app:1', 'sha256:two');
  // In use already: it stays ready while the image comes.
  expect(await k3d.ensure(kept({ images }))).toMatchObject({ phase: 'ready' });
  for (const end = Date.now() + 10_000; imported().id !== 'sha256:two' && Date.now() < end; ) {
    expect(await k3d.ensure(kept({ images }))).toMatchObject({ phase: 'ready' });
    await sleep(systemClock, 20);
  }
  expect(imported().id).toBe('sha256:two');
  world.run('sh', '-c', 'rm "$FAKE_WORLD"/images/*');
  expect(await k3d.ensure(kept({ images })), 'what is in the nodes need not be here').toMatchObject({ phase: 'ready' });
});

it('ends work that is under way when it is suspended, and starts again with it', async () => {
  await until('ready');
  world.set('delay', '1');
  expect(await k3d.ensure(kept({ agents: 2 }))).toMatchObject({ reason: 'Scaling' });
  let progress = await k3d.suspend(kept());
  for (; progress.phase === 'working'; progress = await k3d.suspend(kept())) {
    expect(progress.reason).toBe('Suspending');
    await sleep(systemClock, progress.lookAgainMs ?? 0);
  }
  expect(progress, 'looked at once more').toMatchObject({ phase: 'suspended', lookAgainMs: 1000 });
  expect((await k3d.suspend(kept())).lookAgainMs).toBeUndefined();
  world.set('delay', undefined);
  expect(await k3d.observe(kept())).toMatchObject({ phase: 'suspended' });
  await until('ready', kept({ agents: 2 }));
  expect(world.containers()).toHaveLength(3);
});

it('removes what it made although its folder was lost: containers say whose the rest is', async () => {
  await until('ready');
  k3d = world.provisioner({ folder: `${world.folder}/other-home` });
  const [thing] = await k3d.inventory([]);
  expect(thing?.ref).toMatchObject({ id: 'u-1', name: 'dev' });
  expect(await gone()).toEqual([
    'container k3d-dev-agent-0',
    'container k3d-dev-server-0',
    'network k3d-dev',
    'volume k3d-dev-images',
  ]);
  expect(world.networks()).toEqual([]);
});

it('says that a changed spec needs a new cluster, and goes on with the old one', async () => {
  await until('ready');
  const changed = kept({ k3sArgs: [{ arg: '--disable=traefik' }] });
  expect((await until('ready', changed)).cluster?.outdated).toContain('k3d cannot change it in place');
  expect((await until('ready', kept({ agents: 2 }))).cluster?.outdated).toBeUndefined();
  expect(await k3d.upgrade(changed)).toMatchObject({ phase: 'refused', reason: 'RecreateRequired' });
});

it('resolves versions from what is on the machine', async () => {
  const dev = (wish: object) => ({ id: 'u1', name: 'dev', spec: { clusterName: 'dev', ...wish } });
  expect(await k3d.resolve(dev({ kubernetesVersion: '1.34' }))).toEqual({
    version: 'v1.34.3+k3s3',
    image: 'rancher/k3s:v1.34.3-k3s3',
  });
  expect(await k3d.resolve(dev({ image: 'mine/k3s:v1.33.1-k3s1' }))).toMatchObject({ version: 'v1.33.1+k3s1' });
  await expect(k3d.resolve(dev({ kubernetesVersion: '1.13' }))).rejects.toThrow('1.13 cannot be had');
});
