import { setMaxListeners } from 'node:events';

/** Tells Node that many listeners on this signal are meant: it warns of a leak from the eleventh on. */
export function shareSignal(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal);
}
