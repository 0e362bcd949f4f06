import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema/schema.ts';
import { builtinResources } from './builtin.ts';
import { definition } from './definition.ts';

describe('definition', () => {
  it('links references to the same objects', () => {
    const deployment = definition('io.k8s.api.apps.v1.Deployment');
    const template = deployment.properties?.spec?.properties?.template;
    // The reference says `default: {}` besides, so it is a copy; what it copies is shared.
    expect(template?.properties).toBe(definition('io.k8s.api.core.v1.PodTemplateSpec').properties);
    expect(template?.properties?.spec?.properties?.containers?.['x-kubernetes-patch-merge-key']).toBe('name');
  });

  it('keeps the words a reference adds', () => {
    const strategy = definition('io.k8s.api.apps.v1.DeploymentSpec').properties?.strategy;
    expect(strategy?.['x-kubernetes-patch-strategy']).toBe('retainKeys');
    expect(strategy?.properties?.rollingUpdate?.properties?.maxSurge?.['x-kubernetes-int-or-string']).toBe(true);
    expect(definition('io.k8s.api.apps.v1.DeploymentStrategy')['x-kubernetes-patch-strategy']).toBeUndefined();
  });

  it('is cyclic where the kind is', () => {
    const crd = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
    const props = definition(`${crd}.JSONSchemaProps`);
    expect(props.properties?.not).toBe(props);
    expect(props.properties?.items?.['x-kubernetes-preserve-unknown-fields']).toBe(true);
  });

  it('lets raw values be', () => {
    expect(definition('io.k8s.api.apps.v1.ControllerRevision').properties?.data).toEqual({
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });

  it('has a whole schema for every resource', () => {
    const seen = new Set<Schema>();
    const walk = (schema: Schema | undefined): void => {
      if (!schema || seen.has(schema)) return;
      seen.add(schema);
      expect(Object.keys(schema).length).toBeGreaterThan(0);
      for (const property of Object.values(schema.properties ?? {})) walk(property);
      walk(schema.items);
      if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties);
    };
    for (const resource of builtinResources()) {
      const schema = resource.schema();
      expect(schema.properties?.metadata, resource.kind).toBeDefined();
      walk(schema);
    }
    expect(seen.size).toBeGreaterThan(1000);
  });
});
