import { expect, it } from 'vitest';
import { image, vclusterConfig } from './config.ts';
import { at } from './json-tree.ts';
import type { VclusterSpec } from './marks.ts';
import { clusterRoleRules, roleRules } from './roles.ts';

const config = (more: Partial<VclusterSpec> = {}) =>
  vclusterConfig({
    spec: { host: { cluster: 'big' }, clusterName: 'team', ...more },
    kubernetesVersion: 'v1.35.0',
    vclusterVersion: '0.34.0',
    addresses: ['192.0.2.1'],
  });

it('asks for nothing on the whole host unless something needs it', () => {
  expect(clusterRoleRules(config())).toEqual([]);
  expect(clusterRoleRules(config({ sync: { ingressClasses: true } }))).toEqual([
    { apiGroups: ['networking.k8s.io'], resources: ['ingressclasses'], verbs: ['get', 'list', 'watch'] },
  ]);
});

it('gives rights for custom resources that are synced, by their group', () => {
  const things = { 'things.example.org/v1': { enabled: true }, 'others.example.org': { enabled: false } };
  const rules = roleRules(config({ values: { sync: { toHost: { customResources: things } } } }));
  const found = rules.filter(({ apiGroups }) => apiGroups.includes('example.org'));
  expect(found).toMatchObject([{ apiGroups: ['example.org'], resources: ['things'] }]);
});

it('names in its certificate what it is reached by', () => {
  const { expose } = { expose: { host: 'team.example', sans: ['192.0.2.1', 'b.example'] } };
  expect(at(config({ expose }), 'controlPlane.proxy.extraSANs')).toEqual(['team.example', '192.0.2.1', 'b.example']);
});

it('sends no telemetry, and keeps its data when its StatefulSet is deleted by hand', () => {
  expect(at(config(), 'telemetry.enabled')).toBe(false);
  expect(at(config(), 'controlPlane.statefulSet.persistence.volumeClaim.retentionPolicy')).toBe('Retain');
});

it('merges values over what follows from the spec', () => {
  const values = { controlPlane: { statefulSet: { scheduling: { nodeSelector: { disk: 'fast' } } } } };
  const scheduling = at(config({ values }), 'controlPlane.statefulSet.scheduling');
  expect(scheduling).toEqual({ podManagementPolicy: 'Parallel', nodeSelector: { disk: 'fast' } });
});

it.each([
  [{ controlPlane: { ingress: { enabled: true } } }, /values\.controlPlane\.ingress\.enabled cannot be set/],
  [{ controlPlane: { backingStore: { etcd: { deploy: { enabled: true } } } } }, /needs objects that Rookery does not/],
  [{ rbac: { role: { extraRules: [] } } }, /values\.rbac\.role\.extraRules/],
  [{ sync: { toHost: { namespaces: { enabled: true } } } }, /namespaces that cannot be told/],
  [{ experimental: { syncSettings: { setOwner: false } } }, /not removed with the cluster/],
])('refuses values that it cannot carry out: %j', (values, why) => {
  expect(() => config({ values })).toThrow(why);
});

it.each([
  ['ghcr.io/loft-sh/kubernetes', 'ghcr.io', 'loft-sh/kubernetes'],
  ['loft-sh/kubernetes', '', 'loft-sh/kubernetes'],
  ['localhost/x/y', 'localhost', 'x/y'],
  ['mirror:5000/x', 'mirror:5000', 'x'],
])('tells the registry of %s from the rest', (name, registry, repository) => {
  expect(image(name, 'v1')).toEqual({ registry, repository, tag: 'v1' });
});
