// What can go wrong with a vcluster, in an API server of our own: killed between any two requests, things removed by hand, hosts that are gone or refuse, finalizers
// that stay.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { KubeObject } from '../../../src/api/object.ts';
import { sleep, systemClock } from '../../../src/clock.ts';
import { ignoreNotFound, interceptStore, type ResourceRef } from '../../../src/kube/index.ts';
import type { RemoteStore } from '../../../src/kube/remote-store.ts';
import type { ClusterRequest, Progress } from '../../../src/provisioners/provisioner.ts';
import * as host from '../../../src/provisioners/vcluster/host-resources.ts';
import type { VclusterSpec } from '../../../src/provisioners/vcluster/marks.ts';
import { ScriptedHost } from '../../../src/provisioners/vcluster/testing/scripted-host.ts';
import { VclusterProvisioner } from '../../../src/provisioners/vcluster/vcluster-provisioner.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { hostLeftovers } from './vcluster-host.ts';

const LONG = { timeout: 600_000 };
let server: TestServer;
let store: RemoteStore;
let scripted: ScriptedHost;
let kubeconfig: string;
let leftovers: () => Promise<string[]>;

beforeAll(async () => {
  server = await startServer();
  store = await server.remote();
  scripted = new ScriptedHost(store);
  await scripted.start();
  kubeconfig = readFileSync(await server.kubeconfig(), 'utf8');
  leftovers = await hostLeftovers(store);
});
afterAll(async () => {
  await scripted.stop();
  await server.close();
});

const open = () => new VclusterProvisioner({ clock: systemClock, probe: scripted.probe, pollMs: 20 });
const request = (name: string, more: Partial<VclusterSpec> = {}): ClusterRequest<VclusterSpec> => ({
  id: `id-${name}`,
  name,
  spec: { host: { cluster: 'host' }, clusterName: name, ...more },
  access: { kubeconfig },
  // The host is the test's own API server, at a loopback address.
  place: 'this machine',
  resolved: { version: 'v1.34.0', image: '' },
  initialized: false,
});
const inNamespace = (name: string) => ({ namespace: `vcluster-${name}`, name });

async function until<T extends { lookAgainMs?: number }>(
  call: () => Promise<T>,
  isDone: (answer: T) => boolean,
): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await call();
    if (isDone(answer)) return answer;
    if (Date.now() > end) throw new Error(JSON.stringify(answer));
    await sleep(systemClock, Math.min(answer.lookAgainMs ?? 20, 50));
  }
}
const ready = (wanted: ClusterRequest<VclusterSpec>) =>
  until(
    () => open().ensure(wanted),
    (p: Progress) => p.phase === 'ready',
  );
const gone = (wanted: ClusterRequest<VclusterSpec>) =>
  until(
    () => open().remove(wanted),
    (removal) => removal.isDone,
  );

describe('killed', () => {
  /** A process that dies with its nth write: nothing after that reaches the host. True when it came so far. */
  const dies = async (
    writes: number,
    work: (provisioner: VclusterProvisioner) => Promise<unknown>,
  ): Promise<boolean> => {
    let seen = 0;
    const die = () => {
      if (seen > writes) throw new Error('killed');
    };
    const mortal = interceptStore(store, {
      before: ({ isWrite }) => {
        if (isWrite) seen += 1;
        die();
      },
    });
    const provisioner = new VclusterProvisioner({
      clock: systemClock,
      probe: scripted.probe,
      hosts: { of: async () => mortal },
    });
    return await work(provisioner).then(
      () => false,
      (error) => {
        expect((error as Error).message).toBe('killed');
        return true;
      },
    );
  };

  it('between any two writes, it is finished or removed by the next process, and leaves nothing', LONG, async () => {
    let kills = 0;
    for (let writes = 0; writes < 14; writes++) {
      const wanted = request('killed');
      if (await dies(writes, (provisioner) => provisioner.ensure(wanted))) kills += 1;
      await ready(wanted);
      if (await dies(writes, (provisioner) => provisioner.remove(wanted))) kills += 1;
      await gone(wanted);
      expect(await leftovers(), `killed before write ${writes + 1}`).toEqual([]);
    }
    expect(kills).toBeGreaterThanOrEqual(20);
  });
});

