import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { systemClock } from '../../clock.ts';
import { openStore } from './sqlite-store.ts';
import { type ChangeEvent, CompactedError, type Store } from './store.ts';

const pods = (name: string, namespace = 'default') => ({ resource: '/pods', namespace, name });
const pod = (name: string, spec: unknown = {}, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec,
});
const put = (store: Store, name: string, spec: unknown = {}, namespace = 'default') =>
  store.write((tx) => tx.put(pods(name, namespace), pod(name, spec, namespace)));
const remove = (store: Store, name: string) => store.write((tx) => tx.delete(pods(name)));
const turn = () => new Promise((resolve) => setImmediate(resolve));

let dir: string;
let store: Store;
const options = { clock: systemClock, retention: false as const };

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'store-'));
  store = openStore(join(dir, 's.db'), options);
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true });
});

describe('write', () => {
  it('counts changes, not no-ops', async () => {
    const first = await put(store, 'a', { x: 1 });
    expect(first.rv).toBe(1);
    expect(JSON.parse(first.json).metadata.resourceVersion).toBe('1');
    expect((await put(store, 'a', { x: 1 })).rv).toBe(1);
    expect((await put(store, 'a', { x: 2 })).rv).toBe(2);
    expect((await remove(store, 'a'))?.object().metadata.resourceVersion).toBe('3');
    expect(await remove(store, 'a')).toBeUndefined();
    expect(store.rv).toBe(3);
    expect(store.get(pods('a'))).toBeUndefined();
  });

  it('sets the resource version on the given object', async () => {
    const object = pod('a');
    await store.write((tx) => tx.put(pods('a'), object));
    expect(object.metadata.resourceVersion).toBe('1');
    await store.write((tx) => tx.put(pods('a'), object));
    expect(object.metadata.resourceVersion).toBe('1');
  });

  it('leaves a nested resourceVersion alone', async () => {
    const event = { ...pod('e'), involvedObject: { resourceVersion: '77' } };
    const made = await store.write((tx) => tx.put(pods('e'), event));
    expect(made.object().involvedObject.resourceVersion).toBe('77');
    expect(made.object().metadata.resourceVersion).toBe('1');
  });

  it('ignores key order and the times of managedFields', async () => {
    const make = (time: string, swap: boolean): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', managedFields: [{ manager: 'm', time }] },
      ...(swap ? { spec: { b: 2, a: 1 } } : { spec: { a: 1, b: 2 } }),
    });
    const write = (object: KubeObject) => store.write((tx) => tx.put(pods('a'), object));
    await write(make('2026-01-01T00:00:00Z', false));
    await write(make('2026-01-01T00:00:09Z', true));
    expect(store.rv).toBe(1);
    await write({ ...make('2026-01-01T00:00:00Z', false), spec: { a: 1, b: 3 } });
    expect(store.rv).toBe(2);
  });

  it('undoes only the function that throws, whatever it wrote before', async () => {
    await put(store, 'kept', { x: 1 });
    await put(store, 'gone', { x: 1 });
    const seen: ChangeEvent[] = [];
    store.watch({ afterRv: store.rv }, (event) => seen.push(event));
    const results = await Promise.allSettled([
      put(store, 'before'),
      store.write((tx) => {
        tx.put(pods('new'), pod('new'));
        tx.put(pods('new'), pod('new', { y: 1 }));
        tx.put(pods('kept'), pod('kept', { x: 2 }));
        tx.delete(pods('kept'));
        tx.delete(pods('gone'));
        tx.put(pods('gone'), pod('gone', { again: true }));
        throw new Error('no');
      }),
      put(store, 'after'),
    ]);
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(store.list({ resource: '/pods' }).items.map((i) => [i.key.name, i.rv])).toEqual([
      ['after', 4],
      ['before', 3],
      ['gone', 2],
      ['kept', 1],
    ]);
    expect(seen.map((e) => e.rv)).toEqual([3, 4]);
    expect(store.rv).toBe(4);
  });

  it('reads its own writes', async () => {
    await put(store, 'a', { x: 1 });
    const seen = await store.write((tx) => {
      const values = [tx.get(pods('a'))?.object().spec.x, tx.get(pods('b'))];
      tx.put(pods('a'), pod('a', { x: 2 }));
      values.push(tx.get(pods('a'))?.object().spec.x, tx.get(pods('a'))?.rv);
      tx.put(pods('a'), pod('a', { x: 3 }));
      tx.put(pods('b'), pod('b'));
      values.push(tx.get(pods('a'))?.rv, tx.list('/pods').length);
      tx.delete(pods('a'));
      values.push(tx.get(pods('a')), tx.list('/pods', 'default').length, tx.list('/pods', 'other').length);
      return values;
    });
    expect(seen).toEqual([1, undefined, 2, 2, 3, 2, undefined, 1, 0]);
    expect(store.rv).toBe(5);
  });

  it('refuses asynchronous functions and use after the end', async () => {
    await expect(store.write(async (tx) => void tx.put(pods('a'), pod('a')))).rejects.toThrow('synchronous');
    expect(store.rv).toBe(0);
    const kept = await store.write((tx) => tx);
    expect(() => kept.get(pods('a'))).toThrow('over');
  });

  it('survives reopening, the counter too when the newest row was compacted away', async () => {
    await put(store, 'a');
    await put(store, 'b');
    await remove(store, 'b');
    await store.compact(3);
    await store.close();
    store = openStore(join(dir, 's.db'), options);
    expect(store.rv).toBe(3);
    expect(store.compactedRv).toBe(3);
    expect((await put(store, 'c')).rv).toBe(4);
    expect(store.list({ resource: '/pods' }).items.map((i) => i.key.name)).toEqual(['a', 'c']);
  });
});

