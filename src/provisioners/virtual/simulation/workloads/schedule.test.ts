import { expect, it } from 'vitest';
import { parseSchedule } from './schedule.ts';

const next = (schedule: string, after: string, zone?: string) => {
  const at = parseSchedule(schedule, zone).next(Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString().replace('.000', '');
};

it.each([
  ['* * * * *', '2026-05-01T10:00:30Z', '2026-05-01T10:01:00Z'],
  ['*/15 * * * *', '2026-05-01T10:00:00Z', '2026-05-01T10:15:00Z'],
  ['0 3 * * mon-fri', '2026-05-01T04:00:00Z', '2026-05-04T03:00:00Z'],
  ['30 1 29 feb *', '2026-05-01T00:00:00Z', '2028-02-29T01:30:00Z'],
  // Day of month and day of week: either is enough when both are given.
  ['0 0 13 * 5', '2026-05-01T12:00:00Z', '2026-05-08T00:00:00Z'],
  ['@hourly', '2026-05-01T10:59:59Z', '2026-05-01T11:00:00Z'],
  ['@weekly', '2026-05-01T00:00:00Z', '2026-05-03T00:00:00Z'],
  ['@every 90s', '2026-05-01T00:00:00Z', '2026-05-01T00:01:30Z'],
])('%s after %s', (schedule, after, wanted) => {
  expect(next(schedule, after)).toBe(wanted);
});

it('keeps to the clock of its time zone', () => {
  expect(next('0 9 * * *', '2026-01-10T00:00:00Z', 'Europe/Berlin')).toBe('2026-01-10T08:00:00Z');
  expect(next('0 9 * * *', '2026-07-10T00:00:00Z', 'Europe/Berlin')).toBe('2026-07-10T07:00:00Z');
  expect(next('TZ=Asia/Tokyo 0 9 * * *', '2026-07-10T01:00:00Z')).toBe('2026-07-11T00:00:00Z');
});

it('knows when there is no such day', () => {
  expect(next('0 0 31 2 *', '2026-01-01T00:00:00Z')).toBeUndefined();
});
