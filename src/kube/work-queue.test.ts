import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../telemetry/metrics.ts';
import { FakeClock, seededRandom, settle } from './testing/fake-clock.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

const BACKOFF = { baseMs: 100, maxMs: 1_000 };

function makeQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock();
  const queue = new WorkQueue({ name: 'test', clock, random: seededRandom(), backoff: BACKOFF, ...options });
  return { clock, queue };
}

/** Takes and finishes every key that is ready. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = (await queue.take()) as string;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe('WorkQueue', () => {
  it('hands a key out once however often it was added', async () => {
    const { queue } = makeQueue();
    for (let i = 0; i < 3; i++) queue.add('a');
    queue.add('b');
    expect(await takeAll(queue)).toEqual(['a', 'b']);
  });

  it('hands a key added during its work out again, after the work', async () => {
    const { queue } = makeQueue();
    queue.add('a');
    expect(await queue.take()).toBe('a');
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    const second = queue.take();
    await settle();
    expect(queue.active).toBe(1);
    queue.done('a');
    expect(await second).toBe('a');
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  it('serves waiting takers in turn', async () => {
    const { queue } = makeQueue();
    const takers = [queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(takers)).toEqual(['a', 'b']);
  });

  it('adds after a time, the earliest asked for', async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter('a', 500);
    queue.addAfter('a', 200);
    queue.addAfter('a', 800);
    await clock.advance(199);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(['a']);
    await clock.advance(2_000);
    expect(queue.depth).toBe(0);
  });

  it('forgets a delayed add when the key is added now', async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter('a', 500);
    queue.add('a');
    expect(await takeAll(queue)).toEqual(['a']);
    expect(clock.pending).toBe(0);
  });

  it('waits longer after each failure of a key, up to a limit, and starts over when told', () => {
    const { queue } = makeQueue();
    const waits = Array.from({ length: 6 }, () => queue.addBackoff('a'));
    for (const [i, wait] of waits.entries()) {
      const full = Math.min(100 * 2 ** i, 1_000);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }
    expect(queue.failures('a')).toBe(6);
    expect(queue.addBackoff('b')).toBeLessThanOrEqual(100);
    queue.forget('a');
    expect(queue.addBackoff('a')).toBeLessThanOrEqual(100);
  });

  it('lets namespaces take turns', async () => {
    const { queue } = makeQueue();
    for (let i = 0; i < 1000; i++) queue.add(`big/${i}`);
    queue.add('small/a');
    queue.add('other/a');
    const order = await takeAll(queue);
    expect(order).toHaveLength(1002);
    expect(order.indexOf('small/a')).toBeLessThan(4);
    expect(order.indexOf('other/a')).toBeLessThan(6);
  });

  it('lets a hot key wait behind the others', async () => {
    const { queue } = makeQueue();
    queue.add('n/hot');
    for (const name of ['a', 'b', 'c']) queue.add(`n/${name}`);
    const order: string[] = [];
    for (let i = 0; i < 8; i++) {
      const key = (await queue.take()) as string;
      order.push(key);
      if (key === 'n/hot') queue.add(key);
      queue.done(key);
    }
    expect(order.slice(0, 5)).toEqual(['n/hot', 'n/a', 'n/b', 'n/c', 'n/hot']);
  });

  it('prefers higher priorities but starves nobody', async () => {
    const { queue } = makeQueue();
    queue.add('n/low', -100);
    let high = 0;
    queue.add(`n/h${high++}`);
    const order: string[] = [];
    for (let i = 0; i < 20; i++) {
      const key = (await queue.take()) as string;
      order.push(key);
      queue.add(`n/h${high++}`);
      queue.done(key);
    }
    expect(order[0]).toBe('n/h0');
    expect(order.indexOf('n/low')).toBeGreaterThan(0);
    expect(order.indexOf('n/low')).toBeLessThan(9);
  });

  it('raises the priority of a waiting key, never lowers it', async () => {
    const { queue } = makeQueue();
    for (const name of ['a', 'b', 'c']) queue.add(name, -100);
    queue.add('c');
    queue.add('c', -100);
    expect(await takeAll(queue)).toEqual(['c', 'a', 'b']);
  });

  it('drops what waits on shutdown and waits for what is under way', async () => {
    const { clock, queue } = makeQueue();
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 100);
    let isDown = false;
    const down = queue.shutdown().then(() => {
      isDown = true;
    });
    await settle();
    expect(isDown).toBe(false);
    queue.done('a');
    await down;
    queue.add('d');
    await clock.advance(1_000);
    expect([queue.depth, queue.delayed, queue.active]).toEqual([0, 0, 0]);
    expect(await queue.take()).toBeUndefined();
  });

  it('hands out what is ready first when draining', async () => {
    const { queue } = makeQueue();
    queue.add('a');
    queue.add('b');
    const first = await queue.take();
    queue.add('a');
    const down = queue.shutdown({ drain: true });
    queue.done(first as string);
    const rest = await takeAll(queue);
    expect(rest.sort()).toEqual(['a', 'b']);
    await down;
    expect(await queue.take()).toBeUndefined();
  });

  it('counts', async () => {
    const metrics = createMetrics();
    const { clock, queue } = makeQueue({ metrics });
    queue.add('a');
    await clock.advance(2_000);
    await takeAll(queue);
    queue.addBackoff('a');
    const { body } = metrics.render();
    expect(body).toContain('workqueue_adds_total{name="test"} 1');
    expect(body).toContain('workqueue_retries_total{name="test"} 1');
    expect(body).toContain('workqueue_depth{name="test"} 0');
    expect(body).toContain('workqueue_queue_duration_seconds_sum{name="test"} 2');
  });

  it('stays fast with many keys', async () => {
    const { queue } = makeQueue();
    const startedAt = performance.now();
    for (let i = 0; i < 100_000; i++) queue.add(`n${i % 100}/${i}`);
    let taken = 0;
    while (queue.depth > 0) {
      queue.done((await queue.take()) as string);
      taken++;
    }
    expect(taken).toBe(100_000);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  /** Random adds, takes, ends and waits by several workers, checked against what a work queue promises. */
  it('never loses a change and never gives a key to two workers', async () => {
    const key = fc.integer({ min: 0, max: 7 }).map((i) => `n${i % 3}/k${i}`);
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key, priority: fc.constantFrom(0, -100, 10) }),
      fc.record({ do: fc.constant('after' as const), key, ms: fc.integer({ min: 1, max: 500 }) }),
      fc.record({ do: fc.constant('fail' as const), key }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('done' as const), pick: fc.nat() }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 300 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { clock, queue } = makeQueue();
        const active = new Set<string>();
        /** Keys with a change that no worker has begun to see. */
        const unseen = new Set<string>();
        const take = async () => {
          const taken = (await queue.take()) as string;
          expect(active.has(taken)).toBe(false);
          active.add(taken);
          unseen.delete(taken);
        };
        const finish = (taken: string) => {
          active.delete(taken);
          queue.done(taken);
        };
        for (const s of steps) {
          if (s.do === 'add') {
            unseen.add(s.key);
            queue.add(s.key, s.priority);
          } else if (s.do === 'after') {
            unseen.add(s.key);
            queue.addAfter(s.key, s.ms);
          } else if (s.do === 'fail') {
            unseen.add(s.key);
            queue.addBackoff(s.key);
          } else if (s.do === 'take' && queue.depth > 0) await take();
          else if (s.do === 'done' && active.size > 0) finish([...active][s.pick % active.size] as string);
          else if (s.do === 'pass') await clock.advance(s.ms);
          expect(queue.active).toBe(active.size);
        }
        for (const taken of [...active]) finish(taken);
        await clock.advance(10_000);
        while (queue.depth > 0) {
          await take();
          finish([...active][0] as string);
        }
        expect([...unseen]).toEqual([]);
        expect([queue.depth, queue.delayed, queue.active]).toEqual([0, 0, 0]);
      }),
      { numRuns: 150 },
    );
  }, 30_000);
});
