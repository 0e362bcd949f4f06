/** The vault's sealer in a real store: what a thief with the file, or a second file, gets. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reseal } from '../apiserver/reseal.ts';
import { openStore } from '../apiserver/store/sqlite-store.ts';
import type { RenewableSealer, ResealCursor, Store } from '../apiserver/store/store.ts';
import { systemClock as clock } from '../clock.ts';
import { Keyring } from './keyring.ts';
import { dataKeysOf, masterKeysOf, storeSealer } from './sealer.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sealed-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const key = (name: string) => ({ resource: '/secrets', namespace: 'default', name });
const secret = (name: string, password: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, password });
const sealerOf = (keyring: Keyring, meta: Store['meta'], owner = 'demo') => {
  const sealer = storeSealer(keyring, meta, owner);
  sealer.renew();
  return sealer;
};
const open = (keyring: Keyring, owner = 'demo') =>
  openStore(join(dir, 's.db'), { clock, sealer: (meta) => sealerOf(keyring, meta, owner) });

it('keeps secrets from readers of the file and through a rotation', async () => {
  const keyring = await Keyring.open(join(dir, 'keys.json'));
  let store = open(keyring);
  await store.write((tx) => tx.put(key('a'), secret('a', 'hunter2-old')));
  await store.close();
  await keyring.rotate();
  store = open(await Keyring.open(join(dir, 'keys.json')));
  await store.write((tx) => tx.put(key('b'), secret('b', 'hunter2-new')));
  const inUse = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'latin1'));
  expect(inUse.some((text) => text.includes('hunter2'))).toBe(false);
  await store.close();
  expect(readFileSync(join(dir, 's.db'), 'latin1')).not.toContain('hunter2');

  store = open(keyring);
  expect(store.list({ resource: '/secrets' }).items.map((item) => item.object().password)).toEqual([
    'hunter2-old',
    'hunter2-new',
  ]);
  await store.close();
  store = open(keyring, 'someone else');
  expect(() => store.get(key('a'))).toThrow(expect.objectContaining({ code: 'vault.wrong-key' }));
  await store.close();
  store = open(await Keyring.open(join(dir, 'other.json')));
  expect(() => store.get(key('a'))).toThrow(expect.objectContaining({ code: 'vault.missing-key' }));
  await store.close();
});

it('does not open a value that was moved to another object or back to an older version', async () => {
  const keyring = await Keyring.open(join(dir, 'keys.json'));
  let store = open(keyring);
  await store.write((tx) => tx.put(key('a'), secret('a', 'old')));
  await store.write((tx) => tx.put(key('a'), secret('a', 'new')));
  await store.write((tx) => tx.put(key('b'), secret('b', 'mine')));
  await store.close();
  const db = new Database(join(dir, 's.db'));
  db.exec('UPDATE log SET value = (SELECT value FROM log WHERE rv = 1) WHERE rv IN (2, 3)');
  db.close();
  store = open(keyring);
  for (const name of ['a', 'b']) {
    expect(() => store.get(key(name))).toThrow(expect.objectContaining({ code: 'vault.unreadable-value' }));
  }
  await expect(store.write((tx) => tx.get(key('a')))).rejects.toMatchObject({ code: 'vault.unreadable-value' });
  await store.close();
});

describe('sealing again', () => {
  const NAMES = Array.from({ length: 130 }, (_, i) => `s${i}`);
  const numberOf = (value: Buffer) => value.readUInt32BE(1);
  const numbersInFile = () => {
    const db = new Database(join(dir, 's.db'), { readonly: true });
    const rows = db.prepare("SELECT value FROM log WHERE typeof(value) = 'blob'").all() as { value: Buffer }[];
    db.close();
    return [...new Set(rows.map(({ value }) => numberOf(value)))].sort();
  };
  /** A store whose sealer the test has in its hands, as a cluster has it. */
  const openWith = (keyring: Keyring): { store: Store; sealer: RenewableSealer } => {
    let sealer: RenewableSealer | undefined;
    const make = (meta: Store['meta']) => {
      sealer ??= storeSealer(keyring, meta, 'demo');
      return sealer;
    };
    const store = openStore(join(dir, 's.db'), { clock, sealer: make });
    return { store, sealer: make(store.meta) };
  };
  const nothing = { reseal: () => {} };

  it('brings current rows and history to the new key, while others write, and needs no old key afterwards', async () => {
    const keyring = await Keyring.open(join(dir, 'keys.json'));
    let { store, sealer } = openWith(keyring);
    for (const name of NAMES) await store.write((tx) => tx.put(key(name), secret(name, 'first')));
    await store.write((tx) => tx.put(key('s1'), secret('s1', 'second')));
    await keyring.rotate();
    const done = reseal(store, sealer, nothing);
    await store.write((tx) => tx.put(key('s2'), secret('s2', 'during')));
    await done;
    expect(dataKeysOf(store.meta)).toEqual([2]);
    expect(masterKeysOf(store.meta)).toEqual([2]);
    await store.close();
    expect(numbersInFile()).toEqual([2]);
    await keyring.retire(1);
    expect(keyring.list.map(({ number }) => number)).toEqual([2]);
    ({ store, sealer } = openWith(await Keyring.open(join(dir, 'keys.json'))));
    const passwords = store.list({ resource: '/secrets' }).items.map((item) => item.object().password);
    expect(passwords).toHaveLength(130);
    expect(passwords.filter((each) => each !== 'first').sort()).toEqual(['during', 'second']);
    const history: unknown[] = [];
    store.watch({ resource: '/secrets', afterRv: 0 }, (event) => history.push(event.current.object().password));
    await vi.waitFor(() => expect(history).toHaveLength(132));
    await store.close();
  });

  it('broken off between two turns, it goes on after the next start', async () => {
    const keyring = await Keyring.open(join(dir, 'keys.json'));
    let { store, sealer } = openWith(keyring);
    for (const name of NAMES) await store.write((tx) => tx.put(key(name), secret(name, 'x')));
    await keyring.rotate();
    sealer.renew();
    const at: ResealCursor | undefined = await store.reseal((sealed) => sealer.isCurrent(sealed));
    expect(at).toBeDefined();
    await store.close();
    expect(numbersInFile()).toEqual([1, 2]);
    ({ store, sealer } = openWith(await Keyring.open(join(dir, 'keys.json'))));
    expect(dataKeysOf(store.meta)).toEqual([1, 2]);
    await reseal(store, sealer, nothing);
    expect(dataKeysOf(store.meta)).toEqual([2]);
    await store.close();
    expect(numbersInFile()).toEqual([2]);
  });
});
