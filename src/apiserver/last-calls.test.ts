import { expect, it } from 'vitest';
import { LastCalls } from './last-calls.ts';

it('knows when a user, or anybody, asked a cluster last, until it is forgotten', () => {
  const calls = new LastCalls();
  calls.note('one', 'ada', 5);
  calls.note('one', 'eve', 9);
  calls.note('two', 'ada', 7);
  expect([calls.at('one'), calls.at('one', 'ada'), calls.at('one', 'kim'), calls.at('three')]).toEqual([
    9,
    5,
    undefined,
    undefined,
  ]);
  calls.forget('one');
  expect([calls.at('one'), calls.at('two')]).toEqual([undefined, 7]);
});

it('forgets those who have been silent for longest when there are too many', () => {
  const calls = new LastCalls();
  calls.note('one', 'regular', 0);
  for (let n = 1; n <= 300; n++) {
    calls.note('one', `user-${n}`, n);
    calls.note('one', 'regular', n);
  }
  expect([calls.at('one', 'user-1'), calls.at('one', 'user-300'), calls.at('one', 'regular')]).toEqual([
    undefined,
    300,
    300,
  ]);
});
