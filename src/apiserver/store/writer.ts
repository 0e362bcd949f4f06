/**
 * Group commit: functions that arrive during one turn of the event loop run one after the other in one transaction, so
 * that many writers share the cost of one commit. A function that throws takes back only what it did itself; a failure
 * of the disk takes back the whole batch.
 */
import type { Log } from './log.ts';
import type { ChangeEvent, Transaction } from './store.ts';
import { type Account, LogTransaction } from './transaction.ts';

/** Then commit and let others have the loop. */
const BATCH_MS = 10;

interface Job {
  change: (tx: Transaction) => unknown;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

export interface WriterOptions {
  log: Log;
  account?: Account;
  /** Newest committed version. */
  rv: number;
  /** What a transaction has to wait for, if anything. */
  busy?: () => Promise<unknown> | undefined;
  /** Runs before each transaction. */
  beforeBegin?: () => void;
  /** Runs inside the transaction, before the commit, when there were changes. */
  beforeCommit: (rv: number) => void;
  /** Runs after the commit; `rv` is already the new one. */
  afterCommit: (events: ChangeEvent[]) => void;
  /** Wraps failures of SQLite. */
  failure: (error: unknown) => unknown;
}

export class Writer {
  readonly #options: WriterOptions;
  #queue: Job[] = [];
  #scheduled = false;
  #rv: number;
  #idle: (() => void)[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#rv = options.rv;
  }

  get rv(): number {
    return this.#rv;
  }

  write<T>(change: (tx: Transaction) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ change, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing is queued. */
  drained(): Promise<void> {
    if (!this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const busy = this.#options.busy?.();
    if (busy !== undefined) return void busy.finally(() => this.#turn());
    this.#scheduled = false;
    this.#flush();
    if (this.#queue.length > 0) return this.#schedule();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #flush(): void {
    const { log, account, beforeBegin, beforeCommit, afterCommit, failure } = this.#options;
    const waiting = this.#queue;
    this.#queue = [];
    const settle: (() => void)[] = [];
    const events: ChangeEvent[] = [];
    const used = account?.usage.counted;
    let rv = this.#rv;
    let taken = 0;
    try {
      beforeBegin?.();
      log.begin();
      const until = performance.now() + BATCH_MS;
      do {
        const tx = new LogTransaction(log, rv, account);
        settle.push(run(waiting[taken++] as Job, tx));
        if (tx.events.length > 0) rv = tx.rv;
        for (const event of tx.events) events.push(event);
      } while (taken < waiting.length && performance.now() < until);
      if (events.length > 0) beforeCommit(rv);
      log.commit();
    } catch (error) {
      // Nothing of the batch happened, and the counter was never moved. Could not even begin: nor will the rest.
      const failed = taken === 0 ? waiting.length : taken;
      this.#queue = [...waiting.slice(failed), ...this.#queue];
      this.#rollback();
      account?.usage.reset(used);
      const reason = failure(error);
      for (const job of waiting.slice(0, failed)) job.reject(reason);
      return;
    }
    if (taken < waiting.length) this.#queue = [...waiting.slice(taken), ...this.#queue];
    this.#rv = rv;
    // Watchers first: who awaits a write finds its event already delivered.
    if (events.length > 0) afterCommit(events);
    for (const done of settle) done();
  }

  #rollback(): void {
    try {
      this.#options.log.rollback();
    } catch {
      // The failure that led here is the one to report; the next BEGIN fails if this one left something open.
    }
  }
}

/** Runs one function and returns how to settle it after the commit; throws only when the storage failed. */
function run(job: Job, tx: LogTransaction): () => void {
  let value: unknown;
  try {
    value = job.change(tx);
    if (value instanceof Promise) {
      value.catch(() => {});
      throw new Error('a write function must be synchronous');
    }
  } catch (error) {
    if (tx.failure === undefined) tx.undo();
    return finish(tx, () => job.reject(error));
  }
  return finish(tx, () => job.resolve(value));
}

function finish(tx: LogTransaction, settle: () => void): () => void {
  tx.end();
  if (tx.failure !== undefined) throw tx.failure;
  return settle;
}
