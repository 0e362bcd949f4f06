import { describe, expect, it } from 'vitest';
import { MatchConditions } from './match-conditions.ts';

const OUT = 'validation failed due to running out of cost budget, no further validation rules will be run';
const expression = 'object.list.all(x, object.list.all(y, object.list.all(z, z >= 0)))';
const object = { list: Array.from({ length: 50 }, (_, i) => i) };
const many = Array.from({ length: 60 }, (_, i) => ({ name: `c${i}`, expression }));

describe('match conditions', () => {
  it('cost no more than a webhook may spend, as upstream has it', () => {
    expect(new MatchConditions({ sources: many.slice(0, 1), ignoresFailure: false }).hold({ object })).toBe(true);
    expect(() => new MatchConditions({ sources: many, ignoresFailure: false }).hold({ object })).toThrow(OUT);
    expect(new MatchConditions({ sources: many, ignoresFailure: true }).hold({ object })).toBe(false);
  });
});
