import { describe, expect, it } from 'vitest';
import { IDLE_AFTER_MS, lifetimeOf } from './lifetime.ts';
import type { Settings } from './settings.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-01-01T12:00:00Z');
const at = (ms: number) => new Date(ms).toISOString();
const settings = (more: Partial<Settings>): Settings => ({
  mode: 'ephemeral',
  idleSuspend: false,
  cluster: { mode: 'none', provisioner: 'auto' },
  limits: {},
  egress: [],
  webTerminal: true,
  ...more,
});

describe('how long a workspace lives', () => {
  it('begins when it first ran', () => {
    expect(lifetimeOf(settings({ ttlMs: HOUR }), {}, NOW)).toEqual({
      isExpired: false,
      isExpiring: false,
      isIdle: false,
    });
    const { isExpired, lookAgainMs } = lifetimeOf(settings({ ttlMs: HOUR }), { startedAt: at(NOW) }, NOW);
    expect({ isExpired, lookAgainMs }).toEqual({ isExpired: false, lookAgainMs: HOUR - 10 * 60_000 });
  });

  it('warns in the last ten minutes, or the last fifth of a short life', () => {
    const later = (ttlMs: number, ms: number) => lifetimeOf(settings({ ttlMs }), { startedAt: at(NOW) }, NOW + ms);
    expect(later(HOUR, 49 * 60_000).isExpiring).toBe(false);
    expect(later(HOUR, 50 * 60_000).isExpiring).toBe(true);
    expect(later(10_000, 7999).isExpiring).toBe(false);
    expect(later(10_000, 8000)).toMatchObject({ isExpiring: true, isExpired: false });
    expect(later(10_000, 10_000)).toMatchObject({ isExpired: true });
  });

  it('is idle from the last use, or from its start where nobody came', () => {
    const idle = settings({ idleSuspend: true });
    const later = (lastActivityAt: string | undefined, ms: number) =>
      lifetimeOf(idle, { startedAt: at(NOW), lastActivityAt }, NOW + ms).isIdle;
    expect(later(undefined, IDLE_AFTER_MS - 1)).toBe(false);
    expect(later(undefined, IDLE_AFTER_MS)).toBe(true);
    expect(later(at(NOW + 60_000), IDLE_AFTER_MS)).toBe(false);
  });

  it('is looked at again before timers overflow', () => {
    const long = lifetimeOf(settings({ ttlMs: 365 * 24 * HOUR }), { startedAt: at(NOW) }, NOW);
    expect(long.lookAgainMs).toBe(24 * HOUR);
  });
});
