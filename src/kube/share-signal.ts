import { setMaxListeners } from 'node:events';

/** Tells Node that many listeners on this signal are meant: it warns of a leak from the eleventh on. */
export function shareSignal(signal: AbortSignal | undefined): void {
  // Not 0, which means the same: Node 20 takes it for a signal without a limit of its own, and getMaxListeners throws.
  if (signal) setMaxListeners(Number.POSITIVE_INFINITY, signal);
}
