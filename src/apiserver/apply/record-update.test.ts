import { describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts';
import { recordUpdate, type UpdateRequest } from './record-update.ts';
import { API_VERSION, at, thing, thingSchema } from './thing.fixture.ts';

function record(request: Partial<UpdateRequest> & { object: KubeObject }): ManagedFieldsEntry[] | undefined {
  return recordUpdate({
    live: undefined,
    schema: thingSchema,
    manager: 'm1',
    apiVersion: API_VERSION,
    subresource: '',
    now: at(0),
    ...request,
  });
}

function stored(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields } };
}

function created(spec: Record<string, unknown>, metadata?: Record<string, unknown>): KubeObject {
  const object = thing(spec, metadata);
  return stored(object, record({ object }));
}

describe('create', () => {
  it('gives the creator every field but the identity of the object', () => {
    const object = thing(
      {
        replicas: 1,
        args: ['a'],
        tags: ['x'],
        selector: { a: 'b' },
        ports: [{ port: 80 }],
        free: { list: [1], map: {} },
      },
      { uid: 'u', resourceVersion: '1', labels: { app: 'x' }, finalizers: ['f/x'] },
    );
    expect(record({ object })).toEqual([
      {
        manager: 'm1',
        operation: 'Update',
        apiVersion: API_VERSION,
        time: '2020-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:finalizers': { '.': {}, 'v:"f/x"': {} }, 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': {
            '.': {},
            'f:args': {},
            'f:free': { '.': {}, 'f:list': {}, 'f:map': {} },
            'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } },
            'f:replicas': {},
            'f:selector': {},
            'f:tags': { '.': {}, 'v:"x"': {} },
          },
        },
      },
    ]);
  });

  it('names whoever does not say who they are', () => {
    expect(record({ object: thing({ name: 'x' }), manager: '' })?.[0]?.manager).toBe('unknown');
  });

  it('takes labels named like properties of Object for labels', () => {
    const [entry] = record({ object: thing(undefined, { labels: { constructor: 'x' } }) }) ?? [];
    expect(entry?.fieldsV1).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:constructor': {} } } });
  });

  it('does not count empty structs of built-in kinds as new', () => {
    const schema = {
      type: 'object' as const,
      properties: {
        metadata: { type: 'object' as const },
        spec: {
          type: 'object' as const,
          default: {},
          required: ['items'],
          properties: {
            items: {
              type: 'array' as const,
              'x-kubernetes-list-type': 'map' as const,
              'x-kubernetes-list-map-keys': ['name'],
              items: {
                type: 'object' as const,
                properties: { name: { type: 'string' as const }, resources: { type: 'object' as const, default: {} } },
              },
            },
          },
        },
      },
    };
    const [entry] = record({ schema, structs: true, object: thing({ items: [{ name: 'a' }] }) }) ?? [];
    expect(entry?.fieldsV1).toEqual({
      'f:spec': { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:resources': {} } } },
    });
  });
});

describe('update', () => {
  const live = created({ replicas: 1, name: 'x' });

  it('returns the stored record itself when nothing changes', () => {
    const object = structuredClone(live);
    expect(record({ live, object, manager: 'm2', now: at(5) })).toBe(live.metadata.managedFields);
  });

  it('moves what changes from its owner to whoever changes it', () => {
    const object = stored(thing({ replicas: 2, name: 'x' }), undefined);
    const entries = record({ live, object, manager: 'm2', now: at(5) });
    expect(entries).toMatchObject([
      { manager: 'm1', time: '2020-01-01T00:00:00Z', fieldsV1: { 'f:spec': { '.': {}, 'f:name': {} } } },
      { manager: 'm2', time: '2020-01-01T00:00:05Z', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]);
    expect(entries?.[0]?.fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:name': {} } });
  });

  it('keeps the time of those who only lose fields', () => {
    const object = stored(thing({ name: 'x' }), undefined);
    const entries = record({ live, object, now: at(5) });
    expect(entries).toMatchObject([{ manager: 'm1', time: '2020-01-01T00:00:00Z' }]);
    expect(entries?.[0]?.fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:name': {} } });
  });

  it('tells subresources and versions of a manager apart', () => {
    const object = { ...stored(thing({ replicas: 1, name: 'x' }), undefined), status: { phase: 'Ready' } };
    const entries = record({ live, object, subresource: 'status', now: at(5) });
    expect(entries?.map((entry) => [entry.manager, entry.subresource])).toEqual([
      ['m1', undefined],
      ['m1', 'status'],
    ]);
  });

  it('gives nobody what the request cannot change', () => {
    const object = { ...stored(thing({ replicas: 1, name: 'x' }), undefined), status: { phase: 'Ready' } };
    expect(record({ live, object, reset: { 'f:status': {} } })).toBe(live.metadata.managedFields);
  });

  it('forgets everything on request, and then stays silent', () => {
    for (const managedFields of [[], [{}]]) {
      const object = stored(thing({ replicas: 3 }), managedFields);
      expect(record({ live, object })).toBeUndefined();
    }
    const untracked = stored(thing({ replicas: 1 }), undefined);
    expect(record({ live: untracked, object: stored(thing({ replicas: 2 }), undefined) })).toBeUndefined();
  });

  it('lets the client edit the record, but not break it', () => {
    const entry: ManagedFieldsEntry = {
      manager: 'other',
      operation: 'Apply',
      apiVersion: API_VERSION,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:name': {} } },
    };
    const same = { replicas: 1, name: 'x' };
    expect(record({ live, object: stored(thing(same), [entry]) })).toEqual([entry]);
    const broken = { ...entry, operation: 'Nonsense' as never };
    expect(record({ live, object: stored(thing(same), [broken]) })).toEqual(live.metadata.managedFields);
    expect(record({ live, object: stored(thing(same), [entry]), subresource: 'status' })).toEqual(
      live.metadata.managedFields,
    );
  });

  it('merges the oldest updaters into one when there are more than ten', () => {
    let object = created({ options: { o: 'x' } });
    for (let i = 1; i <= 11; i++) {
      const next = thing({ options: { ...object.spec.options, [`o${i}`]: 'x' } });
      object = stored(next, record({ live: object, object: stored(next, undefined), manager: `w${i}`, now: at(i) }));
    }
    const names = object.metadata.managedFields?.map((entry) => entry.manager);
    expect(names).toEqual(['ancient-changes', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9', 'w10', 'w11']);
    expect(object.metadata.managedFields?.[0]).toMatchObject({
      time: '2020-01-01T00:00:02Z',
      fieldsV1: { 'f:spec': { 'f:options': { 'f:o': {}, 'f:o1': {}, 'f:o2': {} } } },
    });
  });

  it('owns a list as a whole once the schema says it is one value', () => {
    const before = created({ tags: ['x'] });
    const atomic = structuredClone(thingSchema);
    (atomic.properties?.spec?.properties?.tags as Record<string, unknown>)['x-kubernetes-list-type'] = 'atomic';
    const object = stored(thing({ tags: ['x'], name: 'y' }), undefined);
    const entries = record({ live: before, object, schema: atomic });
    expect(entries?.[0]?.fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:name': {}, 'f:tags': {} } });
  });

  it('drops managers of versions that are gone', () => {
    const old = structuredClone(live);
    for (const entry of old.metadata.managedFields ?? []) entry.apiVersion = 'example.com/v0';
    const object = stored(thing({ replicas: 2, name: 'x' }), undefined);
    const entries = record({ live: old, object, versions: () => undefined });
    expect(entries?.map((entry) => entry.apiVersion)).toEqual([API_VERSION]);
  });
});
