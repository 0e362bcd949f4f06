/** Times and durations in objects; the schema's format has already checked the text. */
import { parseGoDuration, parseTime } from './time.ts';

const UNITS: [RegExp, bigint][] = [
  [/^(ns|nano.*)$/i, 1n],
  [/^(us|µs|μs|micro.*)$/i, 1000n],
  [/^(ms|milli.*)$/i, 1_000_000n],
  [/^(s|sec.*)$/i, 1_000_000_000n],
  [/^(m|min.*)$/i, 60_000_000_000n],
  [/^(h|hr|hour.*)$/i, 3_600_000_000_000n],
  [/^(d|day.*)$/i, 86_400_000_000_000n],
  [/^(w|wk|week.*)$/i, 604_800_000_000_000n],
];

/** Nanoseconds of `1h30m` or `5 days`. */
export function parseSchemaDuration(text: string): bigint | undefined {
  const plain = parseGoDuration(text);
  if (plain !== undefined) return plain;
  let nanos: bigint | undefined;
  for (const [, number = '0', unit = ''] of text.matchAll(/(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµμ]+)/g)) {
    const size = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
    if (size === undefined) return undefined;
    const [whole = '', fraction = ''] = number.split('.');
    const part = fraction === '' ? 0n : (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
    nanos = (nanos ?? 0n) + BigInt(whole || '0') * size + part;
  }
  return nanos !== undefined && text.startsWith('-') ? -nanos : nanos;
}

export function parseSchemaTime(text: string, format: 'date' | 'date-time'): bigint | undefined {
  if (format === 'date') return parseTime(`${text}T00:00:00Z`) ?? undefined;
  return parseTime(text.replace(/^(.{10})[t ]/, '$1T').replace(/z$/, 'Z')) ?? parseTime(`${text}Z`) ?? undefined;
}