it('what was removed or changed by hand comes back', LONG, async () => {
  const wanted = { ...request('healed'), initialized: true };
  const before = (await ready(wanted)).cluster?.endpoint;
  const { namespace } = inNamespace('healed');
  const removed: [ResourceRef, string][] = [
    [host.statefulSets, 'healed'],
    [host.services, 'healed'],
    [host.roles, 'vc-healed'],
    [host.secrets, 'vc-config-healed'],
  ];
  for (const [resource, name] of removed) await store.delete(resource, { namespace, name });
  expect((await ready(wanted)).cluster?.endpoint).toEqual(before);
  const key = { namespace, name: 'healed' };
  await store.patch(host.statefulSets, key, { type: 'merge', body: { spec: { replicas: 0 } } });
  await store.patch(host.services, key, { type: 'merge', body: { spec: { selector: { app: 'wrong' } } } });
  await ready(wanted);
  expect((await store.get(host.statefulSets, key)).spec?.replicas).toBe(1);
  expect((await store.get(host.services, key)).spec?.selector).toEqual({ app: 'vcluster', release: 'healed' });
  await gone(wanted);
});

it('goes up one version at a time, and keeps the release of vcluster it was made with', LONG, async () => {
  const wanted = request('upgraded');
  await ready(wanted);
  const to = (version: string) => open().upgrade({ ...wanted, initialized: true, resolved: { version, image: '' } });
  expect(await to('v1.33.4')).toMatchObject({ phase: 'refused', reason: 'UpgradeRefused' });
  expect(await to('v1.36.0')).toMatchObject({ phase: 'refused', message: expect.stringContaining('skips 1 minor') });
  // One that never ran can be taken back: its pod cannot be had.
  scripted.trouble.set('upgraded', { phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }] });
  expect((await to('v1.35.99')).phase).toBe('working');
  scripted.trouble.delete('upgraded');
  await until(
    () => to('v1.35.0'),
    (p) => p.phase === 'ready',
  );
  const set = await store.get(host.statefulSets, inNamespace('upgraded'));
  expect(set.spec?.template.spec.initContainers[0].image).toBe('ghcr.io/loft-sh/kubernetes:v1.35.0');
  expect(set.spec?.template.spec.containers[0].image).toBe('ghcr.io/loft-sh/vcluster-oss:0.34.0');
  await gone(wanted);
});

it('gets another port when its own was given to somebody else', LONG, async () => {
  const wanted = request('moved');
  const before = (await ready(wanted)).cluster?.endpoint?.port;
  const { namespace } = inNamespace('moved');
  await store.delete(host.services, { namespace, name: 'moved' });
  const thief = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'thief' },
    spec: { type: 'NodePort', ports: [{ port: 80, nodePort: before }] },
  };
  await store.create(host.services, thief);
  const after = (await ready(wanted)).cluster?.endpoint?.port;
  expect(after).toBeGreaterThan(0);
  expect(after).not.toBe(before);
  await gone(wanted);
  await store.delete(host.services, { namespace: 'default', name: 'thief' });
});

it('in a namespace of others it takes away what is its own', LONG, async () => {
  const namespace = 'shared';
  await store.create(host.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'theirs' } };
  await store.create(host.configMaps, theirs);
  const all = await hostLeftovers(store);
  const wanted = request('guest', { namespace, sync: { nodes: true } });
  await ready(wanted);
  expect(await store.get(host.clusterRoles, { name: 'vc-guest-v-shared' })).toBeTruthy();
  const second = request('second', { namespace });
  expect(await open().ensure(second)).toMatchObject({ phase: 'refused', reason: 'NameTaken' });
  const removal = await gone(wanted);
  expect(removal.isDone).toBe(true);
  // Its endpoint slices go with the garbage collector of the host.
  await until<{ left: string[]; lookAgainMs?: number }>(
    async () => ({ left: await all() }),
    ({ left }) => left.length === 0,
  );
  expect(await store.get(host.configMaps, { namespace, name: 'theirs' })).toBeTruthy();
  await store.delete(host.namespaces, { name: namespace });
});

it('is found when its object is gone, and removed with the reference that was found', LONG, async () => {
  const orphan = request('orphan');
  await ready(orphan);
  const found = (await open().inventory([request('known')])).filter(({ ref }) => ref.id === orphan.id);
  expect(found.map(({ what }) => what)).toContain('StatefulSet vcluster-orphan/orphan');
  for (const { ref } of found) {
    await until(
      () => open().remove(ref),
      (removal) => removal.isDone,
    );
  }
  expect(await leftovers()).toEqual([]);
});

it('surfaces what its pod says', LONG, async () => {
  scripted.trouble.set('broken', {
    phase: 'Pending',
    containerStatuses: [
      {
        name: 'syncer',
        ready: false,
        image: 'x',
        imageID: '',
        restartCount: 0,
        state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } },
      },
    ],
  });
  const wanted = request('broken');
  const blocked = await until(
    () => open().ensure(wanted),
    (p) => p.phase === 'blocked',
  );
  expect(blocked).toMatchObject({ reason: 'ImagePullFailed', message: expect.stringContaining('no such image') });
  await gone(wanted);
});

