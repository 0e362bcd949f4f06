import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { RookeryError } from '../errors.ts';
import { type LogLine, loggerOf } from '../telemetry/log.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import type { ControllerOptions } from './controller.ts';
import { KubeError } from './kube-error.ts';
import { Manager } from './manager.ts';
import { withController } from './owner-references.ts';
import { requeueAfter, TerminalError } from './reconciler.ts';
import { keyOf, keyText, type ObjectStore, type ResourceRef } from './store.ts';
import { FakeClock, seededRandom, settle } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const nests: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'nests', kind: 'Nest', namespaced: true };
const eggs: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'eggs', kind: 'Egg', namespaced: true };

const nest = (name: string, size = 1, namespace = 'n'): KubeObject => ({
  apiVersion: 'test.dev/v1',
  kind: 'Nest',
  metadata: { namespace, name },
  spec: { size },
});

function scene(options: { metrics?: Metrics; store?: ObjectStore } = {}) {
  const clock = new FakeClock();
  const random = seededRandom();
  const memory = new MemoryStore(clock, random);
  const lines: LogLine[] = [];
  const log = loggerOf((line) => lines.push(line));
  const start = (
    controller: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>,
    store: ObjectStore = memory,
  ) => {
    const manager = new Manager({ store, clock, random, log, metrics: options.metrics });
    const stop = new AbortController();
    const made = manager.addController({ name: 'nest', resource: nests, ...controller });
    const running = manager.run(stop.signal);
    running.catch(() => {});
    const end = () => {
      stop.abort();
      return running;
    };
    return { controller: made, stop: end };
  };
  return { clock, random, store: memory, lines, start };
}

