/**
 * List, then watch, for ever: the objects of one resource and selection as a consistent stream. Whatever happens to
 * the connection or the server, a consumer sees each object added once, updated in order and deleted once; what was
 * missed is found by comparing a new list with what is known. Never gives up until its signal aborts.
 *
 * Lossless after a break: the watch resumes after the last event that was handled. Lists again after 410 Expired,
 * a line that is no event, a resource version the server refuses, and one that runs backwards (a restored backup).
 */
import type { KubeObject } from '../api/object.ts';
import { type Clock, type Random, sleep, systemClock, systemRandom } from '../clock.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { type BackoffOptions, backoffDelay } from './backoff.ts';
import { ConnectionError, KubeError } from './kube-error.ts';
import { listAll } from './list-all.ts';
import { keyOf, keyText, type ObjectStore, type ResourceRef, type Selection, type WatchEvent } from './store.ts';

export type ListWatchEvent<T extends KubeObject = KubeObject> =
  /** `initial`: it was there when the first list was made. */
  | { type: 'added'; object: T; initial: boolean }
  | { type: 'updated'; object: T; old: T }
  /** `object` is the last state the server told, `old` what was known. */
  | { type: 'deleted'; object: T; old: T }
  /** Everything that was there at the first list has been added. */
  | { type: 'synced' }
  /** A later list has been compared with what was known; its differences came before this. */
  | { type: 'relisted'; reason: string };

export interface ListWatchOptions<T extends KubeObject = KubeObject> {
  store: ObjectStore;
  resource: ResourceRef;
  selection?: Selection;
  /** Must not throw. */
  onEvent: (event: ListWatchEvent<T>) => void;
  /** Every failure, handled already; for metrics and for telling why nothing syncs. */
  onError?: (error: unknown) => void;
  /** Applied to every object before it is kept, e.g. to drop what nobody reads. */
  transform?: (object: T) => T;
  clock?: Clock;
  random?: Random;
  log?: Logger;
  pageSize?: number;
  backoff?: BackoffOptions;
  /** A watch that brings nothing for so long, not even a bookmark, may be dead: it is made anew where it was. */
  silenceMs?: number;
}

// client-go's reflector: 800 ms doubling to 30 s, watches of 5 to 10 minutes.
const BACKOFF: BackoffOptions = { baseMs: 800, maxMs: 30_000 };
const WATCH_SECONDS = 300;
/** kube-apiserver sends a bookmark about every minute while there is something to tell. */
const SILENCE = 150_000;
/** A watch that lasted so long, or brought an event, was a working one. */
const WORKING_WATCH = 1_000;
/** After so many failures in a row without a working watch, nothing about the old resource version is trusted. */
const STUBBORN = 5;

export class ListWatch<T extends KubeObject = KubeObject> {
  readonly #options: ListWatchOptions<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #known = new Map<string, T>();
  #resourceVersion: string | undefined;
  #synced = false;
  #failures = 0;

  constructor(options: ListWatchOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = (options.log ?? silentLogger).child({ resource: options.resource.plural });
  }

  /** Everything there is, by `namespace/name`, as of the last event. */
  get known(): ReadonlyMap<string, T> {
    return this.#known;
  }

