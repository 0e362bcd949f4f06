import { afterEach, beforeEach, expect, it } from 'vitest';
import { clusters, customResourceDefinitions } from '../../api/resources.ts';
import { rfc3339, systemRandom } from '../../clock.ts';
import { leases } from '../../kube/index.ts';
import { FakeClock } from '../../kube/testing/fake-clock.ts';
import { MemoryStore } from '../../kube/testing/memory-store.ts';
import { type CoreMode, CoreSwitch } from './core-switch.ts';
import { ProviderKinds } from './provider-kinds.ts';
import { installKinds } from './testing/install-kinds.ts';

const CRD = { name: 'clusters.cluster.x-k8s.io' };
let clock: FakeClock;
let store: MemoryStore;
let stop: AbortController;
let runs: Promise<void>[];

beforeEach(() => {
  clock = new FakeClock(Date.parse('2030-01-01T00:00:00Z'));
  store = new MemoryStore(clock, systemRandom);
  stop = new AbortController();
  runs = [];
});
afterEach(async () => {
  stop.abort();
  await Promise.all(runs);
});

async function start(mode: CoreMode = 'auto'): Promise<CoreSwitch> {
  const parts = { store, clock, random: systemRandom };
  const kinds = new ProviderKinds(parts);
  const power = new CoreSwitch({ ...parts, mode, kinds });
  runs = [kinds.run(stop.signal), power.run(stop.signal)];
  await Promise.all([kinds.whenSynced(), power.whenKnown()]);
  return power;
}
const labelled = (labels: Record<string, string | null>) =>
  store.patch(customResourceDefinitions, CRD, { type: 'merge', body: { metadata: { labels } } });
const turned = (power: CoreSwitch, on: boolean) => expect.poll(() => power.isOn, { timeout: 5000 }).toBe(on);
const lease = (renewTime: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'controller-leader-election-capi', namespace: 'capi-system' },
  spec: { holderIdentity: 'capi-controller-manager-x', leaseDurationSeconds: 15, renewTime },
});

it('works where the kinds are ours', async () => {
  await installKinds(store, clusters);
  expect((await start()).isOn).toBe(true);
});

it('is off where the kinds are not ours, though nothing else tells upstream is there', async () => {
  await installKinds(store, clusters);
  await labelled({ 'rookery.dev/core': null });
  const power = await start();
  expect(power.isOn).toBe(false);
  expect(power.reason).toContain('was not installed by Rookery');
});

it('goes off when upstream is installed over ours, and on again when it is gone', async () => {
  await installKinds(store, clusters);
  const power = await start();
  const changes: boolean[] = [];
  power.onChange(() => changes.push(power.isOn));
  await labelled({ 'cluster.x-k8s.io/provider': 'cluster-api' });
  await turned(power, false);
  await labelled({ 'cluster.x-k8s.io/provider': null });
  await turned(power, true);
  expect(changes).toEqual([false, true]);
});

it('is not fooled by another provider’s label', async () => {
  await installKinds(store, clusters);
  await labelled({ 'cluster.x-k8s.io/provider': 'infrastructure-foo' });
  expect((await start()).isOn).toBe(true);
});

it('is off while upstream’s manager holds its lease, and on when it lets it run out', async () => {
  await installKinds(store, clusters);
  await store.create(leases, lease(rfc3339(clock.now())));
  const power = await start();
  const changes: boolean[] = [];
  power.onChange(() => changes.push(power.isOn));
  expect(power.reason).toContain('capi-controller-manager-x');
  await clock.advance(31_000);
  await turned(power, true);
  expect(changes).toContain(true);
});

it('takes a lease that ran out long ago for what it is', async () => {
  await installKinds(store, clusters);
  await store.create(leases, lease('2029-12-31T00:00:00Z'));
  expect((await start()).isOn).toBe(true);
});

it('does what the setting says', async () => {
  await installKinds(store, clusters);
  await labelled({ 'rookery.dev/core': null });
  expect((await start('on')).isOn).toBe(true);
});
