import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch } from './merge-patch.ts';

describe('merge patch', () => {
  // Appendix A of RFC 7386, as far as the target is an object.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: 'foo' }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
  ])('%j with %j is %j', (doc, patch, expected) => {
    expect(applyMergePatch(doc, patch)).toEqual(expected);
  });

  it('has to be an object', () => {
    const text = 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}';
    expect(() => applyMergePatch({}, [])).toThrow(text);
    expect(() => applyMergePatch({}, null)).toThrow('Invalid JSON Patch');
  });

  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(1, 'x', true),
      fc.array(tie('value'), { maxLength: 2 }),
      tie('map'),
    ),
    map: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 3 }),
  }));

  it('done twice is done once, and touches nothing it was given', () => {
    fc.assert(
      fc.property(json.map, json.map, (doc, patch) => {
        const before = JSON.stringify([doc, patch]);
        const once = applyMergePatch(doc, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect(JSON.stringify([doc, patch])).toBe(before);
      }),
    );
  });

  it('onto nothing is the patch', () => {
    fc.assert(
      fc.property(json.map, (doc) => {
        expect(applyMergePatch({}, doc)).toEqual(doc);
      }),
    );
  });
});
