import { expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { clusters, kindClusters, vclusters, virtualClusters } from '../api/resources.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { apiVersionOf, type ResourceRef } from '../kube/index.ts';
import { MemoryStore } from '../kube/testing/memory-store.ts';
import { HostFolders } from '../machines/host-folders.ts';
import { placeOfCluster } from './cluster-place.ts';
import { type HostPolicy, namespacesNamed } from './host-policy.ts';

const store = new MemoryStore(systemClock, systemRandom);
const namespace = 'team';
const put = (resource: ResourceRef, name: string, spec: object) =>
  store.create(resource, {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, namespace },
    spec,
  });
async function cluster(name: string, { group, kind }: { group: string; kind: string }): Promise<KubeObject> {
  return await put(clusters, name, { infrastructureRef: { apiGroup: group, kind, name } });
}
const policy = (more: Partial<HostPolicy> = {}): HostPolicy => ({
  hasAdmission: true,
  allows: () => false,
  folders: new HostFolders([]),
  ...more,
});
const place = (of: KubeObject, more?: Partial<HostPolicy>) => placeOfCluster({ store, policy: policy(more) }, of);

it('is the path of its own tenant for a virtual cluster, whatever is allowed', async () => {
  await put(virtualClusters, 'v', {});
  const found = await cluster('v', virtualClusters);
  expect(await place(found)).toEqual({ tenant: expect.stringContaining('v') });
  expect(await place(found, { allows: () => true })).toEqual(await place(found));
});

it('is this machine for containers whose maker was admitted, or whose namespace is allowed', async () => {
  await put(kindClusters, 'k', { clusterName: 'k' });
  const found = await cluster('k', kindClusters);
  expect(await place(found)).toBe('this machine');
  expect(await place(found, { hasAdmission: false })).toBe('another machine');
  const allows = namespacesNamed(['team']);
  expect(await place(found, { hasAdmission: false, allows })).toBe('this machine');
  expect(await place(found, { hasAdmission: false, allows: namespacesNamed(['other']) })).toBe('another machine');
});

it('is another machine where nothing made the cluster, or another provider did', async () => {
  expect(await place(await cluster('forged', kindClusters))).toBe('another machine');
  expect(await place(await cluster('aws', { group: 'infrastructure.cluster.x-k8s.io', kind: 'AWSCluster' }))).toBe(
    'another machine',
  );
});

it('is that of its host for a vcluster', async () => {
  await put(vclusters, 'in-kind', { clusterName: 'a', host: { cluster: 'k' } });
  expect(await place(await cluster('in-kind', vclusters))).toBe('this machine');
  await put(vclusters, 'in-secret', { clusterName: 'b', host: { kubeconfigSecretRef: { name: 's', key: 'value' } } });
  expect(await place(await cluster('in-secret', vclusters))).toBe('another machine');
  await put(vclusters, 'loop', { clusterName: 'c', host: { cluster: 'loop' } });
  expect(await place(await cluster('loop', vclusters))).toBe('another machine');
});
