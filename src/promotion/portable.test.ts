import { expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { comesByItself, systemRbac, whyNot } from './ownership.ts';
import { portable } from './portable.ts';

const object = (kind: string, rest: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  ...rest,
  metadata: { name: 'a', namespace: 'team', uid: 'u', resourceVersion: '7', ...rest.metadata },
});

it('keeps what people wrote and drops what the cluster assigned', () => {
  const source = object('Deployment', {
    metadata: {
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl' }],
      labels: { app: 'web' },
      annotations: { note: 'mine', 'deployment.kubernetes.io/revision': '4' },
    },
    spec: { replicas: 2 },
    status: { replicas: 2 },
  });
  expect(portable(source)).toEqual({
    object: {
      apiVersion: 'v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace: 'team', labels: { app: 'web' }, annotations: { note: 'mine' } },
      spec: { replicas: 2 },
    },
    notes: [],
  });
  expect(source.status).toEqual({ replicas: 2 });
});

it('lets the other cluster give addresses, but keeps a headless Service headless', () => {
  const spec = {
    clusterIP: '10.0.0.7',
    clusterIPs: ['10.0.0.7'],
    ipFamilies: ['IPv4'],
    ports: [{ port: 80, nodePort: 30001 }],
  };
  expect(portable(object('Service', { spec })).object.spec).toEqual({ ports: [{ port: 80 }] });
  const headless = portable(object('Service', { spec: { ...spec, clusterIP: 'None', clusterIPs: ['None'] } })).object
    .spec;
  expect(headless).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
});

it('frees pods from their node and token, jobs from their uid, claims from their volume', () => {
  const pod = {
    nodeName: 'n',
    volumes: [{ name: 'kube-api-access-x' }, { name: 'data' }],
    containers: [{ name: 'c', volumeMounts: [{ name: 'kube-api-access-x' }] }],
  };
  expect(portable(object('Pod', { spec: pod })).object.spec).toEqual({
    volumes: [{ name: 'data' }],
    containers: [{ name: 'c' }],
  });
  const labels = { 'batch.kubernetes.io/controller-uid': 'u', 'controller-uid': 'u', 'job-name': 'a', mine: 'x' };
  const job = { selector: { matchLabels: {} }, template: { metadata: { labels }, spec: {} } };
  expect(portable(object('Job', { spec: job })).object.spec).toEqual({
    template: { metadata: { labels: { mine: 'x' } }, spec: {} },
  });
  const claim = portable(object('PersistentVolumeClaim', { spec: { volumeName: 'pv', accessModes: [] } }));
  expect(claim.object.spec).toEqual({ accessModes: [] });
  expect(claim.notes.join()).toContain('data is not copied');
});

it('tells what people made from what comes by itself', () => {
  const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u', controller: true }] };
  for (const system of [
    object('ReplicaSet', { metadata: owned }),
    object('ConfigMap', { metadata: { name: 'kube-root-ca.crt' } }),
    object('Deployment', { metadata: { namespace: 'kube-system' } }),
    object('Namespace', { metadata: { name: 'kube-system', namespace: undefined } }),
    object('ClusterRole', { metadata: { name: 'edit' } }),
    object('Service', { metadata: { name: 'kubernetes', namespace: 'default' } }),
    object('CustomResourceDefinition', { spec: { group: 'helm.cattle.io' } }),
  ]) {
    expect(comesByItself(system), `${system.kind} ${system.metadata.name}`).toBe(true);
  }
  expect(comesByItself(object('Service', { metadata: { name: 'kubernetes' } }))).toBe(false);
  expect(comesByItself(object('CustomResourceDefinition', { spec: { group: 'example.com' } }))).toBe(false);
});

it('leaves behind what would only make sense here', () => {
  expect(whyNot(object('Secret', { type: 'kubernetes.io/service-account-token' }))).toContain('tokens');
  expect(whyNot(object('Secret', { type: 'Opaque' }))).toBeUndefined();
  const done = { status: { conditions: [{ type: 'Complete', status: 'True' }] } };
  expect(whyNot(object('Job', done))).toContain('run already');
  expect(whyNot(object('ConfigMap', { metadata: { deletionTimestamp: 'now' } }))).toContain('deleted');
});

it('knows roles that only the system uses', () => {
  const binding = (name: string, role: string, namespace: string) =>
    object('ClusterRoleBinding', {
      metadata: { name },
      roleRef: { name: role },
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace }],
    });
  const found = systemRbac([
    binding('kindnet', 'kindnet', 'kube-system'),
    binding('shared-theirs', 'shared', 'kube-system'),
    binding('shared-mine', 'shared', 'team'),
  ]);
  expect([...found.bindings]).toEqual(['kindnet', 'shared-theirs']);
  expect([...found.roles]).toEqual(['kindnet']);
});
