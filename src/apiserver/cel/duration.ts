/** Durations in objects (`1h30m`, `5 days`) as CEL durations; the schema's format has already checked the text. */
import type { Cel } from './engine.ts';

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

export function parseDuration(text: string, cel: Cel): unknown {
  let nanos = 0n;
  for (const [, number = '0', unit = ''] of text.matchAll(/(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµμ]+)/g)) {
    const size = UNITS.find(([pattern]) => pattern.test(unit))?.[1] ?? 0n;
    const [whole = '', fraction = ''] = number.split('.');
    nanos += BigInt(whole || '0') * size + BigInt(Math.round(Number(`0.${fraction || '0'}`) * Number(size)));
  }
  if (text.startsWith('-')) nanos = -nanos;
  return new cel.Duration((nanos / 1_000_000_000n) as never, Number(nanos % 1_000_000_000n));
}
