/** Settings and secrets of the store itself, by name. Written at once, outside the queue of object writes. */
import type { Connection } from './format.ts';
import type { Store } from './store.ts';

type StoreMeta = Store['meta'];

/** Keeps callers' names apart from the store's own (`compactedRv`, …). */
const PREFIX = 'user/';

export class Meta implements StoreMeta {
  readonly #db: Connection;
  readonly #failure: (error: unknown) => unknown;
  readonly #beforeWrite: () => void;

  constructor(db: Connection, failure: (error: unknown) => unknown, beforeWrite: () => void) {
    this.#db = db;
    this.#failure = failure;
    this.#beforeWrite = beforeWrite;
  }

  get(name: string): string | undefined {
    try {
      return readMeta(this.#db, PREFIX + name);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  set(name: string, value: string): void {
    try {
      this.#beforeWrite();
      writeMeta(this.#db, PREFIX + name, value);
    } catch (error) {
      throw this.#failure(error);
    }
  }
}

export function readMeta(db: Connection, name: string): string | undefined {
  return (db.prepare('SELECT value FROM meta WHERE name = ?').get(name) as { value: string } | undefined)?.value;
}

export function writeMeta(db: Connection, name: string, value: string): void {
  db.prepare('INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)').run(name, value);
}
