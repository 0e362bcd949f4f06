import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../schema/schema.ts';
import { crdConditions } from './conditions.ts';
import type { Crd, CrdVersion } from './crd.ts';
import { compileJsonPath } from './json-path.ts';
import { customResources } from './resources.ts';
import { crdStrategy } from './strategy.ts';
import { validateCrd } from './validate.ts';

const context = { now: 0, user: 'u', groups: [], dryRun: false };

function crdOf(schema: Schema, version: Partial<CrdVersion> = {}, spec: Partial<Crd['spec']> = {}): Crd {
  const crd: Crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', uid: 'u1' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
      ...spec,
    },
  };
  crdStrategy.prepareCreate?.(crd, context);
  crdStrategy.defaults?.(crd);
  return crd;
}

const texts = (crd: Crd, old?: Crd) => validateCrd(crd, old).map((e) => `${e.field}: ${e.message}`);
const plain: Schema = { type: 'object', properties: { spec: { type: 'object' } } };

describe('validateCrd', () => {
  it('accepts a plain one and fills in names', () => {
    const crd = crdOf(plain);
    expect(texts(crd)).toEqual([]);
    expect(crd.spec.names).toMatchObject({ singular: 'widget', listKind: 'WidgetList' });
    expect(crd.status?.storedVersions).toEqual(['v1']);
    expect(crd.spec.conversion).toEqual({ strategy: 'None' });
  });

  it.each<[string, Crd, string[]]>([
    [
      'non-structural',
      crdOf({
        type: 'object',
        properties: { spec: { properties: { a: { type: 'string' } } } } as Record<string, Schema>,
      }),
      [
        'spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      'name',
      { ...crdOf(plain), metadata: { name: 'other.example.com' } },
      ['metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      'group without dot',
      { ...crdOf(plain, {}, { group: 'example' }), metadata: { name: 'widgets.example' } },
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [
      'default with unknown fields',
      crdOf({ type: 'object', properties: { spec: { type: 'object', default: { a: 1 } } } }),
      [
        'spec.validation.openAPIV3Schema.properties[spec].default: Invalid value: {"a":1}: must not have unknown fields',
      ],
    ],
    [
      'invalid default',
      crdOf({ type: 'object', properties: { spec: { type: 'string', default: 1 } } }),
      [
        'spec.validation.openAPIV3Schema.properties[spec].default: Invalid value: "integer":  in body must be of type string: "integer"',
      ],
    ],
    [
      'list map keys',
      crdOf({
        type: 'object',
        properties: {
          l: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', properties: { k: { type: 'string' } } },
          },
        },
      }),
      [
        'spec.validation.openAPIV3Schema.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      'protected group',
      { ...crdOf(plain, {}, { group: 'x.k8s.io' }), metadata: { name: 'widgets.x.k8s.io' } },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'two storage versions',
      crdOf(plain, {}, { versions: [] }),
      [
        'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: []: must have at least one stored version',
      ],
    ],
    [
      'bad pattern',
      crdOf({ type: 'object', properties: { a: { type: 'string', pattern: '(' } } }),
      [
        'spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
    ],
  ])('%s', (_, crd, expected) => expect(texts(crd)).toEqual(expected));

  it('keeps group, plural and (once established) kind and scope', () => {
    const old = crdOf(plain);
    old.status = { ...old.status, conditions: [{ type: 'Established', status: 'True' }] };
    const crd = structuredClone(old);
    crd.spec.scope = 'Cluster';
    crd.spec.names.kind = 'Other';
    expect(texts(crd, old)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Other": field is immutable',
    ]);
  });
});

describe('conditions', () => {
  it('accepts free names and refuses taken ones', () => {
    const first = crdOf(plain);
    first.status = crdConditions(first, [], '2020-01-01T00:00:00Z');
    expect(first.status.conditions).toEqual([
      {
        type: 'NamesAccepted',
        status: 'True',
        reason: 'NoConflicts',
        message: 'no conflicts found',
        lastTransitionTime: '2020-01-01T00:00:00Z',
      },
      {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
        lastTransitionTime: '2020-01-01T00:00:00Z',
      },
    ]);
    const second = crdOf(plain, {}, { names: { plural: 'others', singular: 'other', kind: 'Widget' } });
    second.metadata.name = 'others.example.com';
    const status = crdConditions(second, [first, second], '2020-01-01T00:00:00Z');
    expect(status.conditions?.[0]).toMatchObject({
      status: 'False',
      reason: 'ListKindConflict',
      message: '"WidgetList" is already in use',
    });
    expect(status.conditions?.[1]).toMatchObject({ status: 'False', reason: 'NotAccepted' });
  });
});

describe('custom resources', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'integer', minimum: 1 }, color: { type: 'string', default: 'red' } },
      },
      status: { type: 'object', properties: { replicas: { type: 'integer' } } },
    },
  };
  const crd = crdOf(schema, {
    subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
    selectableFields: [{ jsonPath: '.spec.color' }],
    additionalPrinterColumns: [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Color', type: 'string', jsonPath: '.spec.color' },
      { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  });
  const [resource] = customResources(crd);
  if (!resource) throw new Error('no resource');

  it('prunes, defaults and validates', async () => {
    const object: KubeObject = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec: { size: 0, nope: 1 },
      status: { replicas: 3 },
    };
    expect(resource.custom?.prune(object)).toEqual(['spec.nope']);
    resource.strategy.prepareCreate?.(object, context);
    resource.strategy.defaults?.(object);
    expect(object).toMatchObject({ spec: { size: 0, color: 'red' } });
    expect(object.status).toBeUndefined();
    const errors = (await resource.custom?.validate(object)) ?? [];
    expect(errors.map((e) => `${e.field}: ${e.message}`)).toEqual([
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ]);
  });

  it('prints, selects and scales', () => {
    const object: KubeObject = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a', creationTimestamp: '1970-01-01T00:00:00Z' },
      spec: { size: 2, color: 'blue' },
    };
    expect(resource.printer.columns.map((c) => c.name)).toEqual(['Name', 'Size', 'Color', 'Since']);
    expect(resource.printer.cells(object, 60_000)).toEqual(['a', 2, 'blue', '60s']);
    expect(resource.selectableFields['spec.color']?.(object)).toBe('blue');
    expect(resource.scale).toEqual({ specReplicas: 'spec.size', statusReplicas: 'status.replicas' });
  });

  it('refuses metadata of the wrong type', () => {
    const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { labels: { a: 1 } } };
    expect(() => resource.custom?.prune(object as unknown as KubeObject)).toThrow(
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    );
  });
});

describe('JSONPath', () => {
  const root = {
    a: {
      'b.c': 1,
      list: [
        { k: 'x', v: 1 },
        { k: 'y', v: 2 },
        { k: 'z', v: 3 },
      ],
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
  it.each<[string, unknown[]]>([
    ['.a.list[0].k', ['x']],
    ['.a.list[-1].k', ['z']],
    ['.a.list[0:2].v', [1, 2]],
    ['.a.list[*].k', ['x', 'y', 'z']],
    ['.a.list[0,2].k', ['x', 'z']],
    ['.a.list[?(@.v>1)].k', ['y', 'z']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Ready')].status", ['True']],
    [".a['b.c']", [1]],
    ['.a.b\\.c', [1]],
    ['.a.nothing.deep', []],
    ['..v', [1, 2, 3]],
  ])('%s', (path, expected) => expect(compileJsonPath(path)(root)).toEqual(expected));
});
