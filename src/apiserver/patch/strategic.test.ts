import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema/schema.ts';
import { ApiError } from '../status.ts';
import { applyStrategicPatch } from './strategic.ts';

const string: Schema = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    containers: {
      type: 'array',
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
      items: {
        type: 'object',
        properties: {
          name: string,
          image: string,
          args: { type: 'array', items: string },
          n: { type: 'integer', format: 'int32' },
        },
      },
    },
    finalizers: { type: 'array', items: string, 'x-kubernetes-patch-strategy': 'merge' },
    strategy: {
      type: 'object',
      'x-kubernetes-patch-strategy': 'retainKeys',
      properties: { type: string, rollingUpdate: { type: 'object', properties: { maxSurge: string } } },
    },
    labels: { type: 'object', additionalProperties: string },
    tolerations: { type: 'array', items: { type: 'object' } },
  },
};

const a = { name: 'a', image: '1', args: ['x'] };
const b = { name: 'b', image: '1' };
const c = { name: 'c' };
const live = {
  containers: [a, b],
  finalizers: ['x', 'y'],
  labels: { k: 'v' },
  strategy: { type: 'R', rollingUpdate: { maxSurge: '1' } },
};

function failure(patch: unknown): unknown {
  try {
    applyStrategicPatch(live, patch, schema);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.message];
    throw error;
  }
  throw new Error('did not fail');
}

describe('strategic merge patch', () => {
  it.each([
    [
      'merges items by key',
      { containers: [{ name: 'b', image: '2' }] },
      { containers: [a, { name: 'b', image: '2' }] },
    ],
    ['adds items it does not know, in front of what follows', { containers: [c] }, { containers: [c, a, b] }],
    [
      'replaces lists without a strategy',
      { containers: [{ name: 'a', args: ['y'] }] },
      { containers: [{ ...a, args: ['y'] }, b] },
    ],
    ['deletes an item', { containers: [{ name: 'a', $patch: 'delete' }] }, { containers: [b] }],
    ['replaces a list', { containers: [c, { $patch: 'replace' }] }, { containers: [c] }],
    ['replaces a map', { labels: { n: '1', $patch: 'replace' } }, { labels: { n: '1' } }],
    ['empties a map', { labels: { $patch: 'delete' } }, { labels: {} }],
    [
      'deletes by null',
      { labels: { k: null, n: '1' }, finalizers: null },
      { labels: { n: '1' }, finalizers: undefined },
    ],
    ['adds to lists of scalars', { finalizers: ['z', 'x'] }, { finalizers: ['z', 'x', 'y'] }],
    ['deletes from lists of scalars', { '$deleteFromPrimitiveList/finalizers': ['x'] }, { finalizers: ['y'] }],
    ['keeps only some keys', { strategy: { $retainKeys: ['type'], type: 'S' } }, { strategy: { type: 'S' } }],
    [
      'puts items in order',
      { '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }, { name: 'a' }], containers: [c] },
      { containers: [b, c, a] },
    ],
    ['puts scalars in order', { '$setElementOrder/finalizers': ['y', 'x'] }, { finalizers: ['y', 'x'] }],
    [
      'drops nulls and directives from what is new',
      { tolerations: [{ k: null }, { $patch: 'delete' }] },
      { tolerations: [{}] },
    ],
  ])('%s', (_name, patch, expected) => {
    const before = structuredClone([live, patch]);
    const { finalizers, ...rest } = { ...live, ...expected } as Record<string, unknown>;
    expect(applyStrategicPatch(live, patch, schema)).toEqual(finalizers ? { finalizers, ...rest } : rest);
    expect([live, patch]).toEqual(before);
  });

  it.each([
    [400, 'json: cannot unmarshal array into Go value of type map[string]interface {}', []],
    [400, 'invalid patch format of retainKeys', { strategy: { $retainKeys: ['x'], type: 'S' } }],
    [400, 'invalid patch format of primitive list', { $deleteFromPrimitiveList: ['x'] }],
    [400, 'invalid patch format of setElementOrder list', { '$setElementOrder!/finalizers': ['x'] }],
    [500, 'map: map[image:2] does not contain declared merge key: name', { containers: [{ image: '2' }] }],
    [500, 'unknown patch type: nonsense in map: map[$patch:nonsense]', { labels: { $patch: 'nonsense' } }],
    [500, 'merging lists cannot yet be specified in the patch', { containers: [{ $patch: 'merge' }] }],
    [422, 'the server rejected our request due to an error in our request', { finalizers: [['x']] }],
    [
      500,
      "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [c] },
    ],
    [
      422,
      ' "" is invalid: patch: Invalid value: "map[strategy:text]": cannot restore struct from: string',
      { strategy: 'text' },
    ],
    [
      422,
      ' "" is invalid: patch: Invalid value: "map[labels:text]": cannot restore map from string',
      { labels: 'text' },
    ],
    [
      422,
      ' "" is invalid: patch: Invalid value: "map[containers:map[]]": cannot restore slice from map',
      { containers: {} },
    ],
    [
      422,
      ' "" is invalid: patch: Invalid value: "map[containers:[map[image:1 name:a]]]": cannot convert int64 to string',
      { containers: [{ name: 'a', image: 1 }] },
    ],
  ])('%i %s', (code, message, patch) => {
    expect(failure(patch)).toEqual([code, message]);
  });

  it('reads references with words of their own, as OpenAPI v3 writes them', () => {
    const item: Schema = { type: 'object', properties: { name: string, v: string } };
    const list: Schema = {
      type: 'array',
      items: { allOf: [item] },
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
    };
    const outer: Schema = {
      type: 'object',
      properties: { spec: { allOf: [{ type: 'object', properties: { list } }], default: {} } },
    };
    const result = applyStrategicPatch(
      { spec: { list: [{ name: 'a' }] } },
      { spec: { list: [{ name: 'a', v: '1' }] } },
      outer,
    );
    expect(result).toEqual({ spec: { list: [{ name: 'a', v: '1' }] } });
  });

  const word = fc.constantFrom('x', 'y', 'z');
  const object = fc.record(
    {
      containers: fc.uniqueArray(fc.record({ name: word, image: word }, { requiredKeys: ['name'] }), {
        selector: (item) => item.name,
      }),
      finalizers: fc.uniqueArray(word),
      labels: fc.dictionary(word, word),
    },
    { requiredKeys: [] },
  );

  it('done twice is done once', () => {
    fc.assert(
      fc.property(object, object, (doc, patch) => {
        const once = applyStrategicPatch(doc, patch, schema);
        expect(applyStrategicPatch(once, patch, schema)).toEqual(once);
      }),
    );
  });

  it('of nothing changes nothing, and onto nothing gives the patch', () => {
    fc.assert(
      fc.property(object, (doc) => {
        expect(applyStrategicPatch(doc, {}, schema)).toEqual(doc);
        expect(applyStrategicPatch({}, doc, schema)).toEqual(doc);
      }),
    );
  });
});
