/**
 * The contract of a reconciler. It is told a key, never an event: it reads what is, compares with what should be, and
 * does the next step. It may be called at any time, again and again, after a crash between any two of its writes.
 *
 * It ends in one of four ways:
 * - it returns nothing: done until something it watches changes;
 * - it returns `requeueAfter(ms)`: look again then, or earlier if something changes;
 * - it throws: tried again after the key's own backoff;
 * - it throws a terminal error (`TerminalError`, or a `RookeryError` that is not retryable): no retry until a change.
 */
import type { Clock, Random } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import type { Logger } from '../telemetry/log.ts';
import type { ObjectKey } from './store.ts';

export interface ReconcileContext {
  /** Names this one call in every log line. */
  id: string;
  log: Logger;
  /** Aborts when the controller stops or the reconcile takes too long. */
  signal: AbortSignal;
  clock: Clock;
  random: Random;
  /** How often this key has failed in a row before this call. */
  failures: number;
}

export interface Requeue {
  requeueAfter: number;
}

export type Result = Requeue | undefined;

// biome-ignore lint/suspicious/noConfusingVoidType: a reconciler that is done need not say so
export type Reconciler = (key: ObjectKey, context: ReconcileContext) => Promise<Result | void>;

export function requeueAfter(ms: number): Requeue {
  return { requeueAfter: ms };
}

/** Trying again cannot help; only a change of what is watched can. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

export function isTerminal(error: unknown): boolean {
  if (error instanceof TerminalError) return true;
  return error instanceof RookeryError && !error.retry;
}
