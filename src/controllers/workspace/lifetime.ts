/** When a workspace's time is up, when it is idle, and when to look again. All on the clock that is handed in. */
import { rfc3339 } from '../../clock.ts';
import type { Settings } from './settings.ts';

/** Nobody typed and nothing was asked of the cluster for so long: idle. */
export const IDLE_AFTER_MS = 30 * 60_000;

/** Timers do not reach further than some weeks: long lives are looked at once a day. */
const LOOK_AGAIN_MAX_MS = 24 * 3_600_000;

export interface Lifetime {
  expiresAt?: string;
  isExpired: boolean;
  /** The warning before the end is due. */
  isExpiring: boolean;
  isIdle: boolean;
  /** Nothing of the above changes before. */
  lookAgainMs?: number;
}

export function lifetimeOf(
  { ttlMs, idleSuspend }: Settings,
  times: { startedAt?: string; lastActivityAt?: string },
  now: number,
): Lifetime {
  const started = times.startedAt === undefined ? undefined : Date.parse(times.startedAt);
  const active = Math.max(started ?? now, times.lastActivityAt ? Date.parse(times.lastActivityAt) : 0);
  const ends = started !== undefined && ttlMs !== undefined ? started + ttlMs : undefined;
  const warns = ends === undefined ? undefined : ends - warningMs(ttlMs as number);
  const idles = idleSuspend && started !== undefined ? active + IDLE_AFTER_MS : undefined;
  const coming = [ends, warns, idles].filter((at): at is number => at !== undefined && at > now);
  return {
    ...(ends === undefined ? {} : { expiresAt: rfc3339(ends) }),
    isExpired: ends !== undefined && now >= ends,
    isExpiring: warns !== undefined && now >= warns,
    isIdle: idles !== undefined && now >= idles,
    ...(coming.length > 0 ? { lookAgainMs: Math.min(Math.min(...coming) - now, LOOK_AGAIN_MAX_MS) } : {}),
  };
}

/** People are warned ten minutes before, or in the last fifth of a short life. */
function warningMs(ttlMs: number): number {
  return Math.min(10 * 60_000, ttlMs / 5);
}
