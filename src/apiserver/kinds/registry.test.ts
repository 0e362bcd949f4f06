import { describe, expect, it } from 'vitest';
import type { Resource } from '../resource.ts';
import { builtinResources } from './builtin.ts';
import { Registry } from './registry.ts';
import { compareVersions } from './version-order.ts';

function custom(group: string, version: string, plural: string, kind: string): Resource {
  const model = builtinResources().find((r) => r.kind === 'ConfigMap') as Resource;
  return { ...model, group, version, plural, kind, storage: `${group}/${plural}`, storageVersion: version };
}

describe('Registry', () => {
  it('finds built-ins by plural and kind', () => {
    const registry = new Registry();
    expect(registry.find('apps', 'v1', 'deployments')?.kind).toBe('Deployment');
    expect(registry.byKind('', 'v1', 'Pod')?.plural).toBe('pods');
    expect(registry.findAnyVersion('autoscaling', 'horizontalpodautoscalers')?.version).toBe('v2');
    expect(registry.find('apps', 'v1beta1', 'deployments')).toBeUndefined();
    expect(registry.all()).toBe(builtinResources());
  });

  it('gives one resource for each storage, in stored form', () => {
    const storages = new Registry().storages();
    expect(storages.get('/events')?.group).toBe('');
    expect(storages.get('autoscaling/horizontalpodautoscalers')?.version).toBe('v2');
    expect(storages.has('/bindings')).toBe(false);
    expect(storages.has('authorization.k8s.io/subjectaccessreviews')).toBe(false);
    expect(storages.get('apps/deployments')?.plural).toBe('deployments');
  });

  it('orders groups like the real server and puts CRD groups last', () => {
    const registry = new Registry();
    expect(
      registry
        .groups()
        .slice(0, 4)
        .map((g) => g.name),
    ).toEqual(['', 'apiregistration.k8s.io', 'apps', 'events.k8s.io']);
    registry.setCustom('b', [custom('rookery.dev', 'v1alpha1', 'bs', 'B'), custom('rookery.dev', 'v1', 'bs', 'B')]);
    registry.setCustom('a', [custom('a.dev', 'v1beta1', 'as', 'A'), custom('apps', 'v1beta9', 'as', 'A')]);
    expect(registry.groups().slice(-2)).toEqual([
      { name: 'a.dev', versions: ['v1beta1'] },
      { name: 'rookery.dev', versions: ['v1', 'v1alpha1'] },
    ]);
    expect(registry.groups().find((g) => g.name === 'apps')?.versions).toEqual(['v1', 'v1beta9']);
    expect(registry.findAnyVersion('rookery.dev', 'bs')?.version).toBe('v1');
  });

  it('changes its revision with every change, and back to the shared one', () => {
    const registry = new Registry();
    const other = new Registry();
    const seen = new Set([registry.revision]);
    registry.setCustom('x', [custom('x.dev', 'v1', 'xs', 'X')]);
    seen.add(registry.revision);
    other.setCustom('x', [custom('x.dev', 'v1', 'xs', 'X')]);
    seen.add(other.revision);
    registry.setCustom('x', [custom('x.dev', 'v2', 'xs', 'X')]);
    seen.add(registry.revision);
    expect(seen.size).toBe(4);
    expect(registry.find('x.dev', 'v1', 'xs')).toBeUndefined();
    expect(registry.storages().has('x.dev/xs')).toBe(true);
    registry.removeCustom('x');
    expect(registry.revision).toBe(0);
    expect(registry.find('x.dev', 'v2', 'xs')).toBeUndefined();
  });
});

describe('compareVersions', () => {
  it('is the order of the Kubernetes documentation', () => {
    const versions = ['foo10', 'v1', 'v11alpha2', 'v10', 'v3beta1', 'foo1', 'v2', 'v11beta2', 'v12alpha1', 'v10beta3'];
    expect(versions.sort(compareVersions)).toEqual([
      ...['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'],
    ]);
  });
});
