/** Waits that grow: doubling from `baseMs` to `maxMs`, each spread over its upper half so that a crowd does not come back as one. */
import type { Random } from '../clock.ts';

export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
}

/** The wait before try number `failures` + 1; `failures` starts at 1. */
export function backoffDelay(failures: number, options: BackoffOptions, random: Pick<Random, 'float'>): number {
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures - 1, 52));
  return full * (0.5 + random.float() / 2);
}
