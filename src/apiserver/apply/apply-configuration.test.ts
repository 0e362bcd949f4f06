import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../status.ts';
import { type ApplyRequest, applyConfiguration } from './apply-configuration.ts';
import { recordUpdate } from './record-update.ts';
import { API_VERSION, at, thing, thingSchema } from './thing.fixture.ts';

const base = { schema: thingSchema, apiVersion: API_VERSION, subresource: '', now: at(0), force: false };

function apply(
  live: KubeObject | undefined,
  config: KubeObject,
  manager: string,
  more: Partial<ApplyRequest> = {},
): KubeObject {
  const result = applyConfiguration({ ...base, live, config, manager, ...more });
  return { ...result, metadata: { ...result.metadata, uid: 'u' } };
}

function update(live: KubeObject | undefined, object: KubeObject, manager: string): KubeObject {
  const managedFields = recordUpdate({ ...base, live, object, manager });
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields } };
}

function failure(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('did not fail');
}

function owners(object: KubeObject): Record<string, unknown> {
  return Object.fromEntries((object.metadata.managedFields ?? []).map((entry) => [entry.manager, entry.fieldsV1]));
}

describe('apply', () => {
  it('creates, owning what it mentions', () => {
    const object = apply(undefined, thing({ replicas: 1, ports: [{ port: 80 }], tags: [] }), 'a');
    expect(object.spec).toEqual({ replicas: 1, ports: [{ port: 80 }], tags: [] });
    expect(object.metadata.managedFields).toEqual([
      {
        manager: 'a',
        operation: 'Apply',
        apiVersion: API_VERSION,
        time: '2020-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } }, 'f:replicas': {} },
        },
      },
    ]);
  });

  it('merges lists by key, keeping what others put there, and takes its own items out again', () => {
    const first = apply(undefined, thing({ ports: [{ port: 80, name: 'web' }], tags: ['a'] }), 'a');
    const both = apply(first, thing({ ports: [{ port: 443 }], tags: ['b'] }), 'b');
    expect(both.spec).toEqual({ ports: [{ port: 80, name: 'web' }, { port: 443 }], tags: ['a', 'b'] });
    expect(apply(both, thing({}), 'a').spec).toEqual({ ports: [{ port: 443 }], tags: ['b'] });
  });

  it('leaves fields it gives up where someone else wants them, too', () => {
    const first = apply(undefined, thing({ name: 'x', replicas: 1 }), 'a');
    const shared = apply(first, thing({ name: 'x' }), 'b');
    const left = apply(shared, thing(), 'a');
    expect(left.spec).toEqual({ name: 'x' });
    expect(owners(left)).toEqual({ b: { 'f:spec': { 'f:name': {} } } });
  });

  it('leaves fields an updater took over', () => {
    const first = apply(undefined, thing({ name: 'x', replicas: 1 }), 'a');
    const taken = update(first, thing({ name: 'x', replicas: 5 }), 'scaler');
    expect(apply(taken, thing({ name: 'x' }), 'a').spec).toEqual({ name: 'x', replicas: 5 });
  });

  it('changes nothing, not even the time, when applied again', () => {
    const first = apply(undefined, thing({ name: 'x', options: { a: 'b' } }), 'a');
    const again = apply(first, thing({ name: 'x', options: { a: 'b' } }), 'a', { now: at(9) });
    expect(again).toEqual(first);
  });

  it('counts what was there before the first apply as somebody’s', () => {
    const live = thing({ name: 'x' }, { uid: 'u' });
    const object = apply(live, thing({ replicas: 2 }), 'a', { now: at(3) });
    expect(object.metadata.managedFields).toMatchObject([
      { manager: 'a', operation: 'Apply' },
      { manager: 'before-first-apply', operation: 'Update', fieldsV1: { 'f:spec': { '.': {}, 'f:name': {} } } },
    ]);
  });

  it('does not own what it cannot change', () => {
    const config = { ...thing({ name: 'x' }), status: { phase: 'Ready' } };
    expect(owners(apply(undefined, config, 'a', { reset: { 'f:status': {} } }))).toEqual({
      a: { 'f:spec': { 'f:name': {} } },
    });
  });

  it('keeps neither its inputs nor their parts', () => {
    const live = apply(undefined, thing({ name: 'x', options: { a: 'b' } }), 'a');
    const config = thing({ options: { c: 'd' } });
    const [before, sent] = [structuredClone(live), structuredClone(config)];
    const result = applyConfiguration({ ...base, live, config, manager: 'b' });
    result.spec.options.c = 'changed';
    result.spec.name = 'changed';
    expect(live).toEqual(before);
    expect(config).toEqual(sent);
  });
});