  /** Runs until `signal` aborts; resolves then. */
  async run(signal: AbortSignal): Promise<void> {
    let relistReason = 'first list';
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) await this.#list(relistReason, signal);
        // A handler may have stopped us: an aborted signal tells nobody any more.
        if (!signal.aborted) await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        // Mostly a resource where nothing happens: kube-apiserver sends bookmarks only when the version moves.
        if (error instanceof SilenceError) continue;
        this.#options.onError?.(error);
        const why = reasonToRelist(error) ?? (this.#failures >= STUBBORN ? 'the watch keeps failing' : undefined);
        if (why) {
          relistReason = why;
          this.#resourceVersion = undefined;
        }
        await this.#pause(error, signal);
      }
    }
  }

  async #list(reason: string, signal: AbortSignal): Promise<void> {
    const { store, resource, selection, pageSize, transform } = this.#options;
    const list = await listAll<T>(store, resource, { ...selection, limit: pageSize, signal });
    const gone = new Map(this.#known);
    const initial = !this.#synced;
    for (const item of list.items) {
      const key = keyText(keyOf(item));
      const old = gone.get(key);
      gone.delete(key);
      // Deleted and made again while nobody watched.
      if (old && old.metadata.uid !== item.metadata.uid) this.#forget(key, old);
      this.#keep(key, transform ? transform(item) : item, initial);
    }
    for (const [key, old] of gone) this.#forget(key, old);
    this.#resourceVersion = list.metadata.resourceVersion ?? '';
    this.#synced = true;
    if (initial) this.#options.onEvent({ type: 'synced' });
    else this.#options.onEvent({ type: 'relisted', reason });
    this.#log.debug('listed', { reason, items: list.items.length, resourceVersion: this.#resourceVersion });
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { store, resource, selection, silenceMs = SILENCE } = this.#options;
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const startedAt = this.#clock.now();
    let events = 0;
    let lastSeen = startedAt;
    let cancelTimer = () => {};
    // One timer that looks back, instead of one for every event.
    const guard = (after: number) => {
      cancelTimer = this.#clock.after(after, () => {
        const quiet = this.#clock.now() - lastSeen;
        if (quiet >= silenceMs) stop.abort(new SilenceError('The watch was silent'));
        else guard(silenceMs - quiet);
      });
    };
    guard(silenceMs);
    try {
      const stream = store.watch<T>(resource, {
        ...selection,
        resourceVersion: this.#resourceVersion,
        timeoutSeconds: Math.round(WATCH_SECONDS * (1 + this.#random.float())),
        signal: stop.signal,
      });
      for await (const event of stream) {
        if (signal.aborted) return;
        lastSeen = this.#clock.now();
        events++;
        this.#failures = 0;
        this.#handle(event);
      }
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    }
    if (events > 0 || this.#clock.now() - startedAt >= WORKING_WATCH) this.#failures = 0;
    else throw new ConnectionError('The watch ended at once');
  }

  #handle(event: WatchEvent<T>): void {
    const version = event.object.metadata.resourceVersion;
    if (isOlder(version, this.#resourceVersion)) throw new BackwardsError(version, this.#resourceVersion);
    if (event.type !== 'BOOKMARK') {
      const { transform } = this.#options;
      const key = keyText(keyOf(event.object));
      const object = transform ? transform(event.object) : event.object;
      if (event.type === 'DELETED') this.#forget(key, object);
      else this.#keep(key, object, false);
    }
    if (version) this.#resourceVersion = version;
  }

  #keep(key: string, object: T, initial: boolean): void {
    const old = this.#known.get(key);
    if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#known.set(key, object);
    this.#options.onEvent(old ? { type: 'updated', object, old } : { type: 'added', object, initial });
  }

  #forget(key: string, object: T): void {
    const old = this.#known.get(key);
    if (!old) return;
    this.#known.delete(key);
    this.#options.onEvent({ type: 'deleted', object, old });
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    this.#failures++;
    const backoff = backoffDelay(this.#failures, this.#options.backoff ?? BACKOFF, this.#random);
    const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
    // The first failure after a working watch is mostly a server or a proxy that let go: come back at once.
    const wait = this.#failures === 1 && asked === 0 && this.#synced ? backoff / 10 : Math.max(backoff, asked);
    this.#log.debug('list-watch failed', { error, failures: this.#failures, retryInMs: Math.round(wait) });
    await sleep(this.#clock, wait, signal).catch(() => {});
  }
}

class SilenceError extends Error {}

class BackwardsError extends Error {
  constructor(version: string | undefined, last: string | undefined) {
    super(`resource version ${version} came after ${last}`);
  }
}

function reasonToRelist(error: unknown): string | undefined {
  if (error instanceof ConnectionError) return undefined;
  // A line that is no event, a version that runs backwards, or something nobody thought of.
  if (!(error instanceof KubeError)) return String(error);
  // 400, 404, 410, 422, 504 Timeout (a version from the future): this resource version cannot be watched. Not so 401,
  // 403, 429 and 5xx: these are about now.
  return [400, 404, 410, 422, 504].includes(error.code) ? `${error.code} ${error.reason}` : undefined;
}

/** Resource versions are decimal and grow (guaranteed since Kubernetes 1.35); anything else is never "older". */
function isOlder(version: string | undefined, than: string | undefined): boolean {
  if (!version || !than || version === than) return false;
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
