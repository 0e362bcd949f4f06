import { beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { customResourceDefinitions, virtualClusters } from '../api/resources.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { MemoryStore } from '../kube/testing/memory-store.ts';
import { checkCrds, ourCrds } from './crds.ts';
import { providerKinds } from './served-kinds.ts';

let store: MemoryStore;
beforeEach(() => {
  store = new MemoryStore(systemClock, systemRandom);
});

type Schema = { properties: Record<string, Schema>; description?: string };
const only = [virtualClusters];
/** As stored by an API server, changed by `edit`. */
async function installed(edit: (crd: KubeObject, spec: Schema) => void = () => {}): Promise<void> {
  const [crd] = structuredClone(ourCrds(only)) as [KubeObject];
  crd.spec = { ...crd.spec, conversion: { strategy: 'None' } };
  const root = crd.spec.versions[0].schema.openAPIV3Schema as Schema;
  edit(crd, root.properties.spec as Schema);
  await store.create(customResourceDefinitions, crd);
}

it('knows a definition for every kind that asks for a cluster, with the contract in its labels', () => {
  const crds = ourCrds(providerKinds);
  expect(crds).toHaveLength(providerKinds.length);
  for (const crd of crds) expect(crd.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/v1beta2': 'v1alpha1' });
});

it('says which are not installed, and what helps', async () => {
  await expect(checkCrds(store, only)).rejects.toMatchObject({
    code: 'manager.crds',
    class: 'user',
    message: expect.stringContaining('not installed: virtualclusters.infrastructure.cluster.x-k8s.io'),
    hint: expect.stringContaining('--install-crds'),
  });
});

it('takes what is ours as an API server keeps it: with defaults, without what is empty', async () => {
  await installed();
  await checkCrds(store, only);
});

it('takes a newer one that knows more', async () => {
  await installed((_, spec) => {
    spec.properties.later = { properties: {} };
    spec.description = 'In other words.';
  });
  await checkCrds(store, only);
});

it('refuses one that would drop a field of ours, or that upstream would not find', async () => {
  await installed((_, spec) => void delete spec.properties.nodes);
  await expect(checkCrds(store, only)).rejects.toThrow(/of another version than this program: virtualclusters/);
  await store.delete(customResourceDefinitions, { name: 'virtualclusters.infrastructure.cluster.x-k8s.io' });
  await installed((crd) => void delete crd.metadata.labels);
  await expect(checkCrds(store, only)).rejects.toThrow(/of another version/);
});
