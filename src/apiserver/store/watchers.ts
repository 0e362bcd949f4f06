/**
 * Everyone who watches the store. Live events come straight from the commit; a watcher that starts behind first reads
 * the log in slices, on its own turns of the event loop, and joins the living in the same turn that reads the last row:
 * no gap. Each remembers the last version it saw: no repeat.
 */
import type { Log } from './log.ts';
import type { ChangeEvent, EndWatch, WatchRequest } from './store.ts';

const SLICE_ROWS = 500;
const SLICE_BYTES = 1 << 20;
/** Of one turn; a slice more may follow. */
const TURN_MS = 8;

type Deliver = (event: ChangeEvent) => void;
type Ended = (why?: unknown) => void;

class Watcher {
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly deliver: Deliver;
  readonly onEnd: Ended | undefined;
  /** Last version delivered or passed over. */
  seen: number;
  ended = false;

  constructor(request: WatchRequest, deliver: Deliver, onEnd: Ended | undefined) {
    this.resource = request.resource;
    this.namespace = request.namespace || undefined;
    this.name = request.name;
    this.seen = request.afterRv;
    this.deliver = deliver;
    this.onEnd = onEnd;
  }

  /** `resource` and `namespace` are given by the group for live events, but not in history. */
  offer(event: ChangeEvent): void {
    if (this.ended || event.rv <= this.seen) return;
    this.seen = event.rv;
    const key = event.current.key;
    if (this.namespace !== undefined && this.namespace !== key.namespace) return;
    if (this.name !== undefined && this.name !== key.name) return;
    try {
      this.deliver(event);
    } catch (error) {
      // One that breaks the contract is cut off; the commit and the other watchers go on.
      this.end(error);
    }
  }

  /** By the store, not by its owner. */
  end(why?: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.onEnd?.(why);
  }
}

export class Watchers {
  readonly #log: Log;
  readonly #rv: () => number;
  /** By resource, then namespace; '' is "any" at both levels. */
  readonly #live = new Map<string, Map<string, Set<Watcher>>>();
  readonly #behind = new Set<Watcher>();
  readonly #failure: (error: unknown) => unknown;
  #caughtUp: (() => void)[] = [];

  constructor(log: Log, rv: () => number, failure: (error: unknown) => unknown) {
    this.#log = log;
    this.#rv = rv;
    this.#failure = failure;
  }

  add(request: WatchRequest, deliver: Deliver, onEnd?: Ended): EndWatch {
    const watcher = new Watcher(request, deliver, onEnd);
    if (watcher.seen >= this.#rv()) {
      this.#join(watcher);
    } else {
      this.#behind.add(watcher);
      setImmediate(() => this.#replay(watcher));
    }
    const end = () => this.#end(watcher);
    const reached = () => (this.#behind.has(watcher) ? watcher.seen : this.#rv());
    return Object.defineProperty(end, 'reached', { get: reached }) as EndWatch;
  }

  publish(events: ChangeEvent[]): void {
    if (this.#live.size === 0) return;
    for (const event of events) {
      const { resource, namespace } = event.current.key;
      for (const groups of [this.#live.get(resource), this.#live.get('')]) {
        if (!groups) continue;
        offerAll(groups.get(''), event);
        if (namespace) offerAll(groups.get(namespace), event);
      }
    }
  }

  /** The oldest version a watcher still has to read from history; compaction stays behind it. */
  get oldestNeeded(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const watcher of this.#behind) oldest = Math.min(oldest, watcher.seen);
    return oldest;
  }

  /** Resolves after a watcher got on with its history. */
  progress(): Promise<void> {
    if (this.#behind.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#caughtUp.push(resolve));
  }

  endAll(): void {
    const all = [...this.#behind];
    for (const groups of this.#live.values()) for (const group of groups.values()) all.push(...group);
    this.#behind.clear();
    this.#live.clear();
    for (const watcher of all) watcher.end();
    this.#moved();
  }

  #replay(watcher: Watcher): void {
    try {
      const until = performance.now() + TURN_MS;
      while (!watcher.ended && watcher.seen < this.#rv()) {
        this.#slice(watcher);
        if (performance.now() > until) break;
      }
    } catch (error) {
      watcher.end(this.#failure(error));
    }
    if (!watcher.ended && watcher.seen < this.#rv()) {
      setImmediate(() => this.#replay(watcher));
    } else {
      this.#behind.delete(watcher);
      if (!watcher.ended) this.#join(watcher);
    }
    this.#moved();
  }

  #slice(watcher: Watcher): void {
    const upTo = Math.min(watcher.seen + SLICE_ROWS, this.#rv());
    const { events, reached } = this.#log.changes(watcher.seen, upTo, watcher.resource, SLICE_BYTES);
    for (const event of events) watcher.offer(event);
    watcher.seen = Math.max(watcher.seen, reached);
  }

  #join(watcher: Watcher): void {
    const groups = getOrMake(this.#live, watcher.resource ?? '', () => new Map<string, Set<Watcher>>());
    getOrMake(groups, watcher.namespace ?? '', () => new Set<Watcher>()).add(watcher);
  }

  #end(watcher: Watcher): void {
    watcher.ended = true;
    this.#behind.delete(watcher);
    const groups = this.#live.get(watcher.resource ?? '');
    const group = groups?.get(watcher.namespace ?? '');
    if (!groups || !group?.delete(watcher)) return;
    if (group.size === 0) groups.delete(watcher.namespace ?? '');
    if (groups.size === 0) this.#live.delete(watcher.resource ?? '');
  }

  #moved(): void {
    for (const resolve of this.#caughtUp.splice(0)) resolve();
  }
}

function offerAll(group: Set<Watcher> | undefined, event: ChangeEvent): void {
  for (const watcher of group ?? []) {
    watcher.offer(event);
    // Its own `deliver` threw.
    if (watcher.ended) group?.delete(watcher);
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
