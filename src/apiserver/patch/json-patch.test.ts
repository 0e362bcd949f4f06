import { describe, expect, it } from 'vitest';
import { ApiError } from '../status.ts';
import { applyJsonPatch } from './json-patch.ts';

function failure(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.reason, error.message];
    throw error;
  }
  throw new Error('did not fail');
}

const doc = { a: { b: [1, 2, 3] }, 'x/y': 1, n: null };

describe('json patch', () => {
  it.each([
    [[{ op: 'add', path: '/a/c', value: { d: 1 } }], { ...doc, a: { b: [1, 2, 3], c: { d: 1 } } }],
    [[{ op: 'add', path: '/a/b/1', value: 9 }], { ...doc, a: { b: [1, 9, 2, 3] } }],
    [[{ op: 'add', path: '/a/b/-', value: 9 }], { ...doc, a: { b: [1, 2, 3, 9] } }],
    [[{ op: 'remove', path: '/a/b/0' }], { ...doc, a: { b: [2, 3] } }],
    [[{ op: 'remove', path: '/a/b/-1' }], { ...doc, a: { b: [1, 2] } }],
    [[{ op: 'replace', path: '/x~1y', value: 2 }], { ...doc, 'x/y': 2 }],
    [[{ op: 'replace', path: '/new', value: 2 }], { ...doc, new: 2 }],
    [[{ op: 'move', from: '/a/b', path: '/m' }], { a: {}, 'x/y': 1, n: null, m: [1, 2, 3] }],
    [[{ op: 'copy', from: '/a', path: '/m' }], { ...doc, m: { b: [1, 2, 3] } }],
    [[{ op: 'copy', from: '/missing', path: '/m' }], { ...doc, m: null }],
    [[{ op: 'test', path: '/a/b', value: [1, 2, 3] }], doc],
    [[{ op: 'test', path: '/missing', value: null }], doc],
    [[{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
    [[], doc],
  ])('%j', (operations, expected) => {
    const before = structuredClone(doc);
    expect(applyJsonPatch(doc, operations)).toEqual(expected);
    expect(doc).toEqual(before);
  });

  it.each([
    [[{ op: 'test', path: '/a/b/0', value: 2 }]],
    [[{ op: 'remove', path: '/missing' }]],
    [[{ op: 'add', path: '/missing/x', value: 1 }]],
    [[{ op: 'add', path: '/n/x', value: 1 }]],
    [[{ op: 'add', path: '/a/b/7', value: 1 }]],
    [[{ op: 'replace', path: '/a/b/x', value: 1 }]],
    [[{ op: 'remove', path: '/__proto__' }]],
    [[{ op: 'add', path: '', value: {} }]],
    [[{ op: 'nonsense', path: '/a' }]],
    [[{ op: 'add' }]],
  ])('%j does not fit', (operations) => {
    const message = 'the server rejected our request due to an error in our request';
    expect(failure(() => applyJsonPatch(doc, operations))).toEqual([422, 'Invalid', message]);
  });

  it.each([
    [{ op: 'add' }, 'cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['text', 'cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
    [[7], 'cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [[{ op: 7 }], 'cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
  ])('%j is no patch', (operations, text) => {
    expect(failure(() => applyJsonPatch(doc, operations))).toEqual([
      400,
      'BadRequest',
      `error decoding patch: json: ${text}`,
    ]);
  });

  it('does ten thousand operations and no more', () => {
    const one = { op: 'test', path: '/x~1y', value: 1 };
    expect(applyJsonPatch(doc, Array(10_000).fill(one))).toEqual(doc);
    expect(failure(() => applyJsonPatch(doc, Array(10_001).fill(one)))).toEqual([
      413,
      'RequestEntityTooLarge',
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ]);
  });

  it('does not let copies of copies grow without end', () => {
    const operations = Array(60).fill({ op: 'copy', from: '/a', path: '/a/b/-' });
    expect(failure(() => applyJsonPatch(doc, operations))).toContain(422);
  });

  it('adds a key called __proto__ as a key', () => {
    const result = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]) as object;
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect('polluted' in {}).toBe(false);
  });
});