describe('Controller', () => {
  it('reconciles what is there and what comes', async () => {
    const { store, start } = scene();
    await store.create(nests, nest('a'));
    const keys: string[] = [];
    const { stop } = start({ reconcile: async (key) => void keys.push(keyText(key)) });
    await settle();
    expect(keys).toEqual(['n/a']);
    const b = await store.create(nests, nest('b'));
    await settle();
    await store.update(nests, { ...b, spec: { size: 2 } });
    await settle();
    await store.delete(nests, keyOf(b));
    await settle();
    expect(keys).toEqual(['n/a', 'n/b', 'n/b', 'n/b']);
    await stop();
  });

  it('looks again when asked to, and forgets that when something changes first', async () => {
    const { clock, store, start } = scene();
    const times: number[] = [];
    const results = [requeueAfter(10_000), requeueAfter(60_000), undefined];
    const { stop } = start({
      reconcile: async () => {
        times.push(clock.now());
        return results[times.length - 1];
      },
    });
    const a = await store.create(nests, nest('a'));
    await clock.advance(9_999);
    expect(times).toHaveLength(1);
    await clock.advance(1);
    expect(times).toHaveLength(2);
    await store.update(nests, { ...a, spec: { size: 2 } });
    await clock.advance(600_000);
    expect(times).toHaveLength(3);
    await stop();
  });

  it('retries failures with growing waits, starting over after success', async () => {
    const { clock, store, start, lines } = scene();
    let calls = 0;
    const failures: number[] = [];
    const { controller, stop } = start({
      backoff: { baseMs: 100, maxMs: 1_000 },
      reconcile: async (_key, context) => {
        failures.push(context.failures);
        if (++calls <= 3) throw new Error(`no ${calls}`);
      },
    });
    await store.create(nests, nest('a'));
    await clock.advance(0);
    expect(calls).toBe(1);
    await clock.advance(100);
    expect(calls).toBe(2);
    await clock.advance(5_000);
    expect(calls).toBe(4);
    expect(failures).toEqual([0, 1, 2, 3]);
    expect(controller.queue.failures('n/a')).toBe(0);
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(3);
    await stop();
  });

  it.each([
    ['a terminal error', new TerminalError('wrong for good'), 1],
    ['a permanent RookeryError', new RookeryError('X', 'fix the world'), 1],
    ['a user RookeryError', new RookeryError('X', 'fix the input', { class: 'user' }), 1],
    ['a retryable RookeryError', new RookeryError('X', 'later', { class: 'retryable' }), 3],
    ['something that is no error', 'a string', 3],
    ['nothing at all', undefined, 3],
  ])('handles %s', async (_text, thrown, calls) => {
    const { clock, store, start } = scene();
    let count = 0;
    const { stop } = start({
      backoff: { baseMs: 1_000, maxMs: 1_000 },
      reconcile: () => {
        count++;
        throw thrown;
      },
    });
    await store.create(nests, nest('a'));
    await clock.advance(100);
    expect(count).toBe(1);
    await clock.advance(3_000);
    expect(Math.min(count, 3)).toBe(calls);
    const before = count;
    await store.create(nests, nest('b'));
    await settle();
    expect(count).toBeGreaterThan(before);
    await stop();
  });

  it('works on many keys at once, never twice on one', async () => {
    const { store, start } = scene();
    let active = 0;
    let most = 0;
    const busy = new Set<string>();
    const releases: (() => void)[] = [];
    const { stop } = start({
      concurrency: 3,
      reconcile: async (key) => {
        expect(busy.has(key.name)).toBe(false);
        busy.add(key.name);
        most = Math.max(most, ++active);
        await new Promise<void>((resolve) => releases.push(resolve));
        busy.delete(key.name);
        active--;
      },
    });
    for (let i = 0; i < 6; i++) {
      const made = await store.create(nests, nest(`k${i}`));
      await settle();
      await store.update(nests, { ...made, spec: { size: 5 } });
    }
    for (let i = 0; i < 20; i++) {
      await settle();
      releases.shift()?.();
    }
    expect(most).toBe(3);
    const ended = stop();
    for (const release of releases) release();
    await ended;
  });

  it('watches what it owns and whatever maps to its keys', async () => {
    const { store, start } = scene();
    const a = await store.create(nests, nest('a'));
    const keys: string[] = [];
    const secrets: ResourceRef = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
    const { stop } = start({
      owns: [eggs],
      watches: [
        {
          resource: secrets,
          map: (object) => [{ namespace: 'n', name: object.metadata.labels?.nest ?? '' }],
          filter: (object) => object.metadata.labels?.nest !== undefined,
        },
      ],
      reconcile: async (key) => void keys.push(keyText(key)),
    });
    await settle();
    keys.length = 0;
    const egg = { apiVersion: 'test.dev/v1', kind: 'Egg', metadata: { namespace: 'n', name: 'e' } };
    await store.create(eggs, withController(egg, a));
    await store.create(eggs, { ...egg, metadata: { namespace: 'n', name: 'stray' } });
    await settle();
    expect(keys).toEqual(['n/a']);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'x', name: 's', labels: { nest: 'z' } } };
    await store.create(secrets, secret);
    await store.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'x', name: 't' } });
    await settle();
    expect(keys).toEqual(['n/a', 'n/z']);
    await stop();
  });

  it('names each reconcile in every log line', async () => {
    const { store, start, lines } = scene();
    const ids: string[] = [];
    const { stop } = start({
      reconcile: async (_key, { id, log }) => {
        ids.push(id);
        log.info('hatching');
      },
    });
    await store.create(nests, nest('a'));
    await store.create(nests, nest('b'));
    await settle();
    const said = lines.filter((line) => line.message === 'hatching');
    expect(said.map((line) => line.fields.reconcileId)).toEqual(ids);
    expect(said.map((line) => line.fields.key)).toEqual(['n/a', 'n/b']);
    expect(new Set(ids).size).toBe(2);
    await stop();
  });

  it('counts by outcome', async () => {
    const metrics = createMetrics();
    const { clock, store, start } = scene({ metrics });
    const outcomes: Record<string, () => unknown> = {
      good: () => undefined,
      later: () => requeueAfter(3_600_000),
      busy: () => {
        throw new KubeError({ code: 409, reason: 'Conflict' });
      },
      bad: () => {
        throw new Error('bad');
      },
      hopeless: () => {
        throw new TerminalError('hopeless');
      },
    };
    const { stop } = start({
      backoff: { baseMs: 3_600_000, maxMs: 3_600_000 },
      reconcile: async (key) => outcomes[key.name]?.() as undefined,
    });
    for (const name of Object.keys(outcomes)) await store.create(nests, nest(name));
    await clock.advance(10);
    const { body } = metrics.render();
    for (const outcome of ['success', 'requeueAfter', 'conflict', 'error', 'terminal']) {
      expect(body).toContain(`controller_reconcile_total{controller="nest",outcome="${outcome}"} 1`);
    }
    expect(body).toContain('controller_active_workers{controller="nest"} 0');
    await stop();
  });

  it('aborts a reconcile that takes too long', async () => {
    const { clock, store, start } = scene();
    const reasons: unknown[] = [];
    const { stop } = start({
      timeoutMs: 5_000,
      reconcile: (_key, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          }),
        ),
    });
    await store.create(nests, nest('a'));
    await clock.advance(5_000);
    expect(String(reasons[0])).toContain('longer than 5 s');
    await stop();
  });

  it('stops: lets what is under way come to its end, starts nothing more', async () => {
    const { clock, store, start } = scene();
    const ended: boolean[] = [];
    const { stop } = start({
      concurrency: 1,
      reconcile: async (_key, { signal, clock: time }) => {
        await new Promise<void>((resolve) => time.after(3_000, resolve));
        ended.push(signal.aborted);
      },
    });
    await store.create(nests, nest('a'));
    await store.create(nests, nest('b'));
    await settle();
    const stopped = stop();
    await clock.advance(3_000);
    await stopped;
    expect(ended).toEqual([false]);
  });

  it('stops: aborts what does not end within its time, and waits for it', async () => {
    const { clock, store, start } = scene();
    let ended = 0;
    const { stop } = start({
      reconcile: async (_key, { signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 20)));
        ended++;
      },
    });
    await store.create(nests, nest('a'));
    await settle();
    const stopped = stop();
    await clock.advance(4_900);
    expect(ended).toBe(0);
    await clock.advance(100);
    await stopped;
    expect(ended).toBe(1);
  });

  it('reconciles only what its selection has, though other things ask for more', async () => {
    const { store, start } = scene();
    const keys: string[] = [];
    const { stop } = start({
      selection: { labelSelector: 'team=blue' },
      watches: [{ resource: eggs, map: (egg) => [{ namespace: 'n', name: egg.metadata.name as string }] }],
      reconcile: async (key) => void keys.push(keyText(key)),
    });
    const blue = { ...nest('a'), metadata: { ...nest('a').metadata, labels: { team: 'blue' } } };
    await store.create(nests, blue);
    await store.create(nests, nest('b'));
    await settle();
    for (const name of ['a', 'b']) await store.create(eggs, { ...nest(name), kind: 'Egg' });
    await settle();
    expect(keys).toEqual(['n/a', 'n/a']);
    await stop();
  });
});
