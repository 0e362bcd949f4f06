/**
 * Time, randomness and ids. Everything that needs one of them is handed an instance, never reaches for a global,
 * so that a whole system can run on a virtual clock from a seed.
 */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after `ms`; the returned function cancels it. Never keeps the process alive by itself. */
  after(ms: number, callback: () => void): () => void;
}

export interface Random {
  bytes(size: number): Buffer;
  uuid(): string;
  /** A float in [0, 1). */
  float(): number;
}

/** The longest delay of one timer of Node's; a longer one would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const part = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(left > part ? () => wait(left - part) : callback, part).unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = {
  bytes: randomBytes,
  uuid: randomUUID,
  float: Math.random,
};

/** Resolves after `ms` on `clock`; rejects with the signal's reason when aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Calls back again and again, `ms` after the last time; the returned function ends it. */
export function every(clock: Clock, ms: number, callback: () => void): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(ms, () => {
      next();
      callback();
    });
  };
  next();
  return () => cancel();
}

/** RFC 3339 with whole seconds and `Z`, the form of `metadata.creationTimestamp`. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
