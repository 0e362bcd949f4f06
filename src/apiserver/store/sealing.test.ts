import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../clock.ts';
import { openStore } from './sqlite-store.ts';
import type { Sealer } from './store.ts';

/** Stands in for the vault, which is above this folder: reversible, bound to its context, and nothing like its input. */
const sealer: Sealer = {
  seal: (plain, context) => Buffer.from([...Buffer.from(`${context}\n${plain}`)].map((byte) => byte ^ 0x5a)),
  open(sealed, context) {
    const text = Buffer.from([...sealed].map((byte) => byte ^ 0x5a)).toString();
    if (!text.startsWith(`${context}\n`)) throw new Error(`not sealed for ${context}`);
    return text.slice(context.length + 1);
  },
};
const key = (name: string) => ({ resource: '/secrets', namespace: 'default', name });
const secret = (name: string, password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  data: { password },
});

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sealing-'));
  file = join(dir, 's.db');
});
afterEach(() => rmSync(dir, { recursive: true }));
const onDisk = (text: string) => readdirSync(dir).some((name) => readFileSync(join(dir, name)).includes(text));

describe('sealed resources', () => {
  it('are nowhere in the files in plain: current, history, log, free pages', async () => {
    const store = openStore(file, { clock, sealer });
    await store.write((tx) => tx.put(key('a'), secret('a', 'first-hunter2')));
    await store.write((tx) => tx.put(key('a'), secret('a', 'second-hunter2')));
    await store.write((tx) => tx.put(key('b'), secret('b', 'third-hunter2'.repeat(900))));
    await store.write((tx) => tx.put({ ...key('c'), resource: '/configmaps' }, secret('c', 'visible')));
    await store.write((tx) => tx.delete(key('b')));
    expect(store.get(key('a'))?.object().data.password).toBe('second-hunter2');
    expect(store.list({ resource: '/secrets', atRv: 1 }).items[0]?.object().data.password).toBe('first-hunter2');
    expect([onDisk('hunter2'), onDisk('visible')]).toEqual([false, true]);
    await store.compact(store.rv);
    expect(onDisk('hunter2')).toBe(false);
    await store.close();
    expect([onDisk('hunter2'), onDisk('visible')]).toEqual([false, true]);
  });

  it('take part in no-ops and watches', async () => {
    const store = openStore(file, { clock, sealer });
    await store.write((tx) => tx.put(key('a'), secret('a', 'x')));
    await store.write((tx) => tx.put(key('a'), secret('a', 'x')));
    expect(store.rv).toBe(1);
    await store.write((tx) => tx.delete(key('a')));
    const seen: unknown[] = [];
    store.watch({ afterRv: 0 }, (event) => seen.push([event.type, event.current.object().data.password]));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(seen).toEqual([
      ['ADDED', 'x'],
      ['DELETED', 'x'],
    ]);
    await store.close();
  });

  it('are sealed afterwards when the store was first used without a key', async () => {
    const before = openStore(file, { clock });
    await before.write((tx) => tx.put(key('a'), secret('a', 'old-hunter2'.repeat(900))));
    await before.write((tx) => tx.put(key('a'), secret('a', 'old-hunter2')));
    await before.close();
    expect(onDisk('hunter2')).toBe(true);
    const after = openStore(file, { clock, sealer });
    expect(onDisk('hunter2')).toBe(false);
    expect(after.get(key('a'))?.object().data.password).toBe('old-hunter2');
    await after.close();
    const locked = openStore(file, { clock });
    expect(() => locked.get(key('a'))).toThrow(expect.objectContaining({ code: 'store.sealed' }));
    await locked.close();
  });

  it('ask for their key only when it is needed', async () => {
    let asked = 0;
    const store = openStore(file, {
      clock,
      sealer: (meta) => {
        asked++;
        meta.set('key', 'made');
        return sealer;
      },
    });
    await store.write((tx) => tx.put({ ...key('c'), resource: '/configmaps' }, secret('c', 'visible')));
    expect(asked).toBe(0);
    await store.write((tx) => tx.put(key('a'), secret('a', 'x')));
    await store.write((tx) => tx.put(key('b'), secret('b', 'x')));
    expect([asked, store.meta.get('key')]).toEqual([1, 'made']);
    await store.close();
  });
});
