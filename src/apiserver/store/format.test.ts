import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { cloneStore, dropStore } from './clone.ts';
import { openStore } from './sqlite-store.ts';

let dir: string;
let file: string;
const open = () => openStore(file, { clock: systemClock });
const key = { resource: '/configmaps', namespace: 'default', name: 'a' };
const object = () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: 'y'.repeat(9000) } });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'format-'));
  file = join(dir, 's.db');
});
afterEach(() => rmSync(dir, { recursive: true }));

async function made(): Promise<void> {
  const store = open();
  await store.write((tx) => tx.put(key, object()));
  await store.close();
}

function refused(code: string): void {
  const before = readFileSync(file);
  expect(open).toThrow(expect.objectContaining({ code }));
  expect(readFileSync(file).equals(before)).toBe(true);
}

describe('the file', () => {
  it('is private and closed without traces', async () => {
    await made();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect([existsSync(`${file}-wal`), existsSync(`${file}-shm`)]).toEqual([false, false]);
  });

  it('is refused untouched when it is newer, also when only its log says so', async () => {
    await made();
    const db = new Database(file);
    db.pragma('user_version = 99');
    const crashed = { db: readFileSync(file), wal: readFileSync(`${file}-wal`) };
    db.close();
    refused('store.newer');
    writeFileSync(file, crashed.db);
    writeFileSync(`${file}-wal`, crashed.wal);
    refused('store.newer');
    expect(readFileSync(`${file}-wal`).equals(crashed.wal)).toBe(true);
  });

  it('is refused untouched when it is broken', async () => {
    for (const content of ['x', 'not a database, only some text that is longer than one hundred bytes '.repeat(9)]) {
      writeFileSync(file, content);
      refused('store.broken');
    }
    rmSync(file);
    await made();
    truncateSync(file, statSync(file).size - 4096);
    refused('store.broken');
    rmSync(file);
    const other = new Database(file);
    other.exec('CREATE TABLE t(x)');
    other.close();
    refused('store.broken');
    const torn = new Database(file);
    torn.exec('PRAGMA application_id = 0x526f6f6b; PRAGMA user_version = 1');
    torn.close();
    refused('store.broken');
  });

  it('says so when pages inside are damaged', async () => {
    await made();
    const bytes = readFileSync(file);
    bytes.fill(0xee, 2 * 4096);
    writeFileSync(file, bytes);
    let code: unknown;
    try {
      const store = open();
      try {
        store.get(key);
      } finally {
        await store.close();
      }
    } catch (error) {
      code = (error as { code: unknown }).code;
    }
    expect(code).toBe('store.broken');
  });

  it('is opened by one at a time', async () => {
    const store = open();
    expect(open).toThrow(expect.objectContaining({ code: 'store.busy' }));
    await store.write((tx) => tx.put(key, object()));
    const other = new Database(file, { timeout: 0 });
    expect(() => other.prepare('SELECT * FROM meta').all()).toThrow(/locked/);
    other.close();
    await store.close();
    await open().close();
  });

  it('has to be reachable', () => {
    expect(() => openStore(join(dir, 'no', 's.db'), { clock: systemClock })).toThrow(
      expect.objectContaining({ code: 'store.unreachable' }),
    );
    expect(() => openStore(dir, { clock: systemClock })).toThrow(
      expect.objectContaining({ code: 'store.unreachable' }),
    );
  });

  it('can be opened for reading only', async () => {
    await made();
    chmodSync(file, 0o400);
    const store = openStore(file, { clock: systemClock, readonly: true });
    expect(store.get(key)?.rv).toBe(1);
    await expect(store.write((tx) => tx.delete(key))).rejects.toMatchObject({ code: 'store.failed' });
    await store.close();
  });

  it('keeps settings', async () => {
    let store = open();
    store.meta.set('id', '7');
    await store.close();
    store = open();
    expect([store.meta.get('id'), store.meta.get('none'), store.meta.get('compactedRv')]).toEqual([
      '7',
      undefined,
      undefined,
    ]);
    await store.close();
    expect(() => store.get(key)).toThrow(expect.objectContaining({ code: 'store.closed' }));
    await expect(store.write(() => 1)).rejects.toMatchObject({ code: 'store.closed' });
  });
});

describe('cloning and dropping', () => {
  it('copies a closed store and leaves nothing of a dropped one', async () => {
    const store = open();
    await store.write((tx) => tx.put(key, object()));
    const copy = join(dir, 'copy.db');
    await expect(cloneStore(file, copy)).rejects.toMatchObject({ code: 'store.open' });
    await expect(dropStore(file)).rejects.toMatchObject({ code: 'store.open' });
    await store.close();
    await cloneStore(file, copy);
    await expect(cloneStore(file, copy)).rejects.toMatchObject({ code: 'EEXIST' });
    const clone = openStore(copy, { clock: systemClock });
    expect(clone.get(key)?.json).toContain('yyyy');
    expect((await clone.write((tx) => tx.delete(key)))?.rv).toBe(2);
    await clone.close();
    await dropStore(copy);
    await dropStore(copy);
    expect(existsSync(copy)).toBe(false);
  });
});
