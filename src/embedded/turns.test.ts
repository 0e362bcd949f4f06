import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

const busy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

/** Calls that never wait for anything but their turn, as those of a store in this process. */
async function work(turns: Turns, calls: number, ms: number): Promise<void> {
  for (let i = 0; i < calls; i++) {
    await turns.take();
    busy(ms);
  }
}

it('lets timers run while many callers never wait for anything', async () => {
  const turns = new Turns();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks++;
  }, 1);
  // Half a second of work: without turns it would be over before the first tick.
  await Promise.all(Array.from({ length: 20 }, () => work(turns, 50, 0.5)));
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(10);
});

it('keeps nobody waiting who does little', async () => {
  const turns = new Turns();
  busy(20);
  for (let i = 0; i < 20; i++) expect(turns.take()).toBeUndefined();
  busy(20);
  expect(turns.take()).toBeUndefined();
});

it('gives everybody a turn in the order in which they came', async () => {
  const turns = new Turns();
  for (let i = 0; i < 25; i++) await turns.take();
  busy(12);
  const order: number[] = [];
  const each = async (n: number) => {
    await turns.take();
    order.push(n);
  };
  await Promise.all([each(1), each(2), each(3)]);
  expect(order).toEqual([1, 2, 3]);
});
