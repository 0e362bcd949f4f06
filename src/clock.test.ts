import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock.ts';

const DAY_MS = 86_400_000;

describe('the system clock', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('waits longer than one timer of Node can', () => {
    const rang = vi.fn();
    systemClock.after(100 * DAY_MS, rang);
    vi.advanceTimersByTime(100 * DAY_MS - 1);
    expect(rang).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(rang).toHaveBeenCalledOnce();
  });

  it('takes back what is far away, also after the first of its timers', () => {
    const rang = vi.fn();
    const cancel = systemClock.after(100 * DAY_MS, rang);
    vi.advanceTimersByTime(60 * DAY_MS);
    cancel();
    vi.advanceTimersByTime(60 * DAY_MS);
    expect(rang).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('never ends what shall last for ever', () => {
    const rang = vi.fn();
    systemClock.after(Number.POSITIVE_INFINITY, rang);
    vi.advanceTimersByTime(1000 * DAY_MS);
    expect(rang).not.toHaveBeenCalled();
  });
});
