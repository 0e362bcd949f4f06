/** Times and durations as texts, in Go's forms. */
import { MAX_TIME, MIN_TIME } from './numbers.ts';

const SECOND = 1_000_000_000n;
const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};
const FORM = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Nanoseconds of `1h30m`, or undefined. */
export function parseGoDuration(text: string): bigint | undefined {
  if (!FORM.test(text)) return undefined;
  let nanos = 0n;
  for (const [, number = '', unit = ''] of text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const size = UNITS[unit] as bigint;
    const [whole = '', fraction = ''] = number.split('.');
    nanos += BigInt(whole || '0') * size;
    if (fraction !== '') nanos += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  if (text.startsWith('-')) nanos = -nanos;
  return nanos > 2n ** 63n - 1n || nanos < -(2n ** 63n) ? undefined : nanos;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** Nanoseconds since 1970, undefined where the text is no time, null where it is one out of range. */
export function parseTime(text: string): bigint | null | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone] = match as unknown as string[];
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (parts[1] < 1 || parts[1] > 12 || parts[2] < 1 || parts[3] > 23 || parts[4] > 59 || parts[5] > 59)
    return undefined;
  const date = new Date(0);
  date.setUTCFullYear(parts[0], parts[1] - 1, parts[2]);
  if (date.getUTCDate() !== parts[2]) return undefined;
  date.setUTCHours(parts[3], parts[4], parts[5]);
  let seconds = BigInt(date.getTime() / 1000);
  if (zone !== 'Z') {
    const [hours, minutes] = [Number((zone as string).slice(1, 3)), Number((zone as string).slice(4))];
    if (hours > 24 || minutes > 60) return undefined;
    const offset = BigInt((hours * 60 + minutes) * 60);
    seconds -= zone?.startsWith('-') ? -offset : offset;
  }
  const nanos = seconds * SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  return nanos < MIN_TIME || nanos > MAX_TIME ? null : nanos;
}

/** RFC 3339, with as many digits of a second as are needed. */
export function formatTime(nanos: bigint, offset = 0): string {
  const local = nanos + BigInt(offset) * SECOND;
  const seconds = floor(local, SECOND);
  const rest = local - seconds * SECOND;
  const date = new Date(Number(seconds) * 1000);
  const head = `${String(date.getUTCFullYear()).padStart(4, '0')}${date.toISOString().slice(-20, -5)}`;
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`;
  return `${head}${fraction}${zoneText(offset)}`;
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset) / 60;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** Seconds east of UTC that a text of a time ends with. */
export function offsetOf(text: string): number {
  const match = /([+-])(\d\d):(\d\d)$/.exec(text);
  if (!match) return 0;
  const seconds = (Number(match[2]) * 60 + Number(match[3])) * 60;
  return match[1] === '-' ? -seconds : seconds;
}

/** `90.5s`: CEL writes durations in seconds. */
export function formatDuration(nanos: bigint): string {
  const whole = nanos / SECOND;
  const seconds = Number(whole) + Number(nanos - whole * SECOND) / 1e9;
  return `${plain(seconds)}s`;
}

/** A float64 without an exponent. */
export function plain(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return Object.is(value, -0) ? '-0' : text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, '0');
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

export function floor(value: bigint, by: bigint): bigint {
  const result = value / by;
  return value % by < 0n ? result - 1n : result;
}

export interface Calendar {
  year: number;
  month: number;
  day: number;
  dayOfYear: number;
  weekday: number;
  hours: number;
  minutes: number;
  seconds: number;
  milliseconds: number;
}

/** The date and time of day in a zone: `UTC`, a name from the time zone database, or an offset like `-08:00`. */
export function calendar(nanos: bigint, zone: string): Calendar | Error {
  const offset = zoneOffset(nanos, zone);
  if (offset instanceof Error) return offset;
  const local = nanos + BigInt(offset) * SECOND;
  const millis = Number(floor(local, 1_000_000n));
  const date = new Date(millis);
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    dayOfYear: Math.floor((millis - start.getTime()) / 86_400_000),
    weekday: date.getUTCDay(),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: ((millis % 1000) + 1000) % 1000,
  };
}

function zoneOffset(nanos: bigint, zone: string): number | Error {
  if (zone === 'UTC' || zone === '') return 0;
  const colon = zone.indexOf(':');
  if (colon >= 0) {
    const [hours, minutes] = [zone.slice(0, colon), zone.slice(colon + 1)];
    for (const part of [hours, minutes]) {
      if (!/^[+-]?\d+$/.test(part)) return new Error(`strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`);
    }
    const sign = zone.startsWith('-') ? -1 : 1;
    return (Number(hours) * 60 + sign * Number(minutes)) * 60;
  }
  if (/^[+-]|^\.|\/\.|\\/.test(zone)) return new Error(`unknown time zone ${zone}`);
  try {
    const text = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
      .formatToParts(new Date(Number(floor(nanos, 1_000_000n))))
      .find((part) => part.type === 'timeZoneName')?.value;
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text ?? '');
    if (!match) return 0;
    const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return match[1] === '-' ? -seconds : seconds;
  } catch {
    return new Error(`unknown time zone ${zone}`);
  }
}
