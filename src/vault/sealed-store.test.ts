/** The vault's sealer in a real store: what a thief with the file, or a second file, gets. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStore } from '../apiserver/store/sqlite-store.ts';
import { systemClock as clock } from '../clock.ts';
import { Keyring } from './keyring.ts';
import { storeSealer } from './sealer.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sealed-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const key = (name: string) => ({ resource: '/secrets', namespace: 'default', name });
const secret = (name: string, password: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, password });
const open = (keyring: Keyring, owner = 'demo') =>
  openStore(join(dir, 's.db'), { clock, sealer: (meta) => storeSealer(keyring, meta, owner) });

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
