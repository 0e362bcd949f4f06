/**
 * Keys that need work. Promises: a key is in the queue at most once and with at most one worker; a key added while a
 * worker has it is handed out again afterwards, so no change goes unseen; an immediate add overtakes a delayed one.
 * Failed keys come back after a wait of their own that doubles. Order is fair, see `fair-order.ts`.
 */
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import { type BackoffOptions, backoffDelay } from './backoff.ts';
import { FairOrder, type WaitingKey } from './fair-order.ts';
import { parseKey } from './store.ts';

export interface WorkQueueOptions {
  /** For metrics. */
  name: string;
  clock?: Clock;
  random?: Random;
  metrics?: Metrics;
  backoff?: BackoffOptions;
  /** Keys of one lane share its turns. Default: the namespace. */
  laneOf?: (key: string) => string;
}

/** 50 ms doubling to 5 minutes: a conflict is over soon, a broken world is not asked all the time. */
const BACKOFF: BackoffOptions = { baseMs: 50, maxMs: 300_000 };

interface Delayed {
  dueAt: number;
  priority: number;
  cancel: () => void;
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: BackoffOptions;
  readonly #order: FairOrder;
  readonly #waiting = new Map<string, WaitingKey>();
  readonly #delayed = new Map<string, Delayed>();
  /** Keys with a worker, and since when. */
  readonly #active = new Map<string, number>();
  /** Keys added while active, with the highest priority asked for. */
  readonly #again = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #metrics: ReturnType<typeof queueMetrics>;
  #takers: ((key: string | undefined) => void)[] = [];
  #idle: (() => void)[] = [];
  #handing = false;
  #state: 'open' | 'draining' | 'closed' = 'open';

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#backoff = options.backoff ?? BACKOFF;
    this.#order = new FairOrder(options.laneOf ?? ((key) => parseKey(key).namespace ?? ''));
    this.#metrics = queueMetrics(options.metrics ?? noMetrics, options.name);
  }

  /** Keys ready for a worker. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Keys with a worker. */
  get active(): number {
    return this.#active.size;
  }

  /** Keys waiting for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Asks for work on `key` now. Higher priorities go first; adding again can only raise it. */
  add(key: string, priority = 0): void {
    if (this.#state !== 'open') return;
    this.#cancelDelayed(key);
    if (this.#active.has(key)) {
      this.#again.set(key, Math.max(priority, this.#again.get(key) ?? Number.NEGATIVE_INFINITY));
      return;
    }
    const known = this.#waiting.get(key);
    if (known && known.priority >= priority) return;
    if (known) known.taken = true;
    this.#metrics.adds();
    const waiting = { key, priority, since: known?.since ?? this.#clock.now(), taken: false };
    this.#waiting.set(key, waiting);
    this.#order.push(waiting);
    this.#metrics.depth(this.#waiting.size);
    this.#handSoon();
  }

  /** Asks for work on `key` after `ms`, or earlier if it was asked for earlier. */
  addAfter(key: string, ms: number, priority = 0): void {
    if (this.#state !== 'open' || this.#waiting.has(key) || this.#again.has(key)) return;
    if (ms <= 0) return this.add(key, priority);
    const dueAt = this.#clock.now() + ms;
    const known = this.#delayed.get(key);
    if (known && known.dueAt <= dueAt) return;
    known?.cancel();
    const cancel = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key, priority);
    });
    this.#delayed.set(key, { dueAt, priority, cancel });
  }

  /** Asks again after the key's own backoff, which grows until `forget`. Returns the wait. */
  addBackoff(key: string, priority = 0): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    this.#metrics.retries();
    const ms = backoffDelay(failures, this.#backoff, this.#random);
    this.addAfter(key, ms, priority);
    return ms;
  }

  /** How often `key` has failed in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key succeeded, or will not be tried again: its backoff starts over. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, for as long as it takes; undefined once the queue is shut down. Call `done` with it afterwards. */
  take(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#hand();
    });
  }

  done(key: string): void {
    const since = this.#active.get(key);
    if (since === undefined) return;
    this.#active.delete(key);
    this.#metrics.work((this.#clock.now() - since) / 1000);
    const again = this.#again.get(key);
    this.#again.delete(key);
    if (again !== undefined && this.#state !== 'closed') this.#readd(key, again);
    this.#settle();
  }

  /**
   * Accepts nothing more and resolves when no worker has a key. What waits is dropped: desired state is in the store,
   * the next start finds it. With `drain`, what is ready is handed out first.
   */
  shutdown(options: { drain?: boolean } = {}): Promise<void> {
    this.#state = options.drain && this.#state !== 'closed' ? 'draining' : 'closed';
    for (const key of [...this.#delayed.keys()]) this.#cancelDelayed(key);
    if (this.#state === 'closed') this.#dropWaiting();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settle();
    });
  }

  #readd(key: string, priority: number): void {
    const state = this.#state;
    this.#state = 'open';
    this.add(key, priority);
    this.#state = state;
  }

  /** Not at once: what is added in one go should collapse and be put in order first. */
  #handSoon(): void {
    if (this.#handing || this.#takers.length === 0) return;
    this.#handing = true;
    queueMicrotask(() => {
      this.#handing = false;
      this.#hand();
    });
  }

  #hand(): void {
    while (this.#takers.length > 0 && this.#waiting.size > 0) {
      const next = this.#order.shift();
      if (!next) return;
      const taker = this.#takers.shift();
      this.#waiting.delete(next.key);
      const now = this.#clock.now();
      this.#active.set(next.key, now);
      this.#metrics.depth(this.#waiting.size);
      this.#metrics.latency((now - next.since) / 1000);
      taker?.(next.key);
    }
    if (this.#state !== 'open') this.#settle();
  }

  #settle(): void {
    if (this.#state === 'open' || this.#waiting.size > 0) return;
    if (this.#active.size === 0) {
      this.#state = 'closed';
      for (const resolve of this.#idle.splice(0)) resolve();
    }
    if (this.#state === 'closed') for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #dropWaiting(): void {
    for (const waiting of this.#waiting.values()) waiting.taken = true;
    this.#waiting.clear();
    this.#again.clear();
    this.#metrics.depth(0);
  }

  #cancelDelayed(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
  }
}

function queueMetrics(metrics: Metrics, name: string) {
  const labels = { name };
  const names = ['name'];
  const adds = metrics.counter('workqueue_adds_total', 'Keys added', names);
  const retries = metrics.counter('workqueue_retries_total', 'Keys added again after a failure', names);
  const depth = metrics.gauge('workqueue_depth', 'Keys ready for a worker', names);
  const latency = metrics.histogram('workqueue_queue_duration_seconds', 'From ready to taken', names);
  const work = metrics.histogram('workqueue_work_duration_seconds', 'From taken to done', names);
  return {
    adds: () => adds.inc(labels),
    retries: () => retries.inc(labels),
    depth: (value: number) => depth.set(value, labels),
    latency: (seconds: number) => latency.observe(seconds, labels),
    work: (seconds: number) => work.observe(seconds, labels),
  };
}
