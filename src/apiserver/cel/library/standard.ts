/** CEL's standard functions and operators. */
import { matchesPattern } from '../../schema/pattern.ts';
import { declare, type FunctionDeclaration } from '../check/declarations.ts';
import { BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, TYPE, type Type, UINT } from '../check/type.ts';
import { stepThrough } from '../run/meter.ts';
import { add, compare, divide, modulo, multiply, negate, subtract } from '../values/numbers.ts';
import { type Calendar, calendar } from '../values/time.ts';
import { CelError, Duration, List, MapValue, NO_OVERLOAD, Timestamp, Uint, type Value } from '../values/value.ts';
import { convert } from './convert.ts';

const isNumber = (value: Value) => typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
const isTime = (value: Value) => value instanceof Timestamp || value instanceof Duration;
const isSized = (value: Value) =>
  typeof value === 'string' || value instanceof List || value instanceof MapValue || value instanceof Uint8Array;
const isComparable = (value: Value) =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  isNumber(value) ||
  isTime(value) ||
  value instanceof Uint8Array;
const isAddable = (value: Value) =>
  typeof value === 'string' || isNumber(value) || isTime(value) || value instanceof List || value instanceof Uint8Array;

/** Overloads of a comparison, cross-type ones included. */
function relation(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const plain = { bool: 'bool', string: 'string', bytes: 'bytes', timestamp: 'timestamp', duration: 'duration' };
  const numbers = { int64: 'int', uint64: 'uint', double: 'double' };
  const signatures: Record<string, string> = {};
  const put = (suffix: string, a: string, b: string) => {
    signatures[`${id}_${suffix}`] = `(${a}, ${b}) bool`;
  };
  put('bool', 'bool', 'bool');
  for (const [from, a] of Object.entries(numbers)) {
    put(from, a, a);
    for (const [to, b] of Object.entries(numbers)) if (from !== to) put(`${from}_${to}`, a, b);
  }
  for (const [suffix, type] of Object.entries(plain)) put(suffix, type, type);
  const run = (a: Value, b: Value): Value => {
    const order = compare(a, b);
    return order instanceof CelError ? order : holds(order);
  };
  return declare(name, signatures, { run, takes: isComparable });
}

function conversion(name: string, to: Type, from: Record<string, string>): FunctionDeclaration {
  const run = (value: Value) => convert(value, to);
  const result = name;
  return declare(
    name,
    Object.fromEntries(Object.entries(from).map(([id, type]) => [id, [`(${type}) ${result}`, run]])) as never,
  );
}

/** A part of a date: with and without a zone, and for durations where they have it. */
function timePart(name: string, id: string, part: (date: Calendar) => number, unit?: bigint, zoneId = `${id}_with_tz`) {
  const of = (time: Timestamp, zone: string): Value => {
    const date = calendar(time.nanos, zone);
    return date instanceof Error ? new CelError(date.message) : BigInt(part(date));
  };
  return declare(name, {
    [`timestamp_to_${id}`]: ['timestamp.() int', ((time: Timestamp) => of(time, 'UTC')) as never],
    [`timestamp_to_${zoneId}`]: ['timestamp.(string) int', of as never],
    ...(unit === undefined
      ? {}
      : {
          [`duration_to_${id}`]: ['duration.() int', ((time: Duration) => time.nanos / unit) as never],
        }),
  });
}

const size = (value: Value): Value => BigInt(sizeOf(value) as number);

/** Elements of a list or map, characters of a string, bytes; undefined for what has no size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return characters(value);
  if (value instanceof List || value instanceof MapValue) return value.size;
  return value instanceof Uint8Array ? value.length : undefined;
}

/** Code points: two UTF-16 units of a pair are one character. */
export function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--;
      i++;
    }
  }
  return count;
}

const texts = (test: (text: string, part: string) => Value) => (a: Value, b: Value) =>
  typeof a === 'string' && typeof b === 'string' ? test(a, b) : NO_OVERLOAD;

function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return NO_OVERLOAD;
  const found = matchesPattern(pattern, text);
  return found instanceof Error ? new CelError(found.message) : found;
}

function includes(text: string, part: string): boolean {
  stepThrough(text, part);
  return text.includes(part);
}

