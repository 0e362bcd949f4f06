/**
 * Keys to work on: each at most once in the queue, never worked on twice at a time, tried again with growing pauses
 * when the work fails. Work starts on a later turn of the event loop, so watchers can add keys from within a commit.
 */
import type { Clock } from '../../clock.ts';
import { turn } from './loop.ts';

const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 60_000;
/** The event loop is given back after this long. */
const SLICE_MS = 10;

export interface WorkQueueOptions {
  clock: Clock;
  work(key: string): Promise<void> | void;
  /** Told once per failure; the key is tried again by itself. */
  onError(key: string, error: unknown): void;
  /** How many keys at a time; writes that are under way together share a commit. Default 1. */
  concurrency?: number;
}

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();
  #workers = 0;
  #stopped = false;
  #sliceEnd = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#cancelTimer(key);
    this.#waiting.add(key);
    // A key that is being worked on waits for its worker, which comes back for it.
    if (this.#workers < (this.#options.concurrency ?? 1) && !this.#running.has(key)) {
      this.#workers += 1;
      void this.#work();
    }
  }

  /** Adds the key later, unless it is due anyway. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped || this.#waiting.has(key) || this.#timers.has(key)) return;
    this.#timers.set(
      key,
      this.#options.clock.after(ms, () => {
        this.#timers.delete(key);
        this.add(key);
      }),
    );
  }

  /** Nothing to do now; retries may still be due later. */
  get idle(): boolean {
    return this.#workers === 0;
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    for (const key of [...this.#timers.keys()]) this.#cancelTimer(key);
  }

  async #work(): Promise<void> {
    await turn();
    for (let key = this.#next(); key !== undefined; key = this.#next()) {
      await this.#workOn(key);
      if (performance.now() > this.#sliceEnd) {
        await turn();
        this.#sliceEnd = performance.now() + SLICE_MS;
      }
    }
    this.#workers -= 1;
  }

  #next(): string | undefined {
    for (const key of this.#waiting) {
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      return key;
    }
    return undefined;
  }

  async #workOn(key: string): Promise<void> {
    this.#running.add(key);
    try {
      await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      if (this.#stopped) return;
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS));
      this.#options.onError(key, error);
    } finally {
      this.#running.delete(key);
    }
  }

  #cancelTimer(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }
}
