import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../clock.ts';
import { openStore } from './sqlite-store.ts';
import { CompactedError, type Store } from './store.ts';

const MINUTE = 60_000;
const key = { resource: 'coordination.k8s.io/leases', namespace: 'kube-node-lease', name: 'node-1' };
const lease = (n: number) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'node-1', namespace: 'kube-node-lease', labels: { padding: 'x'.repeat(300) } },
  spec: { holderIdentity: 'node-1', leaseTransitions: n },
});

class HandClock implements Clock {
  time = 1_800_000_000_000;
  timers = new Set<{ at: number; callback: () => void }>();
  now(): number {
    return this.time;
  }
  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.time + ms, callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }
  advance(ms: number): void {
    this.time += ms;
    for (const timer of [...this.timers].filter((t) => t.at <= this.time)) {
      this.timers.delete(timer);
      timer.callback();
    }
  }
}

let dir: string;
let file: string;
let clock: HandClock;
let store: Store;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'retention-'));
  file = join(dir, 's.db');
  clock = new HandClock();
  store = openStore(file, { clock });
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true });
});
const write = (n: number) => store.write((tx) => tx.put(key, lease(n)));
const size = () =>
  [file, `${file}-wal`].reduce((sum, f) => sum + (statSync(f, { throwIfNoEntry: false })?.size ?? 0), 0);
/** Timers run; the compactions they start get the turns they need. */
const pass = async (ms: number) => {
  for (let left = ms; left > 0; left -= MINUTE) {
    clock.advance(Math.min(left, MINUTE));
    await store.compact(0);
  }
};

describe('retention', () => {
  it('keeps five minutes, forgets after eight, then sleeps', async () => {
    for (let n = 0; n < 20; n++) await write(n);
    await pass(5 * MINUTE);
    expect(store.compactedRv).toBe(0);
    await pass(5 * MINUTE);
    expect(store.compactedRv).toBe(20);
    expect(() => store.watch({ afterRv: 19 }, () => {})).toThrow(CompactedError);
    expect(store.get(key)?.rv).toBe(20);
    expect(clock.timers.size).toBe(0);
    await write(99);
    expect(clock.timers.size).toBe(1);
  });

  it('keeps 1000 revisions between five and eight minutes', async () => {
    for (let n = 0; n < 1500; n++) void write(n);
    await write(-1);
    await pass(6 * MINUTE);
    expect(store.compactedRv).toBe(501);
  });

  it('holds the file small while one lease is rewritten 50,000 times', async () => {
    let largest = 0;
    for (let n = 0; n < 50_000; n += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, i) => write(n + i)));
      clock.advance(5_000);
      if (n % 2500 === 0) largest = Math.max(largest, size());
    }
    await store.compact(0);
    largest = Math.max(largest, size());
    expect(store.rv).toBe(50_000);
    // 8 minutes at 10 a second are 4,800 revisions of 600 bytes; without forgetting it would be 30 MB.
    expect(largest).toBeLessThan(6_000_000);
    await pass(20 * MINUTE);
    expect(store.compactedRv).toBe(50_000);
    expect(size()).toBeLessThan(1_300_000);
    await store.close();
    const db = new Database(file);
    expect(db.prepare('SELECT count(*) AS n FROM log').get()).toEqual({ n: 1 });
    expect(db.prepare('SELECT count(*) AS n FROM marks').get()).toEqual({ n: 0 });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
  });

  it('goes on where a compaction was cut off', async () => {
    for (let n = 0; n < 1200; n++) void write(n);
    await write(-1);
    const half = store.compact(1000);
    await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    await half;
    store = openStore(file, { clock });
    expect(store.compactedRv).toBe(1000);
    expect(() => store.list({ resource: key.resource, atRv: 999 })).toThrow(CompactedError);
    await store.compact(1100);
    const left = store.list({ resource: key.resource, atRv: 1100 }).items;
    expect(left.map((item) => item.rv)).toEqual([1100]);
    await store.close();
    const db = new Database(file, { readonly: true });
    expect(db.prepare('SELECT count(*) AS n FROM log').get()).toEqual({ n: 102 });
    db.close();
  });

  it('forgets history before its time when it takes too much, and gives the room back', async () => {
    await store.close();
    const room = { admit() {}, failed() {}, historyBytes: () => 2 ** 20 };
    store = openStore(file, { clock, room });
    const large = (n: number) =>
      store.write((tx) => tx.put(key, { ...lease(n), data: { text: String(n % 10).repeat(20_000) } }));
    let largest = 0;
    for (let n = 0; n < 2000; n++) {
      await large(n);
      if (n % 50 === 0) await store.compact(0);
      largest = Math.max(largest, statSync(file).size);
    }
    await store.compact(0);
    // 40 MB were written. A hundred versions are always kept, 2 MB; the log of a checkpoint is 4 MB.
    expect(largest).toBeLessThan(12_000_000);
    expect(statSync(file).size).toBeLessThan(6_000_000);
    expect(store.compactedRv).toBeGreaterThan(1000);
    expect(store.rv - store.compactedRv).toBeGreaterThanOrEqual(100);
    expect(store.get(key)?.rv).toBe(2000);
  });
});
