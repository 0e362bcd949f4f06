/**
 * Forgetting. A version is garbage once the change that replaced it is at or before the compacted version; a deletion
 * once it is itself. So only the rows between the last compaction and this one are looked at, never the living ones
 * below: the cost follows the number of changes, not the number of objects.
 */
import type { Connection } from './format.ts';
import { readMeta, writeMeta } from './meta.ts';

/** About 4 ms of work. */
const STEP_ROWS = 250;
/** Pages given back to the file system in one step. */
const VACUUM_PAGES = 100;
/** Free pages are reused by the next writes; only a real surplus is worth moving pages for. */
const FREE_PAGES_KEPT = 256;

export class Compaction {
  readonly #db: Connection;
  /** Readers are refused before this version. */
  compactedRv: number;
  /** Garbage is gone up to this version; lags behind while a compaction runs, or after a crash in one. */
  #sweptRv: number;

  constructor(db: Connection) {
    this.#db = db;
    this.compactedRv = Number(readMeta(db, 'compactedRv') ?? 0);
    this.#sweptRv = Number(readMeta(db, 'sweptRv') ?? 0);
  }

  /** No garbage is left. */
  get isDone(): boolean {
    return this.#sweptRv >= this.compactedRv;
  }

  /** Durable before the first row goes: after a crash nobody may read what is half gone. */
  begin(rv: number): void {
    if (rv <= this.compactedRv) return;
    writeMeta(this.#db, 'compactedRv', String(rv));
    this.compactedRv = rv;
  }

  /** One bounded step, not past `limit`; false when there is nothing to do up to there. */
  step(limit: number): boolean {
    const from = this.#sweptRv;
    const to = Math.min(from + STEP_ROWS, this.compactedRv, limit);
    if (to <= from) return false;
    this.#db.transaction(() => {
      this.#db
        .prepare('DELETE FROM log WHERE rv IN (SELECT prev_rv FROM log WHERE rv > ? AND rv <= ? AND prev_rv > 0)')
        .run(from, to);
      this.#db.prepare('DELETE FROM log WHERE rv > ? AND rv <= ? AND value IS NULL').run(from, to);
      this.#db.prepare('DELETE FROM marks WHERE rv <= ?').run(to);
      writeMeta(this.#db, 'sweptRv', String(to));
    })();
    this.#sweptRv = to;
    return true;
  }

  /** One bounded step of giving free pages back; false when there is no surplus. */
  shrink(): boolean {
    const free = this.#db.pragma('freelist_count', { simple: true }) as number;
    if (free <= FREE_PAGES_KEPT) return false;
    // The pragma works while it is stepped; better-sqlite3 steps to the end only in `exec`.
    this.#db.exec(`PRAGMA incremental_vacuum(${Math.min(VACUUM_PAGES, free - FREE_PAGES_KEPT)})`);
    return true;
  }
}
