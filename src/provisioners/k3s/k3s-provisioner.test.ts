import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
// What the suite of all provisioners does not ask, on a machine that is a folder (`testing/sandbox-host.ts`).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../clock.ts';
import type { ClusterRequest, Progress, Removal } from '../provisioner.ts';
import type { K3sSpec } from './config.ts';
import { Sandbox } from './testing/sandbox-host.ts';

const LONG = { timeout: 300_000 };
const HOME = 'var/lib/rookery/k3s';
const IMAGES = 'var/lib/rancher/k3s/agent/images';
let machine: Sandbox;
beforeEach(() => {
  machine = new Sandbox();
});
afterEach(() => machine.close());

async function request(change: Partial<K3sSpec> = {}): Promise<ClusterRequest<K3sSpec>> {
  const ref = { id: 'uid-1', name: '192.0.2.7:22', spec: { ...machine.spec(), ...change } };
  return { ...ref, resolved: await machine.provisioner().resolve(ref), initialized: false };
}

async function until(ask: () => Promise<Progress>, isWanted: (progress: Progress) => boolean): Promise<Progress> {
  for (let end = Date.now() + 120_000; ; ) {
    const progress = await ask();
    if (isWanted(progress)) return progress;
    if (Date.now() > end) throw new Error(JSON.stringify(progress, null, 2));
    await sleep(systemClock, 50);
  }
}

function ready(wanted: ClusterRequest<K3sSpec>): Promise<Progress> {
  const provisioner = machine.provisioner();
  return until(
    () => provisioner.ensure(wanted),
    ({ phase }) => phase === 'ready',
  );
}

async function gone(wanted: ClusterRequest<K3sSpec>): Promise<Removal> {
  for (;;) {
    const removal = await machine.provisioner().remove(wanted);
    if (removal.isDone) return removal;
    await sleep(systemClock, 50);
  }
}

describe('a machine that cannot have it', () => {
  it.each([
    ['var/lib/kubelet/config.yaml', 'node of kubeadm'],
    ['etc/systemd/system/k3s.service', 'another installation'],
    ['etc/rancher/k3s/k3s.yaml', 'another k3s'],
    ['var/lib/rancher/k3s/server/db', 'not empty'],
  ])('is refused with %s, and nothing is changed', LONG, async (file, why) => {
    machine.write(file, 'theirs');
    const answer = await machine.provisioner().ensure(await request());
    expect(answer).toMatchObject({ phase: 'refused', reason: 'HostInUse', message: expect.stringContaining(why) });
    expect(machine.read(`${HOME}/owner.json`)).toBeUndefined();
  });

  it('is refused without root, and without systemd where that is asked for', LONG, async () => {
    machine.write('uid', '1000');
    expect(await machine.provisioner().ensure(await request())).toMatchObject({ phase: 'refused', reason: 'NotRoot' });
    machine.remove('uid');
    const wanted = await request({ supervision: 'systemd' });
    expect(await machine.provisioner().ensure(wanted)).toMatchObject({ phase: 'refused', reason: 'NoSystemd' });
  });

  it('is waited for when it does not answer; deleted, it is let go if nothing was made', LONG, async () => {
    const wanted = await request();
    machine.isDown = true;
    expect(await machine.provisioner().ensure(wanted)).toMatchObject({ phase: 'blocked', reason: 'HostTimeout' });
    expect(await machine.provisioner().remove(wanted)).toMatchObject({ isDone: true, reason: 'NothingMade' });
    machine.isDown = false;
    await machine.provisioner().ensure(wanted);
    machine.isDown = true;
    expect(await machine.provisioner().remove(wanted)).toMatchObject({ isDone: false, reason: 'HostTimeout' });
    expect(await machine.provisioner().inventory([wanted])).toEqual([]);
    machine.isDown = false;
    await gone(wanted);
    expect(machine.leftovers()).toEqual([]);
  });
});

