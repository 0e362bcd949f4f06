import { expect, it } from 'vitest';
import { parseGoDuration } from './go-duration.ts';

it.each<[string, number | string]>([
  ['0', 0],
  ['34s', 34_000],
  ['1h2m3.5s', 3_723_500],
  ['-1.5h', -5_400_000],
  ['+100ms', 100],
  ['.5s', 500],
  ['1.s', 1000],
  ['500us', 0.5],
  ['', 'time: invalid duration ""'],
  ['x', 'time: invalid duration "x"'],
  ['-', 'time: invalid duration "-"'],
  ['.s', 'time: invalid duration ".s"'],
  ['5', 'time: missing unit in duration "5"'],
  ['5d', 'time: unknown unit "d" in duration "5d"'],
  ['1h5', 'time: missing unit in duration "1h5"'],
])('%s', (text, expected) => expect(parseGoDuration(text)).toBe(expected));
