/**
 * How long history is kept, and the clock that enforces it. Watchers resume within seconds and continue tokens within
 * minutes; clients rely on both living at least five minutes and (conformance) on old tokens expiring within ten.
 */
import type { Clock } from '../../clock.ts';
import type { Connection } from './format.ts';
import type { Room, Store } from './store.ts';

export interface RetentionPolicy {
  /** Anything younger is kept. */
  minAgeMs: number;
  /** Of what is older, this many of the newest revisions are kept too, */
  minRevisions: number;
  /** but nothing older than this. */
  maxAgeMs: number;
  /** How often to look. */
  everyMs: number;
}

export const DEFAULT_RETENTION: RetentionPolicy = {
  minAgeMs: 5 * 60_000,
  minRevisions: 1000,
  maxAgeMs: 8 * 60_000,
  everyMs: 60_000,
};

/** Resolution of the map from time to revisions. */
const MARK_EVERY_MS = 5_000;

/** However much they take: readers page and resume within these. */
const KEPT_REVISIONS = 100;
/** About what objects take in the file besides their JSON: their places in three trees, and pages that are not full. */
const OBJECT_BYTES = 500;
const FILLING = 1.25;

export interface RetentionOptions {
  db: Connection;
  store: Pick<Store, 'rv' | 'compactedRv' | 'compact' | 'usage'>;
  clock: Clock;
  policy: RetentionPolicy;
  /** Bounds the bytes of history; without it only time does. */
  room?: Room;
  /** What direct writes have to wait for. */
  busy: () => Promise<void> | undefined;
}

/** No timer runs while there is no history to forget: an idle store costs nothing. */
export class Retention {
  readonly #db: Connection;
  readonly #store: RetentionOptions['store'];
  readonly #clock: Clock;
  readonly #policy: RetentionPolicy;
  readonly #room: Room | undefined;
  readonly #busy: () => Promise<void> | undefined;
  #markedAt: number;
  #cancel: (() => void) | undefined;
  #stopped = false;
  #isRunning = false;
  /** Bytes written since the size of history was looked at. */
  #written = 0;

  constructor({ db, store, clock, policy, room, busy }: RetentionOptions) {
    this.#db = db;
    this.#store = store;
    this.#clock = clock;
    this.#policy = policy;
    this.#room = room;
    this.#busy = busy;
    this.#markedAt = Number.NEGATIVE_INFINITY;
  }

  /** Notes "at this time, `rv` was the newest"; call inside the transaction that makes it so. */
  mark(rv: number): void {
    const now = this.#clock.now();
    if (now - this.#markedAt < MARK_EVERY_MS) return;
    this.#db.prepare('INSERT OR REPLACE INTO marks(rv, at) VALUES (?, ?)').run(rv, now);
    this.#markedAt = now;
  }

  arm(): void {
    if (this.#cancel || this.#stopped || this.#store.compactedRv >= this.#store.rv) return;
    this.#cancel = this.#clock.after(this.#policy.everyMs, () => {
      this.#cancel = undefined;
      void this.#run();
    });
  }

  /** Looks at the size of history now and then, which may have to go before its time. */
  wrote(bytes: number): void {
    if (this.#stopped) return;
    this.arm();
    this.#written += bytes;
    // While some of it goes, what is left is not known.
    if (this.#room === undefined || this.#isRunning || this.#written < this.#room.historyBytes(this.#store.usage) / 4)
      return;
    this.#written = 0;
    if (this.#excess() > this.#store.compactedRv) void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** The version up to which history may go now. */
  target(): number {
    const now = this.#clock.now();
    const old = this.#newestBefore(now - this.#policy.minAgeMs);
    const ancient = this.#newestBefore(now - this.#policy.maxAgeMs);
    return Math.max(ancient, Math.min(old, this.#store.rv - this.#policy.minRevisions), this.#excess());
  }

  /** The version up to which history has to go, old or not, so that half of what it may take is left. */
  #excess(): number {
    if (this.#room === undefined) return 0;
    const { rv, compactedRv, usage } = this.#store;
    const allowed = this.#room.historyBytes(usage);
    const history = this.#fileBytes() - usage.bytes * FILLING - usage.objects * OBJECT_BYTES;
    if (history <= allowed) return 0;
    const kept = Math.floor((rv - compactedRv) * (allowed / 2 / history));
    return rv - Math.max(kept, KEPT_REVISIONS);
  }

  /** Of the pages in use: free ones wait for the next writes. */
  #fileBytes(): number {
    const pragma = (name: string) => this.#db.pragma(name, { simple: true }) as number;
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      const busy = this.#busy();
      if (busy !== undefined) await busy;
      if (this.#stopped) return;
      this.#markLast();
      const target = this.target();
      if (target > this.#store.compactedRv) await this.#store.compact(target);
    } catch (error) {
      // A full disk, say. History grows until the next try; writers see the same failure and report it.
      process.emitWarning(error instanceof Error ? error : String(error), 'StoreCompactionWarning');
    } finally {
      this.#isRunning = false;
    }
    this.arm();
  }

  /** So that the last revisions before a quiet time grow old too. */
  #markLast(): void {
    const { rv } = this.#db.prepare('SELECT max(rv) AS rv FROM marks').get() as { rv: number | null };
    if ((rv ?? 0) >= this.#store.rv) return;
    this.#markedAt = Number.NEGATIVE_INFINITY;
    this.mark(this.#store.rv);
  }

  #newestBefore(at: number): number {
    const row = this.#db.prepare('SELECT max(rv) AS rv FROM marks WHERE at <= ?').get(at) as { rv: number | null };
    return row.rv ?? 0;
  }
}
