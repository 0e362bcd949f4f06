import { expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { KubeError, type ObjectKey, type ObjectStore, type ResourceRef } from '../../kube/index.ts';
import { vclusterWay } from './way.ts';

const key = { namespace: 'default', name: 'team' };
const object = (host: object, more: object = {}): KubeObject => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'VCluster',
  metadata: key,
  spec: { host, clusterName: 'team', ...more },
});
const cluster = (kind: string): KubeObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'big' },
  spec: { infrastructureRef: { kind } },
});
const secret = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  data: Object.fromEntries(Object.entries(data).map(([k, text]) => [k, Buffer.from(text).toString('base64')])),
});

/** What the way finds out about a host where these objects are. */
function accessWith(host: object, ...objects: KubeObject[]) {
  const store = {
    get: async ({ kind }: ResourceRef, { name }: ObjectKey) => {
      const found = objects.find((o) => o.kind === kind && o.metadata.name === name);
      if (!found) throw new KubeError({ code: 404 });
      return found;
    },
  } as unknown as ObjectStore;
  return vclusterWay.access?.(store, object(host));
}

it('opens its host with the kubeconfig of a Cluster, or one out of a Secret', async () => {
  const known = [cluster('KINDCluster'), secret('big-kubeconfig', { value: 'a' }), secret('other', { config: 'b' })];
  expect(await accessWith({ cluster: 'big' }, ...known)).toEqual({ kubeconfig: 'a' });
  const kubeconfigSecretRef = { name: 'other', key: 'config' };
  expect(await accessWith({ kubeconfigSecretRef }, ...known)).toEqual({ kubeconfig: 'b' });
});

it('tells a host that is gone from one that is not there yet, and from one that is simulated', async () => {
  expect(await accessWith({ cluster: 'big' })).toEqual({ gone: 'there is no Cluster default/big' });
  expect(await accessWith({ cluster: 'big' }, cluster('KINDCluster'))).toEqual({
    missing: expect.stringContaining('Secret default/big-kubeconfig'),
  });
  const simulated = [cluster('VirtualCluster'), secret('big-kubeconfig', { value: 'a' })];
  expect(await accessWith({ cluster: 'big' }, ...simulated)).toMatchObject({ unfit: expect.any(String) });
});

it('has one name for one place: a host and a namespace', () => {
  const name = (host: object, more = {}) => vclusterWay.outsideName(object(host, more));
  expect(name({ cluster: 'big' })).toBe('default/big/vcluster-team');
  expect(name({ cluster: 'big' }, { namespace: 'x' })).not.toBe(name({ cluster: 'big' }));
  expect(name({ kubeconfigSecretRef: { name: 'big', key: 'value' } })).not.toBe(name({ cluster: 'big' }));
});

it('asks for a host on the command line, and for nothing that it cannot do', () => {
  expect(vclusterWay.spec({ host: 'big' }, key)).toEqual({ host: { cluster: 'big' }, clusterName: 'team' });
  expect(vclusterWay.spec({ host: 'big' }, { ...key, namespace: 'a' })).toMatchObject({ clusterName: 'a-team' });
  expect(() => vclusterWay.spec({}, key)).toThrow('no --host');
  for (const wish of [{ nodes: 2 }, { controlPlanes: 3 }, { image: 'x' }]) {
    expect(() => vclusterWay.spec({ host: 'big', ...wish }, key)).toThrow(/does not go with a vcluster/);
  }
});
