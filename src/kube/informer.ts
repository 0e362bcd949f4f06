/**
 * A cache of one resource and selection that follows the API server, with indexes and handlers. Reads are immediate
 * and may lag behind the server by a moment. Objects are frozen: clone before changing. Handlers run in the order
 * they were added, synchronously, and see each object added, updated and deleted exactly once; one that throws is
 * logged and skipped.
 */
import type { KubeObject } from '../api/object.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { deepFreeze } from './deep-freeze.ts';
import { ListWatch, type ListWatchEvent, type ListWatchOptions } from './list-watch.ts';
import { shareSignal } from './share-signal.ts';
import { keyText, type ObjectKey } from './store.ts';

export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** `initial`: it was there before the informer started or before the handler was added. */
  added?(object: T, initial: boolean): void;
  updated?(object: T, old: T): void;
  deleted?(object: T): void;
}

/** The values an object is found by; none: it is not in the index. */
export type Indexer<T extends KubeObject = KubeObject> = (object: T) => string[];

export type InformerOptions<T extends KubeObject = KubeObject> = Omit<ListWatchOptions<T>, 'onEvent' | 'onError'> & {
  /** Default true. Costs some microseconds for each object. */
  freeze?: boolean;
};

export const byNamespace: Indexer = (object) => [object.metadata.namespace ?? ''];
export const byOwner: Indexer = (object) => (object.metadata.ownerReferences ?? []).map((owner) => owner.uid);

export class Informer<T extends KubeObject = KubeObject> {
  readonly #listWatch: ListWatch<T>;
  readonly #log: Logger;
  readonly #indexers = new Map<string, Indexer<T>>();
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>();
  readonly #handlers = new Set<InformerHandler<T>>();
  #waiting: (() => void)[] = [];
  #hasSynced = false;
  #running: Promise<void> | undefined;
  #lastError: unknown;

  constructor(options: InformerOptions<T>) {
    const { freeze = true, transform, ...rest } = options;
    this.#log = options.log ?? silentLogger;
    this.#listWatch = new ListWatch<T>({
      ...rest,
      transform: (object) => {
        const kept = transform ? transform(object) : object;
        return freeze ? deepFreeze(kept) : kept;
      },
      onEvent: (event) => this.#handle(event),
      onError: (error) => {
        this.#lastError = error;
      },
    });
    this.addIndex('namespace', byNamespace as Indexer<T>);
    this.addIndex('owner', byOwner as Indexer<T>);
  }

  /** The first list has been read and every handler has seen it. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Why it has not synced, or last had to reconnect. */
  get lastError(): unknown {
    return this.#lastError;
  }

  get size(): number {
    return this.#listWatch.known.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#listWatch.known.get(keyText(key));
  }

  /** All objects, or those of one namespace, in no promised order. */
  list(namespace?: string): T[] {
    return namespace === undefined ? [...this.#listWatch.known.values()] : this.byIndex('namespace', namespace);
  }

  byIndex(index: string, value: string): T[] {
    const values = this.#indexes.get(index);
    if (!values) throw new Error(`There is no index "${index}"`);
    return [...(values.get(value)?.values() ?? [])];
  }

  /** May be called at any time; adding a name again replaces it. */
  addIndex(name: string, indexer: Indexer<T>): void {
    this.#indexers.set(name, indexer);
    this.#indexes.set(name, new Map());
    for (const [key, object] of this.#listWatch.known) this.#index(name, key, undefined, object);
  }

  /** A handler that comes late is told of everything that is there first. Returns how to remove it. */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#listWatch.known.values()) this.#call(() => handler.added?.(object, true));
    return () => this.#handlers.delete(handler);
  }

  /** Runs until `signal` aborts. Calling it again waits for the same run. */
  run(signal: AbortSignal): Promise<void> {
    this.#running ??= this.#listWatch.run(signal);
    return this.#running;
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#hasSynced) return;
    shareSignal(signal);
    await new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }

  #handle(event: ListWatchEvent<T>): void {
    switch (event.type) {
      case 'added':
        this.#reindex(undefined, event.object);
        for (const handler of this.#handlers) this.#call(() => handler.added?.(event.object, event.initial));
        break;
      case 'updated':
        this.#reindex(event.old, event.object);
        for (const handler of this.#handlers) this.#call(() => handler.updated?.(event.object, event.old));
        break;
      case 'deleted':
        this.#reindex(event.old, undefined);
        for (const handler of this.#handlers) this.#call(() => handler.deleted?.(event.object));
        break;
      case 'synced': {
        this.#hasSynced = true;
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const resolve of waiting) resolve();
        break;
      }
      case 'relisted':
        this.#log.info('relisted', { reason: event.reason });
    }
  }

  #reindex(old: T | undefined, object: T | undefined): void {
    const { namespace, name = '' } = (object ?? old)?.metadata ?? {};
    const key = keyText({ namespace, name });
    for (const index of this.#indexers.keys()) this.#index(index, key, old, object);
  }

  #index(index: string, key: string, old: T | undefined, object: T | undefined): void {
    const values = this.#indexes.get(index);
    const indexer = this.#indexers.get(index);
    if (!values || !indexer) return;
    for (const value of old ? this.#valuesOf(indexer, old) : []) {
      const bucket = values.get(value);
      if (bucket?.delete(key) && bucket.size === 0) values.delete(value);
    }
    for (const value of object ? this.#valuesOf(indexer, object) : []) {
      let bucket = values.get(value);
      if (!bucket) {
        bucket = new Map();
        values.set(value, bucket);
      }
      if (object) bucket.set(key, object);
    }
  }

  /** An object that an indexer cannot handle is in the cache all the same. */
  #valuesOf(indexer: Indexer<T>, object: T): string[] {
    try {
      return indexer(object);
    } catch (error) {
      this.#log.error('an index function threw', { error, object: object.metadata.name });
      return [];
    }
  }

  #call(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#log.error('an informer handler threw', { error });
    }
  }
}
