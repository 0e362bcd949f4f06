/**
 * How long history is kept, and the clock that enforces it. Watchers resume within seconds and continue tokens within
 * minutes; clients rely on both living at least five minutes and (conformance) on old tokens expiring within ten.
 */
import type { Clock } from '../../clock.ts';
import type { Connection } from './format.ts';
import type { Store } from './store.ts';

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

/** No timer runs while there is no history to forget: an idle store costs nothing. */
export class Retention {
  readonly #db: Connection;
  readonly #store: Pick<Store, 'rv' | 'compactedRv' | 'compact'>;
  readonly #clock: Clock;
  readonly #policy: RetentionPolicy;
  readonly #busy: () => Promise<void> | undefined;
  #markedAt: number;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(
    db: Connection,
    store: Pick<Store, 'rv' | 'compactedRv' | 'compact'>,
    clock: Clock,
    policy: RetentionPolicy,
    /** What direct writes have to wait for. */
    busy: () => Promise<void> | undefined,
  ) {
    this.#db = db;
    this.#store = store;
    this.#clock = clock;
    this.#policy = policy;
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

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** The version up to which history may go now. */
  target(): number {
    const now = this.#clock.now();
    const old = this.#newestBefore(now - this.#policy.minAgeMs);
    const ancient = this.#newestBefore(now - this.#policy.maxAgeMs);
    return Math.max(ancient, Math.min(old, this.#store.rv - this.#policy.minRevisions));
  }

  async #run(): Promise<void> {
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
