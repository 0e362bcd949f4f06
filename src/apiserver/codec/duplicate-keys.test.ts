import fc from 'fast-check';
import { expect, it } from 'vitest';
import { duplicateKeys, keyPlaces } from './duplicate-keys.ts';

it.each([
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"spec":{"replicas":1,"x":[{"n":1},{"n":1,"n":2}],"replicas":2}}', ['spec.x[1].n', 'spec.replicas']],
  ['{"a":"{\\"b\\":1,\\"b\\":2}"}', []],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['{"a":{"b":1},"c":{"b":1}}', []],
  ['[{"a":1,"a":1},{"a":1}]', ['[0].a']],
  ['{"a\\\\":1,"a\\\\":2}', ['a\\']],
  ['{"a":1,"a":2,"a":3}', ['a']],
])('%s', (text, expected) => {
  expect(duplicateKeys(text)).toEqual(expected);
});

it('knows where keys stand, each time', () => {
  const places = keyPlaces('{"a":{"b":1,"b":2},"c":[{"b":3}]}');
  expect(Object.fromEntries(places)).toEqual({ a: [1], 'a.b': [6, 12], c: [19], 'c[0].b': [25] });
});

it('finds none in anything JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(duplicateKeys(text)).toEqual([]);
      expect(duplicateKeys(JSON.stringify(JSON.parse(text), null, 2))).toEqual([]);
    }),
  );
});

it('however many there are', () => {
  const pairs = Array.from({ length: 100_000 }, (_, i) => `"k${i}":1,"k${i}":2`);
  expect(duplicateKeys(`{${pairs.join(',')}}`)).toHaveLength(100_000);
});
