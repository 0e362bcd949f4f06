import { mkdtempSync, rmSync, statfsSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../loops/testing/test-cluster.ts';
import { ApiError } from '../status.ts';
import { openStore } from '../store/sqlite-store.ts';
import { Disk, type DiskState } from './disk.ts';
import { RESERVE_BYTES, Reserve } from './reserve.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'disk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('Reserve', () => {
  it('takes real blocks, gives them up in parts, and takes them again', async () => {
    const file = join(folder, 'deep', 'reserve');
    const reserve = new Reserve(file);
    expect(reserve.bytes).toBeUndefined();
    expect(reserve.giveUp()).toBe(false);
    expect(await reserve.take()).toBe(true);
    expect(statSync(file).size).toBe(RESERVE_BYTES);
    expect(statSync(file).blocks * 512).toBeGreaterThanOrEqual(RESERVE_BYTES);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(reserve.giveUp()).toBe(true);
    expect(reserve.bytes).toBe((RESERVE_BYTES * 3) / 4);
    while (reserve.giveUp());
    expect(reserve.bytes).toBe(0);
    expect(await reserve.take()).toBe(true);
    expect(reserve.bytes).toBe(RESERVE_BYTES);
  });

  it('leaves nothing behind when it asks the disk', () => {
    new Reserve(join(folder, 'reserve')).probe();
    expect(statfsSync(folder).bavail).toBeGreaterThan(0);
    expect(() => new Reserve('/proc/reserve').probe()).toThrow();
  });
});

/** What a disk does, decided by the test. */
class Scripted {
  bytes: number | undefined = RESERVE_BYTES;
  givenUp = 0;
  isRoomy = false;
  says: string | undefined;

  giveUp(): boolean {
    this.givenUp++;
    return true;
  }
  async take(): Promise<boolean> {
    return this.isRoomy;
  }
  probe(): void {
    if (this.says) throw Object.assign(new Error(this.says), { code: this.says });
  }
}

describe('Disk', () => {
  it.each([
    ['SQLite says that it is full', true, undefined, 'full', 507],
    ['a quota is used up', false, 'EDQUOT', 'full', 507],
    ['it reports errors', false, 'EIO', 'failing', 503],
    ['it is mounted read-only', false, 'EROFS', 'failing', 503],
  ] as const)('lets nothing grow when %s, until it can be written again', async (_, isFull, says, state, code) => {
    const clock = new ManualClock();
    const reserve = new Scripted();
    const states: DiskState[] = [];
    const disk = new Disk({ reserve, clock, onChange: (next) => states.push(next) });
    disk.admit();
    reserve.says = says;
    disk.failed(isFull);
    disk.failed(isFull);
    expect(reserve.givenUp).toBe(state === 'full' ? 2 : 0);
    expect(() => disk.admit()).toThrow(expect.objectContaining({ code }));

    clock.advance(2000);
    await turn();
    expect(() => disk.admit()).toThrow(ApiError);
    reserve.isRoomy = true;
    reserve.says = undefined;
    clock.advance(2000);
    await turn();
    disk.admit();
    expect(states.at(0)).toBe(state);
    expect(states.at(-1)).toBe('ok');
    disk.close();
  });

  it('takes a disk without room for the reserve for a small one, and one that has given it up for a full one', async () => {
    for (const [bytes, state] of [
      [undefined, 'ok'],
      [4096, 'full'],
    ] as const) {
      const clock = new ManualClock();
      const disk = new Disk({ reserve: Object.assign(new Scripted(), { bytes }), clock });
      disk.start();
      clock.advance(1000);
      await turn();
      expect(disk.state).toBe(state);
      // One that fills up is written again as soon as it can be.
      disk.failed(true);
      expect(disk.state).toBe('full');
      clock.advance(2000);
      await turn();
      expect(disk.state).toBe(state);
      disk.close();
    }
  });

  it('goes on when not even the reserve can be given up', () => {
    const reserve = new Scripted();
    reserve.giveUp = () => {
      throw new Error('EROFS');
    };
    const disk = new Disk({ reserve, clock: new ManualClock() });
    disk.failed(true);
    expect(disk.state).toBe('failing');
    expect(() => disk.admit()).toThrow(ApiError);
  });

  it('takes a failed write that could be done now for one that passed', () => {
    const disk = new Disk({ reserve: new Scripted(), clock: new ManualClock() });
    disk.failed(false);
    disk.admit();
  });

  it('keeps objects that are being deleted going, and nothing of a write that was refused', async () => {
    const disk = new Disk({ reserve: new Scripted(), clock: new ManualClock() });
    const store = openStore(':memory:', { clock: new ManualClock(), room: disk });
    const key = { resource: '/configmaps', namespace: 'default', name: 'a' };
    const object = (metadata: object) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', ...metadata },
    });
    await store.write((tx) => tx.put(key, object({})));
    disk.failed(true);
    const refused = store.write((tx) => {
      tx.delete(key);
      tx.put(key, object({ labels: { a: 'b' } }));
    });
    await expect(refused).rejects.toMatchObject({ code: 507, reason: 'InsufficientStorage' });
    expect(store.get(key)?.rv).toBe(1);
    await store.write((tx) => tx.put(key, object({ deletionTimestamp: '2026-01-01T00:00:00Z' })));
    await store.write((tx) => tx.delete(key));
    expect(store.get(key)).toBeUndefined();
    await store.close();
  });

  it('takes the reserve that is missing after a start', async () => {
    const clock = new ManualClock();
    const file = join(folder, 'reserve');
    const reserve = new Reserve(file);
    await reserve.take();
    truncateSync(file, 0);
    const disk = new Disk({ reserve, clock });
    disk.start();
    expect(reserve.bytes).toBe(0);
    clock.advance(1000);
    await expect.poll(() => reserve.bytes).toBe(RESERVE_BYTES);
    disk.close();
  });
});