describe('a cluster', () => {
  it('heals, follows its spec, is upgraded, and keeps its token through all of it', LONG, async () => {
    const wanted = await request();
    const made = await ready(wanted);
    expect(made.cluster).toMatchObject({ endpoint: { host: '192.0.2.7', port: 6443 }, version: 'v1.35.0+k3s1' });
    const token = machine.read(`${HOME}/token`);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const kept = { ...wanted, initialized: true };

    const first = machine.server as number;
    process.kill(first, 'SIGKILL');
    process.kill(Number(machine.read(`${HOME}/supervisor.pid`)), 'SIGKILL');
    // A killed process is there for a moment longer.
    await expect.poll(() => machine.server, { timeout: 10_000 }).not.toBe(first);
    await ready(kept);
    const second = machine.server as number;
    expect(second).not.toBe(first);

    const changed = { ...kept, spec: { ...kept.spec, k3sArgs: ['--kubelet-arg=max-pods=50', '--kubelet-arg=v=2'] } };
    expect(await machine.provisioner().ensure(changed)).toMatchObject({ reason: 'Starting' });
    expect(JSON.parse(machine.read(`${HOME}/config.yaml`) as string)).toMatchObject({
      'kubelet-arg': ['max-pods=50', 'v=2'],
    });
    await expect.poll(() => machine.server !== undefined && machine.server !== second, { timeout: 30_000 }).toBe(true);
    await ready(changed);

    machine.addVersion('v1.36.0+k3s1');
    const ref = { ...changed, spec: { ...changed.spec, kubernetesVersion: '1.36' } };
    const newer = { ...ref, resolved: await machine.provisioner().resolve(ref) };
    expect(newer.resolved).toMatchObject({ version: 'v1.36.0+k3s1' });
    const provisioner = machine.provisioner();
    const upgraded = await until(
      () => provisioner.upgrade(newer),
      ({ phase, cluster }) => phase === 'ready' && cluster?.version === 'v1.36.0+k3s1',
    );
    expect(upgraded.cluster?.image).toBe(newer.resolved.image);
    expect(machine.read(`${HOME}/token`)).toBe(token);

    // The new one says that it is ready before it has made all it makes.
    const hasAll = () =>
      existsSync(join(machine.root, 'sys/class/net/cni0')) && machine.read('rules')?.includes('KUBE-');
    await expect.poll(hasAll, { timeout: 10_000 }).toBe(true);
    const orphan = (await machine.provisioner().inventory([newer]))[0]?.ref;
    expect(orphan).toMatchObject({ id: 'uid-1' });
    const { removed } = await gone({ ...newer, ...orphan });
    expect(removed.join('\n')).toMatch(
      /process k3s[\s\S]*link cni0[\s\S]*1 chains and 1 rules of iptables filter[\s\S]*data /,
    );
    expect(machine.read('rules')).toContain('--dport 22');
    expect(machine.leftovers()).toEqual([]);
  });

  it.each(['here', 'on the machine'])(
    'is upgraded with its new images, when the archive %s is called as the old one',
    LONG,
    async (where) => {
      const archive = 'srv/k3s-airgap-images-amd64.tar.zst';
      const path = where === 'here' ? join(machine.root, archive) : `/etc/${archive}`;
      const release = (images: string): void => machine.write(where === 'here' ? archive : `etc/${archive}`, images);
      const brought = (): (string | undefined)[] =>
        readdirSync(join(machine.root, IMAGES)).map((name) => machine.read(`${IMAGES}/${name}`));
      release('images of 1.35');
      const wanted = { ...(await request({ airgapImages: [path] })), initialized: true };
      await ready(wanted);
      expect(brought()).toEqual(['images of 1.35']);

      release('images of 1.36');
      expect(await machine.provisioner().ensure(wanted)).toMatchObject({ phase: 'ready' });
      expect(brought()).toEqual(['images of 1.35']);

      machine.addVersion('v1.36.0+k3s1');
      const ref = { ...wanted, spec: { ...wanted.spec, kubernetesVersion: '1.36' } };
      const newer = { ...ref, resolved: await machine.provisioner().resolve(ref) };
      const provisioner = machine.provisioner();
      await until(
        () => provisioner.upgrade(newer),
        ({ phase, cluster }) => phase === 'ready' && cluster?.version === 'v1.36.0+k3s1',
      );
      expect(brought()).toEqual(['images of 1.36']);
      await gone(newer);
    },
  );

  it('says what keeps k3s from staying up', LONG, async () => {
    machine.write('broken', '');
    const wanted = await request();
    const provisioner = machine.provisioner();
    const blocked = await until(
      () => provisioner.ensure(wanted),
      ({ phase }) => phase === 'blocked',
    );
    expect(blocked).toMatchObject({ reason: 'PortTaken', next: expect.stringContaining('choose another `port`') });
    expect(blocked.output?.at(-1)).toContain('address already in use');
    machine.remove('broken');
    await gone(wanted);
  });
});

it('an exact version is never substituted', LONG, async () => {
  expect((await request({ kubernetesVersion: 'v1.35.0+k3s1' })).resolved.version).toBe('v1.35.0+k3s1');
  await expect(request({ kubernetesVersion: '1.34' })).rejects.toMatchObject({
    code: 'version.unavailable',
    hint: expect.stringContaining('v1.35.0+k3s1'),
  });
});
