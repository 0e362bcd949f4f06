/**
 * Power cuts: the disk has what was last waited for and, of everything written since, any blocks it likes. Whatever
 * that is, it opens, it is whole, and it has all that was committed before the last checkpoint.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Chance, seeded } from '../../../test/harness/seeded.ts';
import { CHECKPOINT_BYTES, Checkpoints, type Waits } from './checkpoints.ts';
import type { Connection } from './format.ts';

const ROWS = 40;
const BLOCK = 4096;

let folder: string;
let file: string;
let db: Connection;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoints-'));
  file = join(folder, 's.db');
  db = new Database(file);
  for (const setting of [
    'locking_mode = EXCLUSIVE',
    'journal_mode = WAL',
    'synchronous = OFF',
    'wal_autocheckpoint = 0',
  ]) {
    db.pragma(setting);
  }
  db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, padding TEXT)');
});
afterEach(() => {
  if (db.open) db.close();
  rmSync(folder, { recursive: true });
});

/** All rows get the same number, or none does. */
function commit(n: number): void {
  const put = db.prepare('INSERT OR REPLACE INTO t VALUES (?, ?, ?)');
  db.transaction(() => {
    for (let id = 0; id < ROWS; id++) put.run(id, n, 'x'.repeat(100 + ((n * 37 + id * 101) % 1500)));
  })();
}

/** A disk that remembers what it was made to keep. */
class Disk implements Waits {
  readonly #kept = new Map<string, Buffer>();
  readonly #chance: Chance;
  /** Called at every moment worth a power cut. */
  moment = () => {};
  waitedOn = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    for (const path of [file, `${file}-wal`]) this.#kept.set(path, content(path));
  }

  async off(_: number, path: string): Promise<void> {
    const now = content(path);
    const { waitedOn } = this;
    this.moment();
    for (let turns = this.#chance() * 4; turns > 0; turns--) await turn();
    this.moment();
    // What came later and was waited for on the event loop stays.
    if (waitedOn === this.waitedOn) this.#kept.set(path, now);
    this.moment();
  }

  on(_: number, path: string): void {
    this.waitedOn++;
    this.#kept.set(path, content(path));
  }

  /** Writes what a power cut may leave to `to`. */
  cut(to: string): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(to + suffix, { force: true });
    for (const suffix of ['', '-wal']) writeFileSync(to + suffix, this.#left(file + suffix));
  }

  #left(path: string): Buffer {
    const kept = this.#kept.get(path) as Buffer;
    const now = content(path);
    const likely = this.#chance.pick([0, 1, 0.5, 0.1, 0.9]);
    const length = this.#chance() < likely ? now.length : kept.length;
    const left = Buffer.alloc(length);
    for (let at = 0; at < length; at += BLOCK) {
      // What was cut off is there as it was, or not at all.
      const from = at < now.length && this.#chance() < likely ? now : kept;
      from.subarray(at, at + BLOCK).copy(left, at);
    }
    return left;
  }
}

function content(path: string): Buffer {
  return existsSync(path) && path !== folder ? readFileSync(path) : Buffer.alloc(0);
}

function opened(image: string): { n: number; whole: unknown } {
  const copy = new Database(image);
  try {
    const whole = copy.pragma('integrity_check', { simple: true });
    const numbers = copy.prepare('SELECT DISTINCT n FROM t').all() as { n: number }[];
    return { n: numbers.length === 1 ? (numbers[0] as { n: number }).n : Number.NaN, whole };
  } finally {
    copy.close();
  }
}

describe('a checkpoint', () => {
  it.each([1, 2, 3, 4])('loses nothing to a power cut at any moment (seed %i)', { timeout: 120_000 }, async (seed) => {
    const chance = seeded(seed);
    commit(0);
    db.pragma('wal_checkpoint(TRUNCATE)');
    const disk = new Disk(chance);
    const image = join(folder, 'image.db');
    let kept = 0;
    let cuts = 0;
    disk.moment = () => {
      disk.cut(image);
      const { n, whole } = opened(image);
      expect(whole).toBe('ok');
      expect(n).toBeGreaterThanOrEqual(kept);
      cuts++;
    };
    const checkpoints = new Checkpoints({ db, file, failed: (error) => expect.fail(String(error)), waits: disk });
    for (let n = 1; n < 60; ) {
      for (let more = chance() * 4; more > 0; more--) {
        commit(n++);
        disk.moment();
      }
      const last = n - 1;
      const running = checkpoints.run();
      while (checkpoints.busy !== undefined && chance() < 0.8) {
        await turn();
        if (chance() > 0.3) continue;
        checkpoints.settle();
        commit(n++);
        disk.moment();
      }
      expect(await running).toBe(true);
      kept = last;
      disk.moment();
    }
    expect(cuts).toBeGreaterThan(200);
    expect(disk.waitedOn).toBeGreaterThan(0);
  });

  it('is not needed for a short log, and leaves none of a long one', async () => {
    const paths: string[] = [];
    const waits: Waits = { off: async (_, path) => void paths.push(path), on: () => expect.fail('on the event loop') };
    const checkpoints = new Checkpoints({ db, file, failed: (error) => expect.fail(String(error)), waits });
    commit(1);
    checkpoints.wrote(ROWS, 1000);
    expect(checkpoints.busy).toBeUndefined();
    for (let n = 0; statSync(`${file}-wal`).size < CHECKPOINT_BYTES; n++) commit(n);
    checkpoints.wrote(ROWS, CHECKPOINT_BYTES);
    await checkpoints.busy;
    expect(paths).toEqual([folder, `${file}-wal`, file, `${file}-wal`]);
    expect(statSync(`${file}-wal`).size).toBe(0);
    await checkpoints.close(false);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it('that the disk refuses keeps the log, and is done by the next write or the next checkpoint', async () => {
    for (const refused of [`${file}-wal`, file]) {
      const failures: unknown[] = [];
      let isBroken = true;
      const refuse = (path: string) => {
        if (isBroken && path === refused)
          throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });
      };
      const waits: Waits = { off: async (_, path) => refuse(path), on: (_, path) => refuse(path) };
      const checkpoints = new Checkpoints({ db, file, failed: (error) => failures.push(error), waits });
      commit(5);
      expect(await checkpoints.run()).toBe(false);
      expect(failures).toHaveLength(1);
      expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
      if (refused === file) expect(() => checkpoints.settle()).toThrow('EIO');
      isBroken = false;
      expect(await checkpoints.run()).toBe(true);
      expect(statSync(`${file}-wal`).size).toBe(0);
    }
  });
});
