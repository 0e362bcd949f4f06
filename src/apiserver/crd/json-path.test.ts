import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileFirstMatch, compileJsonPath } from './json-path.ts';

const key = fc.constantFrom('a', 'b', 'c');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.integer({ max: 3, min: 0 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}));
const step = fc.oneof(
  key.map((name) => `.${name}`),
  fc.constantFrom('[*]', '.*', '..', '..a', '[0]', '[1:]', '[?(@.a==1)]', "['a','b']"),
);

function outcome(work: () => unknown[]): unknown {
  try {
    return work().slice(0, 1);
  } catch (error) {
    return String(error);
  }
}

it('finds the same first match, whether it looks for all or not', () => {
  fc.assert(
    fc.property(value, fc.array(step, { minLength: 1, maxLength: 4 }), (root, steps) => {
      const path = steps.join('');
      expect(outcome(() => compileFirstMatch(path)(root))).toEqual(outcome(() => compileJsonPath(path)(root)));
    }),
    { numRuns: 2000 },
  );
});

it('ends where a path matches more than anybody looks at', () => {
  let nested: unknown = {};
  for (let i = 0; i < 150; i++) nested = { a: nested, b: 1 };
  expect(() => compileJsonPath('......*')(nested)).toThrow('more than 1000000 matches');
});
