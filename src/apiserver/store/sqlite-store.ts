/** The `Store` on SQLite: puts the parts together. The promises are in `store.ts`, the file in `format.ts`. */
import { resolve } from 'node:path';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { Checkpoints } from './checkpoints.ts';
import { Compaction } from './compaction.ts';
import { busy, closed, isFull, snapshotFailure, storeFailure } from './failure.ts';
import { type Connection, clearMark, closeFile, openFile, unclosed } from './format.ts';
import { Log } from './log.ts';
import { Meta } from './meta.ts';
import { openFiles } from './open-files.ts';
import { DEFAULT_RETENTION, Retention, type RetentionPolicy } from './retention.ts';
import { type CloneFile, writeSnapshot } from './snapshot.ts';
import {
  type ChangeEvent,
  CompactedError,
  type EndWatch,
  type Key,
  type ListPage,
  type ListRequest,
  type ResealCursor,
  type Room,
  type Sealer,
  type Store,
  type Stored,
  type Transaction,
  type WatchRequest,
} from './store.ts';
import { type Usage, UsageCount } from './usage.ts';
import { values } from './values.ts';
import { Watchers } from './watchers.ts';
import { Writer } from './writer.ts';

/** About what a step of compaction adds to the log. */
const STEP_CHANGES = 50;

export interface StoreOptions {
  clock: Clock;
  /** Given as a function when it needs the store's own settings (its wrapped key); asked at the first sealed value. */
  sealer?: Sealer | ((meta: Store['meta']) => Sealer);
  /** Which resources are sealed at rest; default Secrets, when there is a sealer. */
  sealed?: (resource: string) => boolean;
  /** `normal` (default): acknowledged writes survive the process. `full`: also a power cut, one fsync per commit. */
  synchronous?: 'normal' | 'full';
  readonly?: boolean;
  /** How much history is kept; `false`: all, until `compact` is called. */
  retention?: RetentionPolicy | false;
  /** Asked before an object is stored. Default: there is room for everything. */
  room?: Room;
  /** Called when the file turns out not to be whole, each time. */
  onBroken?: (error: RookeryError) => void;
}

/** Secrets are small: a turn of so many takes a millisecond or two. */
const RESEALED_PER_TURN = 50;

/** Opens (and makes, when missing) the store in `file`; `:memory:` is one that vanishes. */
export function openStore(file: string, options: StoreOptions): Store {
  const path = file === ':memory:' ? file : resolve(file);
  if (openFiles.has(path)) throw busy(path);
  const db = openFile(path, { synchronous: options.synchronous ?? 'normal', readonly: options.readonly ?? false });
  try {
    const store = new SqliteStore(path, db, options);
    if (path !== ':memory:') openFiles.add(path);
    return store;
  } catch (error) {
    closeFile(path, db);
    throw storeFailure(error, path);
  }
}

