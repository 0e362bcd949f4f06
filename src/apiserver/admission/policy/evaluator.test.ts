import { describe, expect, it } from 'vitest';
import { inTurns } from '../../turns.ts';
import { Evaluator } from './evaluator.ts';

/** About 270,000 units of cost. */
const expression = 'object.list.all(x, object.list.all(y, x >= 0 && y >= 0))';
const object = { list: Array.from({ length: 150 }, (_, i) => i) };

describe('a policy with many expensive expressions', () => {
  it('leaves the event loop to others between two of them', async () => {
    const evaluator = new Evaluator({ validations: Array.from({ length: 15 }, () => ({ expression })) });
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { decisions } = await inTurns(evaluator.evaluate({ object }));
    isDone = true;
    expect(decisions).toEqual(Array.from({ length: 15 }, () => ({})));
    expect(turns).toBeGreaterThan(5);
  });

  it('is ended where they cost too much together', async () => {
    const evaluator = new Evaluator({ validations: Array.from({ length: 100 }, () => ({ expression })) });
    const { decisions } = await inTurns(evaluator.evaluate({ object }));
    expect(decisions).toEqual([
      {
        denied: {
          message: 'validation failed due to running out of cost budget, no further validation rules will be run',
          reason: '',
        },
      },
    ]);
  });
});