export const STANDARD: FunctionDeclaration[] = [
  declare('_?_:_', { conditional: '(bool, A, A) A' }),
  declare('_&&_', { logical_and: '(bool, bool) bool' }),
  declare('_||_', { logical_or: '(bool, bool) bool' }),
  declare(
    '!_',
    { logical_not: '(bool) bool' },
    { run: (value: Value) => (typeof value === 'boolean' ? !value : NO_OVERLOAD) },
  ),
  declare(
    '@not_strictly_false',
    { not_strictly_false: '(bool) bool' },
    { run: (value: Value) => (typeof value === 'boolean' ? value : true), nonStrict: true },
  ),
  declare('_==_', { equals: '(A, A) bool' }),
  declare('_!=_', { not_equals: '(A, A) bool' }),
  declare(
    '_+_',
    {
      add_bytes: '(bytes, bytes) bytes',
      add_double: '(double, double) double',
      add_duration_duration: '(duration, duration) duration',
      add_duration_timestamp: '(duration, timestamp) timestamp',
      add_timestamp_duration: '(timestamp, duration) timestamp',
      add_int64: '(int, int) int',
      add_list: '(list(A), list(A)) list(A)',
      add_string: '(string, string) string',
      add_uint64: '(uint, uint) uint',
    },
    { run: add, takes: isAddable },
  ),
  declare(
    '_/_',
    { divide_double: '(double, double) double', divide_int64: '(int, int) int', divide_uint64: '(uint, uint) uint' },
    { run: divide, takes: isNumber },
  ),
  declare(
    '_%_',
    { modulo_int64: '(int, int) int', modulo_uint64: '(uint, uint) uint' },
    { run: modulo, takes: (value) => typeof value === 'bigint' || value instanceof Uint },
  ),
  declare(
    '_*_',
    {
      multiply_double: '(double, double) double',
      multiply_int64: '(int, int) int',
      multiply_uint64: '(uint, uint) uint',
    },
    { run: multiply, takes: isNumber },
  ),
  declare(
    '-_',
    { negate_double: '(double) double', negate_int64: '(int) int' },
    {
      run: negate,
      takes: (value) =>
        typeof value === 'bigint' ||
        typeof value === 'number' ||
        typeof value === 'boolean' ||
        value instanceof Duration,
    },
  ),
  declare(
    '_-_',
    {
      subtract_double: '(double, double) double',
      subtract_duration_duration: '(duration, duration) duration',
      subtract_int64: '(int, int) int',
      subtract_timestamp_duration: '(timestamp, duration) timestamp',
      subtract_timestamp_timestamp: '(timestamp, timestamp) duration',
      subtract_uint64: '(uint, uint) uint',
    },
    { run: subtract, takes: (value) => isNumber(value) || isTime(value) },
  ),
  relation('_<_', 'less', (order) => order < 0),
  relation('_<=_', 'less_equals', (order) => order <= 0),
  relation('_>_', 'greater', (order) => order > 0),
  relation('_>=_', 'greater_equals', (order) => order >= 0),
  declare('_[_]', { index_list: '(list(A), int) A', index_map: '(map(A, B), A) B' }),
  declare(
    '@in',
    { in_list: '(A, list(A)) bool', in_map: '(A, map(A, B)) bool' },
    {
      run: (needle: Value, aggregate: Value) =>
        aggregate instanceof List || aggregate instanceof MapValue ? aggregate.contains(needle) : NO_OVERLOAD,
    },
  ),
  declare(
    'size',
    {
      size_bytes: '(bytes) int',
      bytes_size: 'bytes.() int',
      size_list: '(list(A)) int',
      list_size: 'list(A).() int',
      size_map: '(map(A, B)) int',
      map_size: 'map(A, B).() int',
      size_string: '(string) int',
      string_size: 'string.() int',
    },
    { run: size, takes: isSized },
  ),
  declare('type', { type: '(A) type(A)' }, { run: (value: Value) => convert(value, TYPE) }),
  conversion('bool', BOOL, { bool_to_bool: 'bool', string_to_bool: 'string' }),
  conversion('bytes', BYTES, { bytes_to_bytes: 'bytes', string_to_bytes: 'string' }),
  conversion('double', DOUBLE, {
    double_to_double: 'double',
    int64_to_double: 'int',
    string_to_double: 'string',
    uint64_to_double: 'uint',
  }),
  conversion('duration', DURATION, {
    duration_to_duration: 'duration',
    int64_to_duration: 'int',
    string_to_duration: 'string',
  }),
  declare('dyn', { to_dyn: '(A) dyn' }, { run: (value: Value) => value }),
  conversion('int', INT, {
    int64_to_int64: 'int',
    double_to_int64: 'double',
    duration_to_int64: 'duration',
    string_to_int64: 'string',
    timestamp_to_int64: 'timestamp',
    uint64_to_int64: 'uint',
  }),
  conversion('string', STRING, {
    string_to_string: 'string',
    bool_to_string: 'bool',
    bytes_to_string: 'bytes',
    double_to_string: 'double',
    duration_to_string: 'duration',
    int64_to_string: 'int',
    timestamp_to_string: 'timestamp',
    uint64_to_string: 'uint',
  }),
  conversion('timestamp', TIMESTAMP, {
    timestamp_to_timestamp: 'timestamp',
    int64_to_timestamp: 'int',
    string_to_timestamp: 'string',
  }),
  conversion('uint', UINT, {
    uint64_to_uint64: 'uint',
    double_to_uint64: 'double',
    int64_to_uint64: 'int',
    string_to_uint64: 'string',
  }),
  declare('contains', { contains_string: ['string.(string) bool', texts(includes) as never] }, { unguarded: true }),
  declare(
    'endsWith',
    { ends_with_string: ['string.(string) bool', texts((a, b) => a.endsWith(b)) as never] },
    { unguarded: true },
  ),
  declare(
    'startsWith',
    { starts_with_string: ['string.(string) bool', texts((a, b) => a.startsWith(b)) as never] },
    { unguarded: true },
  ),
  declare(
    'matches',
    { matches: '(string, string) bool', matches_string: 'string.(string) bool' },
    { run: matches, takes: (value) => typeof value === 'string' },
  ),
  timePart('getFullYear', 'year', (date) => date.year),
  timePart('getMonth', 'month', (date) => date.month),
  timePart('getDayOfYear', 'day_of_year', (date) => date.dayOfYear),
  timePart('getDayOfMonth', 'day_of_month', (date) => date.day - 1),
  timePart('getDate', 'day_of_month_1_based', (date) => date.day),
  timePart('getDayOfWeek', 'day_of_week', (date) => date.weekday),
  timePart('getHours', 'hours', (date) => date.hours, 3_600_000_000_000n),
  timePart('getMinutes', 'minutes', (date) => date.minutes, 60_000_000_000n),
  timePart('getSeconds', 'seconds', (date) => date.seconds, 1_000_000_000n, 'seconds_tz'),
  timePart('getMilliseconds', 'milliseconds', (date) => date.milliseconds, 1_000_000n),
];