class SqliteStore implements Store {
  readonly meta: Meta;
  readonly #file: string;
  readonly #db: Connection;
  readonly #log: Log;
  readonly #sealed: (resource: string) => boolean;
  readonly #writer: Writer;
  readonly #watchers: Watchers;
  readonly #compaction: Compaction;
  /** Of what is read only, and of what is not in a file, there are none. */
  readonly #checkpoints: Checkpoints | undefined;
  readonly #retention: Retention | undefined;
  readonly #usage: UsageCount;
  #compacting: Promise<void> = Promise.resolve();
  /** While one is taken the file stays open. */
  readonly #snapshots = new Set<Promise<void>>();
  readonly #onBroken: StoreOptions['onBroken'];
  /** Something was committed since it was opened. */
  #isWritten = false;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(file: string, db: Connection, options: StoreOptions) {
    const { sealer } = options;
    this.#file = file;
    this.#db = db;
    this.#onBroken = options.onBroken;
    const failed = (error: unknown) => options.room?.failed(isFull(error));
    if (file !== ':memory:' && !options.readonly) {
      this.#checkpoints = new Checkpoints({
        db,
        file,
        failed: (error) => {
          failed(error);
          process.emitWarning(String(storeFailure(error, file)), 'StoreCheckpointWarning');
        },
      });
    }
    const beforeWrite = () => this.#checkpoints?.settle();
    this.meta = new Meta(db, (error) => this.#failure(error), beforeWrite);
    const sealed = options.sealed ?? ((resource: string) => sealer !== undefined && resource === '/secrets');
    this.#sealed = sealed;
    this.#log = new Log(
      db,
      values(() => (typeof sealer === 'function' ? sealer(this.meta) : sealer), sealed),
    );
    if (sealer && !options.readonly) this.#log.sealPlain(sealed);
    this.#compaction = new Compaction(db);
    // The newest row may itself be compacted away (a deletion), the counter never goes back.
    const rv = Math.max(this.#log.newestRv(), this.#compaction.compactedRv);
    this.#usage = new UsageCount(db, () => this);
    this.#watchers = new Watchers(
      this.#log,
      () => this.rv,
      (error) => this.#failure(error),
    );
    if (options.retention !== false && !options.readonly) {
      const policy = options.retention ?? DEFAULT_RETENTION;
      this.#retention = new Retention({
        db,
        store: this,
        clock: options.clock,
        policy,
        room: options.room,
        busy: () => this.#busy(),
      });
    }
    this.#writer = new Writer({
      log: this.#log,
      account: options.room && { room: options.room, usage: this.#usage },
      rv,
      busy: () => this.#checkpoints?.busy,
      beforeBegin: beforeWrite,
      beforeCommit: (newest) => this.#retention?.mark(newest),
      afterCommit: (events) => this.#committed(events),
      failure: (error) => {
        failed(error);
        return this.#failure(error);
      },
    });
    this.#retention?.arm();
  }

  get rv(): number {
    return this.#writer.rv;
  }

  get compactedRv(): number {
    return this.#compaction.compactedRv;
  }

  get usage(): Usage {
    return this.#read(() => this.#usage.now);
  }

  get(key: Key): Stored | undefined {
    return this.#read(() => this.#log.get(key));
  }

  list(request: ListRequest): ListPage {
    const rv = request.atRv ?? this.rv;
    if (rv < this.compactedRv) throw new CompactedError(rv, this.compactedRv);
    const limit = request.limit && request.limit > 0 ? request.limit : undefined;
    const range = {
      resource: request.resource,
      namespace: request.namespace,
      after: request.after ?? { namespace: '', name: '' },
      limit: limit && limit + 1,
    };
    const items = this.#read(() => (rv >= this.rv ? this.#log.page(range) : this.#log.pageAsOf(range, rv)));
    const more = limit !== undefined && items.length > limit;
    if (more) items.pop();
    return { items, rv: Math.min(rv, this.rv), more };
  }

  count(resource: string, namespace?: string): number {
    return this.#read(() => this.#log.count(resource, namespace));
  }

  watch(request: WatchRequest, deliver: (event: ChangeEvent) => void, ended?: (why?: unknown) => void): EndWatch {
    if (this.#closed) throw closed(this.#file);
    if (request.afterRv < this.compactedRv) throw new CompactedError(request.afterRv, this.compactedRv);
    return this.#watchers.add(request, deliver, ended);
  }

  write<T>(change: (tx: Transaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(closed(this.#file));
    return this.#writer.write(change);
  }

  /** One at a time; a second call waits for the first and then does the rest. */
  compact(rv: number): Promise<void> {
    const next = this.#compacting.then(() => this.#compact(Math.min(rv, this.rv)));
    this.#compacting = next.catch(() => {});
    return next;
  }

  resources(): string[] {
    return this.#read(() => this.#log.resources());
  }

  /** One at a time. */
  async snapshot(to: string, clone?: CloneFile): Promise<void> {
    if (this.#closed) throw closed(this.#file);
    const before = [...this.#snapshots];
    const taking = (async () => {
      await Promise.allSettled(before);
      await writeSnapshot({ db: this.#db, file: this.#file, checkpoints: this.#checkpoints }, to, clone);
    })();
    const settled = taking.catch(() => {});
    this.#snapshots.add(settled);
    try {
      await taking;
    } catch (error) {
      throw snapshotFailure(error, to);
    } finally {
      this.#snapshots.delete(settled);
    }
  }

  async reseal(isCurrent: (sealed: Buffer) => boolean, after?: ResealCursor): Promise<ResealCursor | undefined> {
    await this.#busy();
    const next = this.#read(() => this.#log.reseal(this.#sealed, isCurrent, RESEALED_PER_TURN, after));
    this.#checkpoints?.wrote(RESEALED_PER_TURN, 0);
    return next;
  }

  close(options: { discard?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(options.discard ?? false);
    return this.#closing;
  }

  async #compact(rv: number): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#busy();
      if (rv <= this.compactedRv && this.#compaction.isDone) return;
      // What is counted from is the history that goes now.
      if (this.#usage.counted) this.#usage.save();
      this.#compaction.begin(rv);
      let worked = false;
      while (!this.#closed) {
        await this.#busy();
        const limit = this.#watchers.oldestNeeded;
        if (this.#compaction.step(limit) || (worked && this.#compaction.shrink())) worked = true;
        else if (limit < this.compactedRv) await this.#watchers.progress();
        else break;
        this.#checkpoints?.wrote(STEP_CHANGES, 0);
        await turn();
      }
      if (worked && !this.#closed) await this.#checkpoints?.run();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #close(discard: boolean): Promise<void> {
    this.#closed = true;
    this.#retention?.stop();
    await this.#writer.drained();
    this.#watchers.endAll();
    await Promise.all([this.#compacting, ...this.#snapshots]);
    if (this.#usage.counted && !discard && !this.#db.readonly) this.#saveUsage();
    clearMark(this.#file, this.#db);
    if (this.#checkpoints) await this.#checkpoints.close(discard);
    else this.#db.close();
    openFiles.delete(this.#file);
  }

  /** For those who write beside the queue; undefined when they need not wait. */
  #busy(): Promise<void> | undefined {
    const checkpoints = this.#checkpoints;
    if (checkpoints?.busy === undefined) return void checkpoints?.settle();
    return checkpoints.busy.then(() => this.#busy());
  }

  /** A disk that refuses this one refuses more than that: the next process counts what is stored. */
  #saveUsage(): void {
    try {
      this.#checkpoints?.settle();
      this.#usage.save();
    } catch (error) {
      process.emitWarning(String(storeFailure(error, this.#file)), 'StoreUsageWarning');
    }
  }

  #committed(events: ChangeEvent[]): void {
    if (!this.#isWritten) this.#markWritten();
    this.#watchers.publish(events);
    const bytes = bytesOf(events);
    try {
      this.#checkpoints?.wrote(events.length, bytes);
      this.#retention?.wrote(bytes);
    } catch (error) {
      // What was committed is; those who wait for it must hear so.
      process.emitWarning(String(storeFailure(error, this.#file)), 'StoreWarning');
    }
  }

  #markWritten(): void {
    this.#isWritten = true;
    if (this.#file === ':memory:') return;
    try {
      unclosed.mark(this.#file);
    } catch {
      // A disk that is full or read-only: the commit stands, and only the loss of its log would go unnoticed.
    }
  }

  #failure(error: unknown): unknown {
    const failure = storeFailure(error, this.#file);
    if (failure instanceof RookeryError && failure.code === 'store.broken') this.#onBroken?.(failure);
    return failure;
  }

  #read<T>(work: () => T): T {
    if (this.#closed) throw closed(this.#file);
    try {
      return work();
    } catch (error) {
      throw this.#failure(error);
    }
  }
}

function bytesOf(events: readonly ChangeEvent[]): number {
  // A deletion has no value of its own.
  return events.reduce((bytes, { type, current }) => (type === 'DELETED' ? bytes : bytes + current.json.length), 0);
}

/** Lets everything else that waits have the event loop first. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
