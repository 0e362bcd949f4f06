import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  below,
  difference,
  equalSets,
  type FieldSet,
  has,
  insert,
  intersection,
  isEmpty,
  leaves,
  paths,
  recursiveDifference,
  setOf,
  union,
} from './field-set.ts';
import { parseFieldsV1, sortFieldsV1 } from './fields-v1.ts';

const a = setOf(['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']);

describe('a set of fields', () => {
  it('is what fieldsV1 holds', () => {
    expect(a).toEqual({ 'f:a': { '.': {}, 'f:b': {} }, 'f:c': { 'f:d': {} } });
  });

  it('tells members from the way to them', () => {
    expect(has(a, ['f:a'])).toBe(true);
    expect(has(a, ['f:a', 'f:b'])).toBe(true);
    expect(has(a, ['f:c'])).toBe(false);
    expect(has(a, ['f:c', 'f:d'])).toBe(true);
    expect(has(a, [])).toBe(false);
  });

  it('subtracts members one by one, or with all below them', () => {
    expect(difference(a, setOf(['f:a']))).toEqual({ 'f:a': { 'f:b': {} }, 'f:c': { 'f:d': {} } });
    expect(recursiveDifference(a, setOf(['f:a']))).toEqual({ 'f:c': { 'f:d': {} } });
    expect(difference(a, setOf(['f:c', 'f:d']))).toEqual({ 'f:a': { '.': {}, 'f:b': {} } });
    expect(difference(a, setOf(['f:a', 'f:b']))).toEqual({ 'f:a': {}, 'f:c': { 'f:d': {} } });
  });

  it('returns itself when nothing is subtracted', () => {
    expect(difference(a, setOf(['f:x'], ['f:c']))).toBe(a);
  });

  it('keeps what both have', () => {
    expect(intersection(a, setOf(['f:a'], ['f:c']))).toEqual({ 'f:a': {} });
  });

  it('unites', () => {
    expect(union(a, setOf(['f:c'], ['f:e']))).toEqual({
      'f:a': { '.': {}, 'f:b': {} },
      'f:c': { '.': {}, 'f:d': {} },
      'f:e': {},
    });
  });

  it('knows its leaves and what is below an element', () => {
    expect(leaves(a)).toEqual({ 'f:a': { 'f:b': {} }, 'f:c': { 'f:d': {} } });
    expect(below(a, 'f:a')).toEqual({ 'f:b': {} });
    expect(below(a, 'f:x')).toEqual({});
  });
});

describe('fieldsV1', () => {
  it('is made canonical: unknown kinds dropped, keys sorted inside, bare dots gone', () => {
    const raw = { 'k:{"b":1, "a":"x"}': { '.': {} }, 'x:future': {}, 'v:"<"': {}, 'i:07': {}, 'f:n': null };
    expect(parseFieldsV1(raw)).toEqual({ 'k:{"a":"x","b":1}': {}, 'v:"\\u003c"': {}, 'i:7': {}, 'f:n': {} });
  });

  it('is returned as it is when it is canonical', () => {
    expect(parseFieldsV1(a)).toBe(a);
  });

  it.each([
    [{ f: {} }],
    [{ fx: {} }],
    [{ 'k:[1]': {} }],
    [{ 'v:{': {} }],
    [{ 'i:x': {} }],
    [{ 'f:a': 'text' }],
    ['text'],
  ])('refuses %j', (raw) => {
    expect(() => parseFieldsV1(raw)).toThrow();
  });

  it('is written in one order', () => {
    const sorted = sortFieldsV1({ 'f:b': {}, 'f:a': { 'f:y': {}, '.': {} } });
    expect(JSON.stringify(sorted)).toBe('{"f:a":{".":{},"f:y":{}},"f:b":{}}');
    expect(sortFieldsV1(sorted)).toBe(sorted);
  });
});

const path = fc.array(fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1'), { minLength: 1, maxLength: 4 });
const pathsArb = fc.array(path, { maxLength: 8 });
const key = (steps: string[]) => steps.join('/');

function setFrom(list: string[][]): FieldSet {
  const set: FieldSet = {};
  for (const steps of list) insert(set, steps);
  return set;
}

function keysOf(set: FieldSet): string[] {
  return paths(set).map(key).sort();
}

describe('set algebra', () => {
  it('agrees with sets of paths', () => {
    fc.assert(
      fc.property(pathsArb, pathsArb, (left, right) => {
        const l = new Set(left.map(key));
        const r = new Set(right.map(key));
        const [a, b] = [setFrom(left), setFrom(right)];
        expect(keysOf(union(a, b))).toEqual([...new Set([...l, ...r])].sort());
        expect(keysOf(intersection(a, b))).toEqual([...l].filter((k) => r.has(k)).sort());
        expect(keysOf(difference(a, b))).toEqual([...l].filter((k) => !r.has(k)).sort());
        const under = (k: string) => [...r].some((taken) => k === taken || k.startsWith(`${taken}/`));
        expect(keysOf(recursiveDifference(a, b))).toEqual([...l].filter((k) => !under(k)).sort());
      }),
    );
  });

  it('gives one form per set, whatever way it was made', () => {
    fc.assert(
      fc.property(pathsArb, pathsArb, (left, right) => {
        const [a, b] = [setFrom(left), setFrom(right)];
        expect(equalSets(union(difference(a, b), intersection(a, b)), a)).toBe(true);
        expect(sortFieldsV1(union(a, b))).toEqual(sortFieldsV1(setFrom([...right, ...left])));
        expect(JSON.stringify(sortFieldsV1(union(a, b)))).toBe(JSON.stringify(sortFieldsV1(union(b, a))));
        expect(isEmpty(difference(a, union(a, b)))).toBe(true);
      }),
    );
  });
});

it('a union that adds nothing and a difference that takes nothing are the set itself', () => {
  const set = setOf(['f:data'], ['f:data', 'f:a'], ['f:data', 'f:b']);
  expect(union(set, setOf(['f:data', 'f:a']))).toBe(set);
  expect(difference(set, setOf(['f:data', 'f:c']))).toBe(set);
});

it('a node loses what is below it, or itself, and keeps the other', () => {
  const set = setOf(['f:data'], ['f:data', 'f:a']);
  expect(difference(set, setOf(['f:data', 'f:a']))).toEqual({ 'f:data': {} });
  expect(difference(set, setOf(['f:data']))).toEqual({ 'f:data': { 'f:a': {} } });
  expect(difference(setOf(['f:data', 'f:a']), setOf(['f:data', 'f:a']))).toEqual({});
});
