/**
 * Objects of one cluster (tenant) on one SQLite file. Promises:
 * - resource versions are integers of one counter per store; every change takes one, a no-op takes none;
 * - `write` is serialised: its function sees all earlier writes, and its promise settles only after the transaction
 *   that holds it is committed (writes that arrive together share one transaction: group commit);
 * - watchers see every committed change once, in order of resource version, and none that was not committed;
 * - history reaches back to `compactedRv`; reading or watching before it throws `CompactedError`.
 * It knows keys and JSON, not kinds.
 */
import type { KubeObject } from '../../api/object.ts';
import type { CloneFile } from './snapshot.ts';
import type { Usage } from './usage.ts';

export interface Key {
  /** Storage name of the resource: `<group>/<plural>`, core is `/<plural>`. */
  resource: string;
  /** Empty for cluster-scoped objects. */
  namespace: string;
  name: string;
}

/** One version of one object. `object()` parses once and must be treated as read-only (clone before changing). */
export interface Stored {
  readonly key: Key;
  readonly rv: number;
  /** The object's JSON with apiVersion, kind and metadata.resourceVersion in place. */
  readonly json: string;
  object(): KubeObject;
}

export interface ChangeEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly rv: number;
  /** State after the change; for DELETED the last state, carrying the resource version of the deletion. */
  readonly current: Stored;
  /** State before the change; absent for ADDED. */
  readonly previous?: Stored;
}

/** What a write may do. Reads see earlier writes of the same transaction. */
export interface Transaction {
  get(key: Key): Stored | undefined;
  list(resource: string, namespace?: string): Stored[];
  /**
   * Stores the object under the next resource version (put into metadata.resourceVersion of the given object).
   * Identical content (but for resourceVersion) is not written: the stored version is returned. `differs`: it is known
   * not to be identical, which spares comparing.
   */
  put(key: Key, object: KubeObject, differs?: boolean): Stored;
  /** Removes it; the returned Stored carries the deletion's resource version. */
  delete(key: Key): Stored | undefined;
}

export interface ListRequest {
  resource: string;
  /** Absent or empty: all namespaces (and all there is of cluster-scoped objects). */
  namespace?: string;
  /** Only keys after this one, in (namespace, name) order. */
  after?: { namespace: string; name: string };
  limit?: number;
  /** State as of this version; default now. */
  atRv?: number;
}

export interface ListPage {
  items: Stored[];
  /** The version the page shows. */
  rv: number;
  /** There are more keys after the last item. */
  more: boolean;
}

export interface WatchRequest {
  /** Absent: every resource. */
  resource?: string;
  /** Absent or empty: all. */
  namespace?: string;
  name?: string;
  /** Changes strictly after this version are delivered. */
  afterRv: number;
}

/** Ends a watch. `reached` is the version up to which everything has been delivered: what a bookmark may say. */
export interface EndWatch {
  (): void;
  readonly reached: number;
}

/** Thrown for versions whose history is gone; becomes 410 Expired. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
  readonly requested: number;
  readonly compactedRv: number;
  constructor(requested: number, compactedRv: number) {
    super(`too old resource version: ${requested} (${compactedRv})`);
    this.requested = requested;
    this.compactedRv = compactedRv;
  }
}

/** Decides whether a store may grow. */
export interface Room {
  /** Throws when an object may not be stored. Not asked for one that is being deleted: that always may. */
  admit(key: Key, growth: Usage, used: Usage): void;
  /** A write failed; `isFull`: for want of room, which SQLite does not always know. */
  failed(isFull: boolean): void;
  /** How many bytes of history are kept, however young it is, by a store that uses this much. */
  historyBytes(used: Usage): number;
}

export interface Store {
  /** Newest committed version. */
  readonly rv: number;
  readonly compactedRv: number;
  /** What is stored now, without history. */
  readonly usage: Usage;
  get(key: Key): Stored | undefined;
  /** One page, read synchronously; callers page (≤ 500) and yield to the event loop in between. */
  list(request: ListRequest): ListPage;
  /** Objects of a resource (and namespace); cheap. */
  count(resource: string, namespace?: string): number;
  /**
   * Calls `deliver` for each change after `afterRv`: first what history holds, then live, no gap, no repeat.
   * `deliver` is never called before `watch` returns and must not throw or block. Throws CompactedError. Returns the
   * function that ends the watch. `ended` is called when the store ends it: because it closes (no reason given), or with
   * the failure that keeps it from reading history.
   */
  watch(request: WatchRequest, deliver: (event: ChangeEvent) => void, ended?: (why?: unknown) => void): EndWatch;
  /**
   * Runs `change` in a later turn of the event loop. It must be synchronous and read through `tx` only. When it throws,
   * the promise rejects with that and nothing it did remains; when the disk fails, with a retryable RookeryError.
   */
  write<T>(change: (tx: Transaction) => T): Promise<T>;
  /**
   * Forgets history before `rv` (the state at `rv` stays readable), in bounded steps that yield to the event loop. The
   * store does this by itself as its retention says.
   */
  compact(rv: number): Promise<void>;
  /** Names of all resources that have, or had, objects. */
  resources(): string[];
  /** Writes all there is now to another file, which can be opened as a store; writers go on meanwhile. */
  snapshot(to: string, clone?: CloneFile): Promise<void>;
  /**
   * Settings and secrets of the store itself (keys, ids), not objects: survive with the file. `set` is durable when it
   * returns; inside a write function, when that is.
   */
  meta: { get(name: string): string | undefined; set(name: string, value: string): void };
  /**
   * Seals the next rows again that are not `isCurrent`, in one short transaction; nothing else about them changes.
   * Returns where to go on, undefined after the last row. Rows that are written meanwhile are sealed with the newest key.
   */
  reseal(isCurrent: (sealed: Buffer) => boolean, after?: ResealCursor): Promise<ResealCursor | undefined>;
  /** Finishes what is queued; watches just end. */
  /** `discard`: the file is about to be removed, so nothing has to reach the disk. */
  close(options?: { discard?: boolean }): Promise<void>;
}

/** The row that was sealed again last. */
export interface ResealCursor {
  resource: number;
  namespace: string;
  name: string;
  rv: number;
}

/** Seals values of some resources at rest; `vault` implements it. */
export interface Sealer {
  seal(plain: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
}

/** One whose keys can be exchanged while the store is in use. */
export interface RenewableSealer extends Sealer {
  /** Takes a new key for what is sealed from now on, if there is a newer master key. Never inside a transaction. */
  renew(): void;
  isCurrent(sealed: Buffer): boolean;
  /** Forgets all keys but the newest: everything has been sealed again with that. */
  forgetOld(): void;
}
