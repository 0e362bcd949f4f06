import { afterAll, expect, it } from 'vitest';
import { clusters, kindClusters } from '../../api/resources.ts';
import { systemClock, systemRandom } from '../../clock.ts';
import { MemoryStore } from '../../kube/testing/memory-store.ts';
import { contractVersion, ProviderKinds } from './provider-kinds.ts';
import { installKinds } from './testing/install-kinds.ts';

const stop = new AbortController();
afterAll(() => stop.abort());

it.each([
  ['v1alpha1', 'v1alpha1'],
  ['v1alpha1_v1alpha2', 'v1alpha2'],
  ['v1beta1_v1_v1alpha9', 'v1'],
  ['v2beta1_v1', 'v1'],
  ['v1beta2_v1beta10', 'v1beta10'],
  ['', undefined],
  [undefined, undefined],
])('%s → %s', (label, version) => {
  expect(contractVersion(label)).toBe(version);
});

it('finds a kind by group and kind, says what is wrong with one it cannot use, and hears of new ones', async () => {
  const store = new MemoryStore(systemClock, systemRandom);
  await installKinds(store, clusters, { ...kindClusters, kind: 'Nameless', plural: 'nameless', version: '' });
  const kinds = new ProviderKinds({ store, clock: systemClock, random: systemRandom });
  void kinds.run(stop.signal);
  await kinds.whenSynced();
  const heard: string[] = [];
  kinds.onChange(({ kind }, _, initial) => heard.push(`${kind}${initial ? ' at first' : ''}`));
  const reference = { apiGroup: kindClusters.group, kind: 'KINDCluster' };
  expect(() => kinds.resource(reference)).toThrow('its provider is not installed');
  expect(() => kinds.resource({ ...reference, kind: 'Nameless' })).toThrow('needs the label cluster.x-k8s.io/v1beta2');
  await installKinds(store, kindClusters);
  await expect.poll(() => heard).toContain('KINDCluster');
  expect(kinds.resource(reference)).toEqual(kindClusters);
  expect(heard).toContain('Cluster at first');
});