describe('conflicts', () => {
  const live = update(undefined, thing({ replicas: 1, name: 'x', ports: [{ port: 80, name: 'web' }] }), 'editor');

  it('are one', () => {
    const error = failure(() => apply(live, thing({ replicas: 2 }), 'a'));
    expect(error.toStatus()).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "editor" using example.com/v1: .spec.replicas',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "editor" using example.com/v1',
            field: '.spec.replicas',
          },
        ],
      },
    });
  });

  it('are many, by manager', () => {
    const two = apply(live, thing({ options: { a: 'x' } }), 'b', { subresource: 'status' });
    const config = thing({ replicas: 2, options: { a: 'y' }, ports: [{ port: 80, name: 'other' }] });
    expect(failure(() => apply(two, config, 'a')).message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "b" with subresource "status":',
        '- .spec.options.a',
        'conflicts with "editor" using example.com/v1:',
        '- .spec.replicas',
        '- .spec.ports[port=80,protocol="TCP"].name',
      ].join('\n'),
    );
  });

  it('are none where values agree: ownership is shared', () => {
    const object = apply(live, thing({ replicas: 1 }), 'a');
    expect(owners(object).a).toEqual({ 'f:spec': { 'f:replicas': {} } });
    expect(owners(object).editor).toMatchObject({ 'f:spec': { 'f:replicas': {} } });
  });

  it('are overcome by force, which takes the fields', () => {
    const object = apply(live, thing({ replicas: 2 }), 'a', { force: true });
    expect(object.spec.replicas).toBe(2);
    expect(owners(object).editor).not.toHaveProperty(['f:spec', 'f:replicas']);
  });
});

describe('what cannot be applied', () => {
  it.each([
    ['another kind', { ...thing(), kind: 'Other' }, 400, 'invalid object type: example.com/v1, Kind=Other'],
    ['another version', { ...thing(), apiVersion: 'v2' }, 400, 'invalid object type: /v2, Kind=Thing'],
    ['managedFields', thing({}, { managedFields: [] }), 400, 'metadata.managedFields must be nil'],
    ['an unknown field', thing({ nope: 1 }), 500, '.spec.nope: field not declared in schema'],
    ['a wrong type', thing({ replicas: 'x' }), 500, '.spec.replicas: expected numeric (int or float), got string'],
    ['a scalar for a map', thing({ options: 'x' }), 500, '.spec.options: expected map, got &{x}'],
    ['a repeated item', thing({ tags: ['x', 'x'] }), 500, '.spec.tags: duplicate entries for key [="x"]'],
    [
      'a repeated key',
      thing({ ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] }),
      500,
      '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ],
    [
      'a null item',
      thing({ ports: [null] }),
      500,
      '.spec.ports: element 0: associative list with keys may not have a null element',
    ],
  ])('%s', (_name, config, code, text) => {
    const error = failure(() => apply(undefined, config as KubeObject, 'a', { kind: 'Thing' }));
    const prefix = 'failed to create typed patch object (/n; example.com/v1, Kind=Thing): ';
    expect([error.code, error.message]).toEqual([code, code === 500 ? prefix + text : text]);
  });
});

describe('kubectl, coming from client-side apply', () => {
  const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
  const applied = JSON.stringify(thing({ replicas: 1, name: 'x' }));
  const live = update(
    undefined,
    thing({ replicas: 1, name: 'x' }, { annotations: { [ANNOTATION]: applied } }),
    'kubectl-client-side-apply',
  );

  it('takes over what it set and nobody changed, and keeps the annotation up to date', () => {
    const object = apply(live, thing({ replicas: 3, name: 'x' }), 'kubectl');
    expect(object.spec).toEqual({ replicas: 3, name: 'x' });
    expect(object.metadata.annotations?.[ANNOTATION]).toBe(
      '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"n"},"spec":{"name":"x","replicas":3}}\n',
    );
  });

  it('still conflicts on what was changed since', () => {
    const scaled = update(live, { ...structuredClone(live), spec: { replicas: 9, name: 'x' } }, 'scaler');
    expect(failure(() => apply(scaled, thing({ replicas: 3, name: 'y' }), 'kubectl')).message).toBe(
      'Apply failed with 1 conflict: conflict with "scaler" using example.com/v1: .spec.replicas',
    );
  });

  it('is nobody else', () => {
    expect(failure(() => apply(live, thing({ replicas: 3 }), 'helm')).code).toBe(409);
    expect(apply(live, thing({ name: 'x' }), 'helm').metadata.annotations).toEqual({ [ANNOTATION]: applied });
  });
});
