import { expect, it } from 'vitest';
import { handOf } from './shuffle-shard.ts';

it('a hand is of different queues, all of them there, and always the same for a flow', () => {
  for (let n = 0; n < 500; n++) {
    const hand = handOf(`flow-${n}`, 128, 6);
    expect(new Set(hand).size).toBe(6);
    for (const queue of hand) expect(queue >= 0 && queue < 128).toBe(true);
    expect(handOf(`flow-${n}`, 128, 6)).toEqual(hand);
  }
});

it('flows that share one queue rarely share all of them', () => {
  const noisy = new Set(handOf('noisy', 128, 6));
  const shadowed = Array.from({ length: 2000 }, (_, n) => handOf(`quiet-${n}`, 128, 6)).filter((hand) =>
    hand.every((queue) => noisy.has(queue)),
  );
  expect(shadowed).toEqual([]);
});

it('deals what there is: one queue, small decks, hands larger than the hash', () => {
  expect(handOf('a', 1, 1)).toEqual([0]);
  expect([...handOf('a', 4, 100)].sort()).toEqual([0, 1, 2, 3]);
  expect(handOf('a', 10_000_000, 1000)).toHaveLength(8);
});
