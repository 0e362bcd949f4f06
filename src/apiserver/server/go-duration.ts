/** Durations as Go writes and reads them: `1h2m3.5s`. */
import { own } from '../json.ts';

const UNITS: Record<string, number> = { h: 3.6e6, m: 6e4, s: 1e3, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };

/** Milliseconds, or what Go says is wrong. */
export function parseGoDuration(text: string): number | string {
  const quoted = JSON.stringify(text);
  const [, sign = '', amount = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (amount === '0') return 0;
  if (amount === '') return `time: invalid duration ${quoted}`;
  let total = 0;
  for (let rest = amount; rest !== ''; ) {
    const [matched = '', number = ''] = /^(\d+\.?\d*|\.\d+)/.exec(rest) ?? [];
    if (matched === '') return `time: invalid duration ${quoted}`;
    rest = rest.slice(matched.length);
    const [unit = ''] = /^[^\d.]*/.exec(rest) ?? [];
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    const size = own(UNITS, unit);
    if (size === undefined) return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
    total += Number(number) * size;
    rest = rest.slice(unit.length);
  }
  return sign === '-' ? -total : total;
}