describe('a store whose process was killed', () => {
  /** The files as the process leaves them that is killed now. */
  const killed = () => {
    const copy = join(dir, 'killed.db');
    for (const end of ['', '-wal', '-unclosed']) copyFileSync(join(dir, `s.db${end}`), `${copy}${end}`);
    return copy;
  };

  it('opens again after one that only read it', async () => {
    await put(store, 'a');
    const file = killed();
    for (let round = 0; round < 3; round++) {
      const reader = openStore(file, options);
      expect(reader.get(pods('a'))?.rv).toBe(1);
      await reader.close();
    }
  });

  it('opens again after one that could not open it', async () => {
    await put(store, 'a');
    const file = killed();
    const sealer = () => {
      throw new Error('no key');
    };
    expect(() => openStore(file, { ...options, sealer, sealed: () => true })).toThrow('no key');
    const reader = openStore(file, options);
    expect(reader.get(pods('a'))?.rv).toBe(1);
    await reader.close();
  });

  it('is refused without its log', async () => {
    await put(store, 'a');
    const file = killed();
    rmSync(`${file}-wal`);
    for (let round = 0; round < 2; round++)
      expect(() => openStore(file, options)).toThrow('its log (killed.db-wal) is lost');
  });
});

describe('list', () => {
  it('pages in (namespace, name) order, now and at an older version', async () => {
    for (const ns of ['b', 'a']) for (const name of ['2', '1', '3']) await put(store, name, {}, ns);
    const then = store.rv;
    await store.write((tx) => tx.delete(pods('1', 'a')));
    await put(store, '2', { changed: true }, 'a');
    await put(store, '0', {}, 'b');
    const walk = (atRv?: number, namespace?: string) => {
      const seen: string[] = [];
      let after: { namespace: string; name: string } | undefined;
      for (;;) {
        const page = store.list({ resource: '/pods', limit: 2, after, atRv, namespace });
        seen.push(...page.items.map((i) => `${i.key.namespace}/${i.key.name}@${i.rv}`));
        if (!page.more) return seen;
        after = page.items.at(-1)?.key;
      }
    };
    expect(walk()).toEqual(['a/2@8', 'a/3@6', 'b/0@9', 'b/1@2', 'b/2@1', 'b/3@3']);
    expect(walk(then)).toEqual(['a/1@5', 'a/2@4', 'a/3@6', 'b/1@2', 'b/2@1', 'b/3@3']);
    expect(walk(then, 'a')).toEqual(['a/1@5', 'a/2@4', 'a/3@6']);
    expect(walk(undefined, 'b')).toEqual(['b/0@9', 'b/1@2', 'b/2@1', 'b/3@3']);
    expect(store.count('/pods')).toBe(6);
    expect(store.count('/pods', 'a')).toBe(2);
    expect(store.count('/nodes')).toBe(0);
  });

  it('refuses versions that are gone', async () => {
    for (const x of [1, 2, 3]) await put(store, 'a', { x });
    await store.compact(2);
    expect(() => store.list({ resource: '/pods', atRv: 1 })).toThrow(CompactedError);
    expect(store.list({ resource: '/pods', atRv: 2 }).items[0]?.object().spec.x).toBe(2);
  });
});

