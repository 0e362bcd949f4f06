import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toTheEnd } from '../turns.ts';
import { jsonTextInPieces } from './json-text.ts';

function isAlike(value: unknown): void {
  expect(toTheEnd(jsonTextInPieces(value))).toBe(JSON.stringify(value));
  expect(toTheEnd(jsonTextInPieces(value, true))).toBe(JSON.stringify(value, null, 2));
}

it('writes what JSON.stringify writes', () => {
  const wide = fc.array(fc.jsonValue(), { minLength: 150, maxLength: 400, size: 'max' });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        wide,
        wide.map((list) => ({ ...list, 'a\n"b': list })),
      ),
      isAlike,
    ),
    { numRuns: 60 },
  );
}, 60_000);

it('leaves out what JSON has no form for', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i % 3 ? i : undefined]));
  isAlike({ many, list: [undefined, many, null] });
});

it('fails where a value is a part of itself', () => {
  const list: unknown[] = Array(300).fill(0);
  list.push({ list });
  expect(() => toTheEnd(jsonTextInPieces(list))).toThrow(TypeError);
});

it('writes much in several steps', () => {
  const steps = jsonTextInPieces(Array.from({ length: 100_000 }, (_, i) => ({ i })));
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(10);
});
