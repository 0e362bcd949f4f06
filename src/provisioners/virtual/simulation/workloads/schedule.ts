/** When a cron schedule is due, in its time zone. The server has checked its form already. */
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DESCRIPTORS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

export interface Schedule {
  /** The first time due strictly after the given one; undefined when there is none within five years. */
  next(after: number): number | undefined;
}

export function parseSchedule(text: string, timeZone?: string): Schedule {
  const zoned = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(text);
  const spec = zoned?.[2] ?? text;
  const zone = zoned?.[1] ?? timeZone ?? 'UTC';
  const every = /^@every (.*)$/.exec(spec);
  if (every) {
    const ms = Math.max(1000, Math.floor(durationOf(every[1] as string) / 1000) * 1000);
    return { next: (after) => Math.floor(after / 1000) * 1000 + ms };
  }
  const fields = (DESCRIPTORS[spec] ?? spec).trim().split(/\s+/);
  const [minutes, hours, dates, months, weekdays] = [
    numbers(fields[0] as string, 0, 59),
    numbers(fields[1] as string, 0, 23),
    numbers(fields[2] as string, 1, 31),
    numbers(fields[3] as string, 1, 12, MONTHS),
    numbers(fields[4] as string, 0, 6, DAYS),
  ] as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  const anyDate = /^[*?]/.test(fields[2] as string);
  const anyDay = /^[*?]/.test(fields[4] as string);
  const dayMatches = (day: Date) => {
    if (!months.has(day.getUTCMonth() + 1)) return false;
    const [date, weekday] = [dates.has(day.getUTCDate()), weekdays.has(day.getUTCDay())];
    return anyDate || anyDay ? date && weekday : date || weekday;
  };
  return {
    next(after) {
      // Worked out on the clock of the zone, as if that were UTC, and turned back into real time at the end.
      const from = Math.floor((after + offset(zone, after)) / MINUTE) * MINUTE + MINUTE;
      for (let day = Math.floor(from / DAY) * DAY; day < from + 5 * 366 * DAY; day += DAY) {
        if (!dayMatches(new Date(day))) continue;
        for (const hour of hours) {
          for (const minute of minutes) {
            const local = day + hour * 60 * MINUTE + minute * MINUTE;
            if (local < from) continue;
            const real = local - offset(zone, local - offset(zone, local));
            if (real > after) return real;
          }
        }
      }
      return undefined;
    },
  };
}

function numbers(field: string, low: number, high: number, names?: string[]): Set<number> {
  const value = (text: string) => {
    const named = names?.indexOf(text.toLowerCase()) ?? -1;
    return named >= 0 ? named + low : Number(text);
  };
  const found = new Set<number>();
  for (const part of field.split(',').filter(Boolean)) {
    const [range = '', step] = part.split('/');
    const [from = '', to] = range.split('-');
    const any = from === '*' || from === '?';
    const start = any ? low : value(from);
    const end = any || (to === undefined && step !== undefined) ? high : value(to ?? from);
    for (let n = start; n <= end; n += Number(step ?? 1) || 1) found.add(n);
  }
  return new Set([...found].sort((a, b) => a - b));
}

function offset(zone: string, at: number): number {
  if (zone === 'UTC' || zone === 'Etc/UTC') return 0;
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const get = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const local = Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second'));
  return local - Math.floor(at / 1000) * 1000;
}

function durationOf(text: string): number {
  const units: Record<string, number> = { ms: 1, s: 1000, m: MINUTE, h: 60 * MINUTE };
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    total += Number(number) * (units[unit as string] ?? 0);
  return total;
}
