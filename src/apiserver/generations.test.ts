import { expect, it } from 'vitest';
import { Generations } from './generations.ts';

const DAY = 86_400_000;

function scene(text?: string) {
  const state = { text, now: 10 * DAY, writes: 0 };
  const keys = () =>
    new Generations<string>({
      read: () => state.text,
      write: (next) => {
        state.text = next;
        state.writes++;
      },
      readSingle: (single) => single,
      clock: { now: () => state.now, after: () => () => {} },
    });
  return { state, keys };
}

it('makes the first key when it is needed, and rotates nothing before', () => {
  const { state, keys } = scene();
  keys().rotate(state.now, () => 'no');
  expect(state.text).toBeUndefined();
  expect(keys().ensure(() => 'a')).toBe('a');
  expect(keys().ensure(() => 'b')).toBe('a');
});

it('rotates once for each moment, also when it is asked again by another process', () => {
  const { state, keys } = scene('old pem');
  expect(keys().all).toEqual([{ value: 'old pem' }]);
  const since = state.now;
  state.now += 5;
  keys().rotate(since, () => 'new');
  keys().rotate(since, () => 'newer');
  expect(keys().all.map(({ value }) => value)).toEqual(['new', 'old pem']);
  keys().retire();
  expect(keys().all).toEqual([{ value: 'new', madeAt: since + 5 }]);
});

it('notes uses by the day: many tokens are one write', () => {
  const { state, keys } = scene('[{"value":"a","madeAt":1}]');
  const known = keys();
  for (let i = 0; i < 100; i++) known.noteUse(state.now + 3_600_000 + i);
  expect(state.writes).toBe(1);
  expect(known.newest?.usedUntil).toBe(11 * DAY);
  expect(known.all).toBe(known.all);
});