describe('watch', () => {
  it('gives history, then live, once each and in order', async () => {
    for (let x = 0; x < 1200; x++) void put(store, `p${x % 7}`, { x });
    await put(store, 'last');
    const rvs: number[] = [];
    store.watch({ resource: '/pods', afterRv: 100 }, (event) => rvs.push(event.rv));
    while (rvs.length < 1200) {
      void put(store, 'live', { n: rvs.length });
      await turn();
    }
    await store.write(() => {});
    expect(rvs).toEqual(Array.from({ length: store.rv - 100 }, (_, i) => i + 101));
  });

  it('says how far it has come, so that no bookmark runs ahead of history', async () => {
    for (let i = 0; i < 3; i++) await put(store, `n${i}`);
    const seen: number[] = [];
    const stop = store.watch({ afterRv: 0 }, (event) => seen.push(event.rv));
    expect(stop.reached).toBe(0);
    await vi.waitFor(() => expect(seen).toHaveLength(3));
    expect(stop.reached).toBe(store.rv);
    await put(store, 'later');
    expect(stop.reached).toBe(store.rv);
    stop();
  });

  it('carries the state before and, for a deletion, the last state under the new version', async () => {
    await put(store, 'a', { x: 1 });
    await put(store, 'a', { x: 2 });
    await remove(store, 'a');
    const events: ChangeEvent[] = [];
    store.watch({ resource: '/pods', namespace: 'default', name: 'a', afterRv: 0 }, (e) => events.push(e));
    store.watch({ resource: '/pods', namespace: 'other', afterRv: 0 }, () => expect.unreachable());
    store.watch({ resource: '/nodes', afterRv: 0 }, () => expect.unreachable());
    await turn();
    await turn();
    expect(events.map((e) => [e.type, e.rv, e.current.object().spec.x, e.previous?.object().spec.x])).toEqual([
      ['ADDED', 1, 1, undefined],
      ['MODIFIED', 2, 2, 1],
      ['DELETED', 3, 2, 2],
    ]);
    expect(events[2]?.current.object().metadata.resourceVersion).toBe('3');
    expect(JSON.parse(events[2]?.current.json ?? '').metadata.resourceVersion).toBe('3');
  });

  it('does not repeat to one that starts while events are handed out', async () => {
    const inner: number[] = [];
    let started = false;
    store.watch({ afterRv: 0 }, () => {
      if (started) return;
      started = true;
      store.watch({ afterRv: 0 }, (event) => inner.push(event.rv));
    });
    await Promise.all([put(store, 'a'), put(store, 'b'), put(store, 'c')]);
    await turn();
    await put(store, 'd');
    await turn();
    expect(inner).toEqual([1, 2, 3, 4]);
  });

  it('passes over what is not after the version asked for', async () => {
    const late: number[] = [];
    const future: number[] = [];
    // How many writes one commit takes depends on the disk.
    let from: number | undefined;
    store.watch({ afterRv: 5 }, (event) => future.push(event.rv));
    store.watch({ afterRv: 0 }, () => {
      if (from === undefined) store.watch({ afterRv: store.rv }, (event) => late.push(event.rv));
      from ??= store.rv;
    });
    await Promise.all([put(store, 'a'), put(store, 'b'), put(store, 'c')]);
    await Promise.all([put(store, 'd'), put(store, 'e'), put(store, 'f')]);
    expect(late).toEqual([1, 2, 3, 4, 5, 6].filter((rv) => rv > (from ?? 0)));
    expect(future).toEqual([6]);
  });

  it('ends when told, when it throws, and when the store closes', async () => {
    const ends: unknown[] = [];
    const seen: number[] = [];
    const stop = store.watch(
      { afterRv: 0 },
      (event) => seen.push(event.rv),
      () => ends.push('never'),
    );
    const error = new Error('no');
    const fails = () => {
      throw error;
    };
    store.watch({ afterRv: 0 }, fails, (why) => ends.push(why));
    store.watch(
      { afterRv: 0 },
      () => {},
      (why) => ends.push(why),
    );
    await put(store, 'a');
    stop();
    await put(store, 'b');
    expect(seen).toEqual([1]);
    await store.close();
    expect(ends).toEqual([error, undefined]);
  });

  it('refuses what is compacted, and compaction waits for those still reading', async () => {
    for (let x = 0; x < 3000; x++) void put(store, 'a', { x });
    await put(store, 'b');
    const rvs: number[] = [];
    store.watch({ afterRv: 1 }, (event) => rvs.push(event.rv));
    await store.compact(store.rv);
    expect(rvs).toHaveLength(3000);
    expect(() => store.watch({ afterRv: 1 }, () => {})).toThrow(CompactedError);
  });
});
