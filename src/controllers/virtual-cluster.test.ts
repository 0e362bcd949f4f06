import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { secrets, virtualClusters } from '../api/resources.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { apiVersionOf, getCondition, Manager, waitFor, waitForGone } from '../kube/index.ts';
import { MemoryStore } from '../kube/testing/memory-store.ts';
import type { Tenants } from '../provisioners/virtual/tenants.ts';
import { virtualClusterController } from './virtual-cluster.ts';

/** Tenants by name, with their owners; undefined: made, but a crash came before its owner was noted. */
class Names implements Tenants {
  readonly all = new Map<string, string | undefined>();
  async ensure(name: string, owner: string) {
    this.all.set(name, owner);
  }
  owner = async (name: string) => this.all.get(name);
  has = (name: string) => this.all.has(name);
  async remove(name: string) {
    this.all.delete(name);
  }
  names = () => [...this.all.keys()];
  kubeconfig = async (name: string) => `kubeconfig of ${name}`;
  url = (name: string) => `https://127.0.0.1:7443/clusters/${name}`;
}

const KEY = { namespace: 'default', name: 'dev' };
let store: MemoryStore;
let tenants: Names;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  store = new MemoryStore(systemClock, systemRandom);
  tenants = new Names();
  stop = new AbortController();
  const manager = new Manager({ store, clock: systemClock, random: systemRandom });
  manager.addController(virtualClusterController(store, tenants));
  running = manager.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const made = () =>
  store.create<KubeObject>(virtualClusters, {
    apiVersion: apiVersionOf(virtualClusters),
    kind: virtualClusters.kind,
    metadata: { ...KEY },
    spec: {},
  });
const ready = (status: string) =>
  waitFor(store, virtualClusters, KEY, (object) => !!object && getCondition(object, 'Ready')?.status === status, {
    timeoutMs: 5000,
    what: `Ready to be ${status}`,
  });

it('makes a tenant and a kubeconfig, and leaves nothing', async () => {
  const { uid } = (await made()).metadata;
  await ready('True');
  expect([...tenants.all]).toEqual([['dev', uid]]);
  const secret = await store.get(secrets, { namespace: 'default', name: 'dev-kubeconfig' });
  expect(Buffer.from(secret.data?.value, 'base64').toString()).toBe('kubeconfig of dev');
  await store.delete(virtualClusters, KEY);
  await waitForGone(store, virtualClusters, KEY, { timeoutMs: 5000 });
  expect(tenants.names()).toEqual([]);
});

it('says in its conditions that the tenant is another object’s, and leaves it on delete', async () => {
  tenants.all.set('dev', 'another');
  await made();
  const object = await ready('False');
  expect(object && getCondition(object, 'Available')?.message).toMatch(/belongs to another object.*\nNext: nothing/s);
  await store.delete(virtualClusters, KEY);
  await waitForGone(store, virtualClusters, KEY, { timeoutMs: 5000 });
  expect(tenants.names()).toEqual(['dev']);
});

it('does not take over a Secret that is not its own', async () => {
  const name = 'dev-kubeconfig';
  const data = { value: 'bWluZQ==' };
  await store.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name }, data });
  await made();
  const object = await ready('False');
  expect(object && getCondition(object, 'Ready')?.message).toContain('is not ours');
  expect((await store.get(secrets, { namespace: 'default', name })).data).toEqual(data);
});

it('removes a tenant that a crash left without an owner', async () => {
  await made();
  await ready('True');
  tenants.all.set('dev', undefined);
  await store.delete(virtualClusters, KEY);
  await waitForGone(store, virtualClusters, KEY, { timeoutMs: 5000 });
  expect(tenants.names()).toEqual([]);
});

it('leaves a paused one alone, also when it is deleted', async () => {
  const { uid } = (await made()).metadata;
  await ready('True');
  const pause = (value: string | null) => ({
    type: 'merge' as const,
    body: { metadata: { annotations: { 'cluster.x-k8s.io/paused': value } } },
  });
  await store.patch(virtualClusters, KEY, pause(''));
  await store.delete(virtualClusters, KEY);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(tenants.all.get('dev')).toBe(uid);
  await store.patch(virtualClusters, KEY, pause(null));
  await waitForGone(store, virtualClusters, KEY, { timeoutMs: 5000 });
  expect(tenants.names()).toEqual([]);
});
