import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import type { Exchange } from './testing/fake-server.ts';
import { endScenes, expired, listOf, quiet, run, thing, watchedFrom } from './testing/list-watch-scene.ts';

afterEach(endScenes);

const twoThings = (exchange: Exchange) => exchange.json(200, listOf(5, thing('a', 3), thing('b', 4)));

describe('ListWatch', () => {
  it('lists, syncs and follows', async () => {
    const { events, seen, server, listWatch } = await run({
      lists: [twoThings],
      watches: [
        (x) => {
          x.stream();
          x.event('ADDED', thing('c', 6));
          x.event('MODIFIED', thing('a', 7));
          x.event('DELETED', thing('b', 8));
          x.event('BOOKMARK', { ...thing('', 9), metadata: { resourceVersion: '9' } });
          x.response.end();
        },
        quiet,
      ],
    });
    await seen(6);
    expect(events).toEqual(['added a@3', 'added b@4', 'synced', 'added c@6', 'updated a@7', 'deleted b@8']);
    expect([...listWatch.known.keys()]).toEqual(['n/a', 'n/c']);
    await expect.poll(() => watchedFrom(server)).toEqual(['5', '9']); // the bookmark moved it on
    expect(server.requests[1]?.url.searchParams.get('allowWatchBookmarks')).toBe('true');
    expect(Number(server.requests[1]?.url.searchParams.get('timeoutSeconds'))).toBeGreaterThanOrEqual(300);
  });

  it('resumes after a reset in the middle of a line, without a list and without loss', async () => {
    const { events, counts, seen, server } = await run({
      lists: [twoThings],
      watches: [
        (x) => {
          x.stream();
          x.event('ADDED', thing('c', 6));
          x.response.write('{"type":"MODIFIED","object":{"metad', () => setTimeout(x.reset, 20));
        },
        (x) => {
          x.stream();
          x.event('MODIFIED', thing('c', 7));
        },
      ],
    });
    await seen(5);
    expect(events.slice(3)).toEqual(['added c@6', 'updated c@7']);
    expect(watchedFrom(server)).toEqual(['5', '6']);
    expect(counts.lists).toBe(1);
  });

  it('lists again after a line that is no event, and tells the differences only', async () => {
    for (const garbage of ['{"type":"MODIFIED","obj\n', 'null\n', '{"type":"MODIFIED"}\n']) {
      const { events, seen } = await run({
        lists: [twoThings, (x) => x.json(200, listOf(9, thing('b', 8), thing('d', 9)))],
        watches: [
          (x) => {
            x.stream();
            x.response.write(garbage);
          },
          quiet,
        ],
      });
      await seen(7);
      expect(events.slice(3)).toEqual(['updated b@8', 'added d@9', 'deleted a@3', 'relisted']);
    }
  });

  it('lists again when a stream ends within a line', async () => {
    const { counts, until } = await run({
      lists: [twoThings],
      watches: [
        (x) => {
          x.stream();
          x.response.end('{"type":"MODIF');
        },
        quiet,
      ],
    });
    await until(() => counts.lists === 2);
  });

  it('lists again after 410, as an event and as an answer', async () => {
    const { events, seen, server } = await run({
      lists: [twoThings, (x) => x.json(200, listOf(20, thing('a', 3), thing('b', 15))), (x) => x.json(200, listOf(30))],
      watches: [
        (x) => {
          x.stream();
          x.event('ERROR', expired);
          x.response.end();
        },
        (x) => x.json(410, expired),
        quiet,
      ],
    });
    await seen(8);
    expect(events.slice(3)).toEqual(['updated b@15', 'relisted', 'deleted a@3', 'deleted b@15', 'relisted']);
    await expect.poll(() => watchedFrom(server)).toEqual(['5', '20', '30']);
  });

  it('tells of an object that was deleted and made again in between', async () => {
    const { events, seen } = await run({
      lists: [twoThings, (x) => x.json(200, listOf(9, thing('a', 8, 'another'), thing('b', 4)))],
      watches: [(x) => x.json(410, expired), quiet],
    });
    await seen(6);
    expect(events.slice(3)).toEqual(['deleted a@3', 'added a@8', 'relisted']);
  });

  it('keeps trying while the server refuses or is overloaded', async () => {
    const { events, seen, server, counts } = await run({
      lists: [
        (x) => x.json(403, { kind: 'Status', code: 403, reason: 'Forbidden' }),
        (x) => x.json(503, 'sorry'),
        (x) => x.reset(),
        (x) => x.reset(),
        (x) => x.reset(),
        twoThings,
      ],
      watches: [
        (x) => x.json(429, { kind: 'Status', code: 429, reason: 'TooManyRequests' }),
        (x) => x.json(500, 'oops'),
        (x) => {
          x.stream();
          x.event('ADDED', thing('c', 6));
        },
      ],
    });
    await seen(4);
    expect(events).toEqual(['added a@3', 'added b@4', 'synced', 'added c@6']);
    expect(watchedFrom(server)).toEqual(['5', '5', '5']);
    expect(counts.lists).toBe(6);
  });

  it('waits as long as the server asks', async () => {
    const times: number[] = [];
    const { until } = await run({
      lists: [twoThings],
      watches: [
        (x) => {
          times.push(Date.now());
          x.json(429, { kind: 'Status', code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
        },
        (x) => {
          times.push(Date.now());
          x.stream();
          x.event('ADDED', thing('c', 6));
        },
      ],
    });
    await until(() => times.length === 2);
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(950);
  });

  it('watches anew, from where it was, when nothing comes for too long', async () => {
    const { counts, errors, until, server, events } = await run(
      {
        lists: [twoThings],
        watches: [
          quiet,
          quiet,
          (x) => {
            x.stream();
            x.event('ADDED', thing('c', 6));
          },
        ],
      },
      { silenceMs: 100 },
    );
    await until(() => events.length >= 4);
    expect(watchedFrom(server).slice(0, 3)).toEqual(['5', '5', '5']);
    expect(counts.lists).toBe(1);
    expect(errors).toEqual([]);
  });

  it('is not fooled by a watch that trickles', async () => {
    const { counts, seen } = await run(
      {
        lists: [twoThings],
        watches: [
          (x) => {
            x.stream();
            let version = 6;
            const timer = setInterval(() => x.event('MODIFIED', thing('a', version++)), 60);
            x.response.on('close', () => clearInterval(timer));
          },
        ],
      },
      { silenceMs: 150 },
    );
    await seen(9);
    expect(counts.watches).toBe(1);
  });

  it('backs off from a server that ends every watch at once', async () => {
    const { counts, until } = await run(
      {
        lists: [twoThings],
        watches: [
          (x) => {
            x.stream();
            x.response.end();
          },
        ],
      },
      { backoff: { baseMs: 40, maxMs: 80 } },
    );
    await until(() => counts.watches >= 3);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(counts.watches).toBeLessThan(16);
  });

  it('lists again when resource versions run backwards', async () => {
    const { events, seen } = await run({
      lists: [twoThings, (x) => x.json(200, listOf(2, thing('z', 1)))],
      watches: [
        (x) => {
          x.stream();
          x.event('BOOKMARK', { metadata: { resourceVersion: '2' } });
        },
        quiet,
      ],
    });
    await seen(7);
    expect(events.slice(3)).toEqual(['added z@1', 'deleted a@3', 'deleted b@4', 'relisted']);
  });

  it('survives a server that restarts', async () => {
    const { server, events, seen, until, counts } = await run({
      lists: [twoThings],
      watches: [
        quiet,
        (x) => {
          x.stream();
          x.event('ADDED', thing('c', 6));
        },
      ],
    });
    await until(() => counts.watches === 1 || events.length >= 3);
    await expect.poll(() => counts.watches).toBe(1);
    server.resetAll();
    await seen(4);
    expect(events[3]).toBe('added c@6');
    expect(watchedFrom(server)).toEqual(['5', '5']);
  });

  it('reads long lists by pages, and in one piece when they expire', async () => {
    const page = (items: KubeObject[], token?: string) => (x: Exchange) =>
      x.json(200, { ...listOf(5, ...items), metadata: { resourceVersion: '5', continue: token } });
    const { events, seen, server } = await run(
      {
        lists: [page([thing('a', 3)], 'one'), (x) => x.json(410, expired), page([thing('a', 3), thing('b', 4)])],
        watches: [quiet],
      },
      { pageSize: 1 },
    );
    await seen(3);
    expect(events).toEqual(['added a@3', 'added b@4', 'synced']);
    const lists = server.requests.filter((r) => !r.url.searchParams.has('watch')).map((r) => r.url.search);
    expect(lists).toEqual(['?limit=1', '?limit=1&continue=one', '']);
  });

  it('ends when told to, wherever it is', async () => {
    const first = await run({ lists: [() => {}], watches: [quiet] });
    await expect.poll(() => first.counts.lists).toBe(1);
    first.stop.abort();
    await first.running;

    const second = await run({ lists: [twoThings], watches: [quiet] });
    await expect.poll(() => second.counts.watches).toBe(1);
    second.stop.abort();
    await second.running;

    const third = await run(
      { lists: [(x) => x.json(500, '')], watches: [quiet] },
      { backoff: { baseMs: 60_000, maxMs: 60_000 } },
    );
    await third.until(() => third.errors.length > 0);
    third.stop.abort();
    await third.running;
  });
});
