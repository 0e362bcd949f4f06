import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../clock.ts';
import { type CloneFile, restoreInto } from './snapshot.ts';
import { openStore } from './sqlite-store.ts';
import type { ChangeEvent, Sealer, Store } from './store.ts';

let dir: string;
let file: string;
let copy: string;
let store: Store;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
  file = join(dir, 's.db');
  copy = join(dir, 'copy.db');
  store = openStore(file, { clock, sealer, retention: false });
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true });
});

/** Stands in for the vault. */
const sealer: Sealer = {
  seal: (plain, context) => Buffer.from(`${context}\n${plain}`),
  open: (sealed, context) => sealed.toString().slice(context.length + 1),
};
const key = (name: string, resource = '/configmaps') => ({ resource, namespace: 'default', name });
const put = (name: string, data: string, uid = `uid-${name}`, resource = '/configmaps') =>
  store.write((tx) => tx.put(key(name, resource), { apiVersion: 'v1', kind: 'X', metadata: { name, uid }, data }));
const remove = (name: string) => store.write((tx) => tx.delete(key(name)));
const stateOf = (from: Store) =>
  from
    .resources()
    .flatMap((resource) => from.list({ resource }).items)
    .map((stored) => {
      const { metadata, ...rest } = stored.object();
      return { ...stored.key, uid: metadata.uid, ...rest };
    });
const restore = async (from = copy, settings: string[] = []) => {
  const then = openStore(from, { clock, sealer, readonly: true });
  await restoreInto(store, then, settings).finally(() => then.close());
};

describe('going back', () => {
  it('brings exactly the kept state back, by changes that everybody who watches sees', async () => {
    for (const name of ['same', 'changed', 'gone', 'remade']) await put(name, 'then');
    await put('hidden', 'then', 'uid', '/secrets');
    const then = stateOf(store);
    await store.snapshot(copy);
    const kept = store.rv;

    await put('changed', 'now');
    await remove('gone');
    await remove('remade');
    await put('remade', 'then', 'another-uid');
    await put('added', 'now');
    await put('of a kind that came later', 'now', 'uid', 'example.com/things');
    await put('hidden', 'now', 'uid', '/secrets');
    const before = store.rv;
    const seen: ChangeEvent[] = [];
    store.watch({ afterRv: store.rv }, (event) => void seen.push(event));
    await restore();

    expect(stateOf(store)).toEqual(then);
    expect(seen.map(({ type, current }) => `${type} ${current.key.name}`).sort()).toEqual([
      'ADDED gone',
      'ADDED remade',
      'DELETED added',
      'DELETED of a kind that came later',
      'DELETED remade',
      'MODIFIED changed',
      'MODIFIED hidden',
    ]);
    expect(seen.map(({ rv }) => rv)).toEqual(seen.map((_, index) => before + 1 + index));
    expect(store.get(key('same'))?.rv, 'what did not change keeps its version').toBeLessThanOrEqual(kept);
    expect(store.get(key('changed'))?.object().metadata.resourceVersion).toBe(String(store.get(key('changed'))?.rv));
    const rv = store.rv;
    await restore();
    expect(store.rv, 'a second time there is nothing to do').toBe(rv);
  });

  it('keeps settings of today but those asked for', async () => {
    store.meta.set('token', 'then');
    store.meta.set('nodes', '2');
    await put('a', 'then');
    await store.snapshot(copy);
    store.meta.set('token', 'now');
    store.meta.set('nodes', '4');
    await restore(copy, ['nodes', 'never set']);
    expect([store.meta.get('token'), store.meta.get('nodes')]).toEqual(['now', '2']);
  });
});

describe('taking one', () => {
  it('is a private file of its own, with nothing beside it', async () => {
    await put('a', 'then');
    await store.snapshot(copy);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(existsSync(`${copy}.new`)).toBe(false);
  });

  it('shares blocks where the file system can, while writers go on', async () => {
    await put('a', 'then');
    /** As slow as can be, with a log beside it that would be copied into the file by now. */
    const clone: CloneFile = async (from, to) => {
      for (let n = 0; n < 300; n++) await put(`b${n}`, 'x'.repeat(20_000));
      await store.compact(store.rv);
      copyFileSync(from, to);
      return true;
    };
    await store.snapshot(copy, clone);
    const then = openStore(copy, { clock, readonly: true });
    expect(stateOf(then)).toMatchObject([{ name: 'a', data: 'then' }]);
    await then.close();
    expect(store.count('/configmaps')).toBe(301);
  });

  it('copies where it cannot', async () => {
    await put('a', 'then');
    await store.snapshot(copy, async () => false);
    await put('a', 'now');
    await restore();
    expect(store.get(key('a'))?.object().data).toBe('then');
  });

  it('is finished before the store closes', async () => {
    await put('a', 'then');
    const slow: CloneFile = async (from, to) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      copyFileSync(from, to);
      return true;
    };
    const [taken] = await Promise.all([store.snapshot(copy, slow).then(() => 'taken'), store.close()]);
    expect(taken).toBe('taken');
    store = openStore(file, { clock, sealer, retention: false });
    await restore();
  });

  it('fails without harm', async () => {
    await put('a', 'then');
    await expect(store.snapshot(join(dir, 'nowhere', 'copy.db'))).rejects.toMatchObject({ code: 'store.snapshot' });
    await put('a', 'now');
    await store.snapshot(copy);
  });
});
