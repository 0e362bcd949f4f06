// A large text read in pieces is what JSON.parse makes of it, and what is no JSON is none either way.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toTheEnd } from '../turns.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { jsonInPieces, NotJson, TooDeep } from './json-pieces.ts';

const DEPTH = 200;
const read = (text: string, piece?: number) => toTheEnd(jsonInPieces(text, DEPTH, piece));

/** Undefined where it is no JSON. */
function outcome(work: () => unknown): string | undefined {
  try {
    return JSON.stringify(work());
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof NotJson) return undefined;
    throw error;
  }
}

function isAlike(text: string, piece: number): void {
  const expected = outcome(() => JSON.parse(text));
  expect(outcome(() => read(text, piece).value)).toBe(expected);
  if (expected !== undefined) expect(read(text, piece).duplicates).toEqual(duplicateKeys(text));
}

const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

describe('JSON in pieces', () => {
  it('is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(container, fc.integer({ min: 1, max: 40 }), fc.nat({ max: 3 }), (value, piece, indent) =>
        isAlike(JSON.stringify(value, null, indent), piece),
      ),
    );
  });

  it('is no JSON where JSON.parse says so', { timeout: 60_000 }, () => {
    const part = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"b":',
      '1',
      ' ',
      '\n',
      '\u00a0',
      'null',
      '\\',
      '-',
    );
    const broken = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    const cut = fc.tuple(container, fc.nat(), part).map(([value, at, extra]) => {
      const text = JSON.stringify(value);
      return `${text.slice(0, at % text.length)}${extra}${text.slice((at % text.length) + 1)}`;
    });
    const text = fc.oneof(broken, cut).filter((one) => /^[\s]*[{[]/.test(one));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (one, piece) => isAlike(one, piece)),
      { numRuns: 3000 },
    );
  });

  it('keeps keys that JavaScript would take for something else, and the last of those that stand twice', () => {
    const text = '{"__proto__":{"a":[1,2,3]},"constructor":1,"1":2,"0":3,"a":{"b":1,"b":[2]},"a":4}';
    for (let piece = 1; piece < text.length; piece++) isAlike(text, piece);
  });

  it('is refused where it is nested too deep', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(() => read(nested(DEPTH + 1), 10)).not.toThrow();
    expect(() => read(nested(DEPTH + 2), 10)).toThrow(TooDeep);
  });
});
