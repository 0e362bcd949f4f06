import { expect, test } from 'vitest';
import { turn } from './loop.ts';
import { ManualClock } from './testing/test-cluster.ts';
import { WorkQueue } from './work-queue.ts';

async function idle(queue: WorkQueue): Promise<void> {
  while (!queue.idle) await turn();
}

test('a key that is added many times before its turn is worked on once', async () => {
  const done: string[] = [];
  const queue = new WorkQueue({ clock: new ManualClock(), work: (key) => void done.push(key), onError: () => {} });
  queue.add('a');
  queue.add('b');
  queue.add('a');
  expect(done).toEqual([]);
  await idle(queue);
  expect(done).toEqual(['a', 'b']);
});

test('a key is never worked on twice at a time, and one added meanwhile gets another turn', async () => {
  const running = new Set<string>();
  const done: string[] = [];
  let twice = false;
  const queue: WorkQueue = new WorkQueue({
    clock: new ManualClock(),
    concurrency: 5,
    onError: () => {},
    work: async (key) => {
      twice ||= running.has(key);
      running.add(key);
      if (done.length === 0 && key === 'a') {
        queue.add('a');
        // Brings a second worker, which finds `a` waiting first.
        queue.add('b');
      }
      for (let i = 0; i < 5; i++) await turn();
      running.delete(key);
      done.push(key);
    },
  });
  queue.add('a');
  await idle(queue);
  expect(twice).toBe(false);
  expect(done.sort()).toEqual(['a', 'a', 'b']);
});

test('different keys are worked on together, up to the limit', async () => {
  let running = 0;
  let most = 0;
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await turn();
    running -= 1;
  };
  const queue = new WorkQueue({ clock: new ManualClock(), concurrency: 3, work, onError: () => {} });
  for (let i = 0; i < 10; i++) queue.add(String(i));
  await idle(queue);
  expect(most).toBe(3);
});

test('failed work is tried again after growing pauses, and the pauses start over after a success', async () => {
  const clock = new ManualClock();
  const attempts: number[] = [];
  let failures = 3;
  const work = () => {
    attempts.push(clock.now());
    if (failures-- > 0) throw new Error('no');
  };
  const errors: unknown[] = [];
  const queue = new WorkQueue({ clock, work, onError: (_, error) => errors.push(error) });
  queue.add('a');
  for (let i = 0; i < 100; i++) {
    await idle(queue);
    clock.advance(1);
  }
  const pauses = attempts.slice(1).map((at, i) => at - (attempts[i] ?? 0));
  expect(pauses).toEqual([10, 20, 40]);
  expect(errors).toHaveLength(3);
  failures = 1;
  queue.add('a');
  await idle(queue);
  clock.advance(10);
  await idle(queue);
  expect(attempts).toHaveLength(6);
});

test('after stop nothing is begun', async () => {
  const clock = new ManualClock();
  const done: string[] = [];
  const queue = new WorkQueue({ clock, work: (key) => void done.push(key), onError: () => {} });
  queue.add('a');
  queue.addAfter('b', 5);
  queue.stop();
  queue.add('c');
  clock.advance(10);
  await idle(queue);
  expect(done).toEqual([]);
  expect(clock.pending).toBe(0);
});
