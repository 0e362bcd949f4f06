import { describe, expect, it } from 'vitest';
import type { Resource } from '../resource.ts';
import { builtinResources } from './builtin.ts';
import * as discovery from './discovery.ts';
import { Registry } from './registry.ts';

// The full comparison with documents of a real server is tools/gen-kinds/check.ts; it needs the Go modules.
describe('legacy discovery', () => {
  it('is compact, in the key order of Go', () => {
    const body = discovery.apiResourceList(new Registry(), 'apps', 'v1')?.body;
    expect(body).toMatch(
      /^\{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps\/v1","resources":\[\{"name":"con/,
    );
    expect(body).toContain(
      '{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment",' +
        '"verbs":["create","delete","deletecollection","get","list","patch","update","watch"],' +
        '"shortNames":["deploy"],"categories":["all"],"storageVersionHash":"8aSe+NMegvE="}',
    );
    expect(body).toContain(
      '{"name":"deployments/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1",' +
        '"kind":"Scale","verbs":["get","patch","update"]}',
    );
  });

  it('has no apiVersion in the core list', () => {
    const list = JSON.parse(discovery.apiResourceList(new Registry(), '', 'v1')?.body ?? '');
    expect(Object.keys(list)).toEqual(['kind', 'groupVersion', 'resources']);
    expect(list.resources.map((r: { name: string }) => r.name)).toContain('pods/eviction');
  });

  it('names groups in order with the preferred version', () => {
    const list = JSON.parse(discovery.apiGroupList(new Registry()).body);
    expect(list.groups.slice(0, 2).map((g: { name: string }) => g.name)).toEqual(['apiregistration.k8s.io', 'apps']);
    expect(JSON.parse(discovery.apiGroup(new Registry(), 'autoscaling')?.body ?? '')).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'autoscaling',
      versions: [
        { groupVersion: 'autoscaling/v2', version: 'v2' },
        { groupVersion: 'autoscaling/v1', version: 'v1' },
      ],
      preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
    });
    expect(discovery.apiGroup(new Registry(), 'nope')).toBeUndefined();
    expect(discovery.apiResourceList(new Registry(), 'apps', 'v2')).toBeUndefined();
  });
});

describe('aggregated discovery', () => {
  it('splits core from the named groups and says its type', () => {
    const registry = new Registry();
    const core = discovery.aggregated(registry, 'api', 'v2');
    expect(core.contentType).toBe('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    expect(core.etag).toMatch(/^"[0-9A-F]{128}"$/);
    const items = JSON.parse(core.body).items;
    expect(items).toHaveLength(1);
    expect(items[0].versions[0].freshness).toBe('Current');
    expect(items[0].versions[0].resources.find((r: { resource: string }) => r.resource === 'pods')).toMatchObject({
      responseKind: { group: '', version: '', kind: 'Pod' },
      scope: 'Namespaced',
      singularResource: 'pod',
    });
    expect(JSON.parse(discovery.aggregated(registry, 'apis', 'v2beta1').body).apiVersion).toBe(
      'apidiscovery.k8s.io/v2beta1',
    );
  });

  it('is shared by clusters without CRDs and own with them', () => {
    const [one, two] = [new Registry(), new Registry()];
    expect(discovery.aggregated(one, 'apis', 'v2')).toBe(discovery.aggregated(two, 'apis', 'v2'));
    const model = builtinResources().find((r) => r.kind === 'ConfigMap') as Resource;
    two.setCustom('xs.x.dev', [
      { ...model, group: 'x.dev', version: 'v1', plural: 'xs', kind: 'X', storage: 'x.dev/xs' },
    ]);
    const own = discovery.aggregated(two, 'apis', 'v2');
    expect(own).not.toBe(discovery.aggregated(one, 'apis', 'v2'));
    expect(JSON.parse(own.body).items.at(-1).metadata.name).toBe('x.dev');
    expect(own).toBe(discovery.aggregated(two, 'apis', 'v2'));
  });
});
