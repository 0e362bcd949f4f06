import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seeded } from '../../../test/harness/seeded.ts';
import { systemClock as clock } from '../../clock.ts';
import { openStore } from './sqlite-store.ts';
import type { Room, Store } from './store.ts';

const ROOM: Room = { admit() {}, failed() {}, historyBytes: () => 2 ** 30 };
const RESOURCE = '/configmaps';

let folder: string;
let file: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'usage-'));
  file = join(folder, 's.db');
  store = openStore(file, { clock, room: ROOM, retention: false });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const key = (name: string) => ({ resource: RESOURCE, namespace: 'default', name });
const object = (name: string, data: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { data },
});

/** What is there, counted the long way. */
function counted(of: Store) {
  const { items } = of.list({ resource: RESOURCE });
  return { objects: items.length, bytes: items.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0) };
}

async function churn(seed: number): Promise<void> {
  const chance = seeded(seed);
  const writes: Promise<unknown>[] = [];
  for (let i = 0; i < 300; i++) {
    const name = `c${Math.floor(chance() * 40)}`;
    const text = chance.pick(['x', 'ü', '語', '🐦']).repeat(chance() * 200);
    const change = store.write((tx) => {
      if (chance() < 0.3) tx.delete(key(name));
      else tx.put(key(name), object(name, text));
      if (chance() < 0.1) throw new Error('taken back');
    });
    writes.push(change.catch(() => {}));
    if (i % 20 === 0) await Promise.all(writes);
  }
  await Promise.all(writes);
}

describe('usage', () => {
  it.each([1, 2, 3])('is what is stored, after changes, failures and a clean restart (seed %i)', async (seed) => {
    expect(store.usage).toEqual({ objects: 0, bytes: 0 });
    await churn(seed);
    expect(store.usage).toEqual(counted(store));
    await store.close();
    store = openStore(file, { clock, room: ROOM, retention: false });
    expect(store.usage).toEqual(counted(store));
    await churn(seed + 100);
    expect(store.usage).toEqual(counted(store));
  });

  it('is counted on from where it was written down, after a crash', async () => {
    await churn(7);
    await store.compact(store.rv - 50);
    await churn(8);
    const after = join(folder, 'after.db');
    for (const suffix of ['', '-wal']) if (existsSync(file + suffix)) copyFileSync(file + suffix, after + suffix);
    const crashed = openStore(after, { clock, room: ROOM, retention: false });
    expect(crashed.usage).toEqual(store.usage);
    expect(crashed.usage).toEqual(counted(crashed));
    await crashed.close();
  });

  it('of a store that was written without counting is counted whole', async () => {
    await store.close();
    store = openStore(file, { clock, retention: false });
    await churn(9);
    await store.compact(store.rv);
    await store.close();
    store = openStore(file, { clock, room: ROOM, retention: false });
    expect(store.usage).toEqual(counted(store));
  });
});