it('names the finalizer that keeps something from going', LONG, async () => {
  const wanted = request('stuck');
  await ready(wanted);
  const { namespace } = inNamespace('stuck');
  const key = { namespace, name: 'vc-stuck' };
  const hold = { type: 'merge' as const, body: { metadata: { finalizers: ['example.org/hold'] } } };
  await store.patch(host.roles, key, hold);
  const later = { ...systemClock, now: () => Date.now() + 120_000 };
  const answer = await until(
    () => new VclusterProvisioner({ clock: later, probe: scripted.probe }).remove(wanted),
    (removal) => removal.reason === 'Stuck',
  );
  expect(answer.message).toContain('Role vcluster-stuck/vc-stuck');
  expect(answer.message).toContain('example.org/hold');
  await store.patch(host.roles, key, { type: 'merge', body: { metadata: { finalizers: null } } }).catch(ignoreNotFound);
  await gone(wanted);
  expect(await leftovers()).toEqual([]);
});

describe('a host', () => {
  const changed = (
    change: (config: { clusters: { cluster: { server: string } }[]; users: { user: { token: string } }[] }) => void,
  ) => {
    const config = parse(kubeconfig);
    change(config);
    return { kubeconfig: stringify(config) };
  };

  it('that does not answer blocks, and is waited for', LONG, async () => {
    const access = changed((config) => {
      for (const { cluster } of config.clusters) cluster.server = 'https://127.0.0.1:9';
    });
    const wanted = { ...request('away'), access };
    for (const call of ['ensure', 'suspend', 'resume'] as const) {
      expect(await open()[call](wanted)).toMatchObject({
        phase: 'blocked',
        reason: 'HostUnreachable',
        lookAgainMs: 10_000,
      });
    }
    expect(await open().remove(wanted)).toMatchObject({ isDone: false, removed: [], reason: 'HostUnreachable' });
  });

  it('that does not know us blocks', LONG, async () => {
    const access = changed((config) => {
      for (const { user } of config.users) user.token = 'wrong';
    });
    expect(await open().ensure({ ...request('unknown'), access })).toMatchObject({ reason: 'HostUnauthorized' });
  });

  it('that is gone has nothing to remove, and nothing to be put into', LONG, async () => {
    const access = { gone: 'there is no Cluster default/host' };
    expect(await open().remove({ ...request('lost'), access })).toMatchObject({ isDone: true, reason: 'HostGone' });
    expect(await open().ensure({ ...request('lost'), access })).toMatchObject({
      phase: 'blocked',
      reason: 'HostMissing',
    });
  });

  it('that is simulated is no place for it', LONG, async () => {
    const access = { kubeconfig, unfit: 'Cluster default/demo is simulated' };
    expect(await open().ensure({ ...request('play'), access })).toMatchObject({
      phase: 'refused',
      reason: 'HostUnfit',
    });
    expect(await open().remove({ ...request('play'), access })).toMatchObject({ isDone: true, removed: [] });
  });

  it('whose user may not grant what vcluster needs says so', LONG, async () => {
    const name = 'limited';
    const rbac = 'rbac.authorization.k8s.io';
    const rule = (group: string, ...resources: string[]) => ({ apiGroups: [group], resources, verbs: ['*'] });
    const core = ['namespaces', 'configmaps', 'serviceaccounts', 'secrets', 'services', 'nodes'];
    await store.create(host.clusterRoles, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [
        rule('', ...core),
        rule('apps', 'statefulsets', 'deployments'),
        { ...rule(rbac, 'roles'), verbs: ['get', 'create', 'patch'] },
      ],
    });
    await store.create(host.serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: 'default' },
    });
    await store.create(host.clusterRoleBindings, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    });
    const ask = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name, namespace: 'default' },
      spec: { audiences: [] },
    };
    const { status } = await store.create<KubeObject>(host.serviceAccounts, ask, { subresource: 'token' });
    const access = changed((config) => {
      for (const { user } of config.users) user.token = status.token;
    });
    const answer = await until(
      () => open().ensure({ ...request('granted'), access }),
      (p) => p.phase === 'blocked',
    );
    expect(answer).toMatchObject({ reason: expect.stringMatching(/^(RolesForbidden|HostForbidden)$/) });
    expect(answer.message).toMatch(/grant|forbidden/);
    await gone(request('granted'));
    await store.delete(host.clusterRoleBindings, { name });
    await store.delete(host.clusterRoles, { name });
    await store.delete(host.serviceAccounts, { name, namespace: 'default' });
    expect(await leftovers()).toEqual([]);
  });
});
