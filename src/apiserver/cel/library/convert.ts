/** Conversions between types: `int("1")`, `string(duration)`, and so on. */
import { TYPE, type Type } from '../check/type.ts';
import { range, timestamp } from '../values/numbers.ts';
import { formatDuration, formatTime, offsetOf, parseGoDuration, parseTime } from '../values/time.ts';
import { CelError, Duration, goFloat, Opaque, Timestamp, typeName, typeOf, Uint, type Value } from '../values/value.ts';

const OVERFLOW = new CelError('integer overflow');
const UNSIGNED_OVERFLOW = new CelError('unsigned integer overflow');
const TIMESTAMP_OVERFLOW = new CelError('timestamp overflow');

export function convert(value: Value, to: Type): Value {
  if (value instanceof CelError) return value;
  if (to === TYPE) return typeOf(value);
  if (typeName(value) === to.name) return value;
  return converted(value, to.name) ?? new CelError(`type conversion error from '${typeName(value)}' to '${to.name}'`);
}

function converted(value: Value, to: string): Value | undefined {
  if (typeof value === 'string') return fromString(value, to);
  if (to === 'string') return toText(value);
  switch (to) {
    case 'int':
      return toInt(value);
    case 'uint':
      return toUint(value);
    case 'double':
      if (typeof value === 'bigint') return Number(value);
      return value instanceof Uint ? Number(value.value) : undefined;
    case 'google.protobuf.Timestamp':
      if (typeof value !== 'bigint') return undefined;
      return value < -62135596800n || value > 253402300799n
        ? TIMESTAMP_OVERFLOW
        : new Timestamp(value * 1_000_000_000n);
    default:
      return undefined;
  }
}

function toInt(value: Value): Value | undefined {
  if (value instanceof Uint) return value.value > 2n ** 63n - 1n ? OVERFLOW : value.value;
  if (value instanceof Duration) return value.nanos;
  if (value instanceof Timestamp) return floorSeconds(value.nanos);
  if (typeof value !== 'number') return undefined;
  // Both ends are out: they stand for numbers a double cannot tell from ones that do not fit.
  return Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63 ? OVERFLOW : BigInt(Math.trunc(value));
}

function floorSeconds(nanos: bigint): bigint {
  const seconds = nanos / 1_000_000_000n;
  return nanos % 1_000_000_000n < 0n ? seconds - 1n : seconds;
}

function toUint(value: Value): Value | undefined {
  if (typeof value === 'bigint') return value < 0n ? UNSIGNED_OVERFLOW : new Uint(value);
  if (typeof value !== 'number') return undefined;
  return Number.isNaN(value) || value < 0 || value >= 2 ** 64 ? UNSIGNED_OVERFLOW : new Uint(BigInt(Math.trunc(value)));
}

/** As `string(value)` gives it; undefined for what has no text. */
export function toText(value: Value): Value | undefined {
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return goFloat(value, 1e6);
  if (value === null) return 'null';
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTime(value.nanos, value.offset);
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof Uint8Array) {
    const text = Buffer.from(value).toString('utf8');
    if (Buffer.compare(Buffer.from(text), value) === 0) return text;
    return new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
  if (typeOf(value) === TYPE) return (value as Type).name;
  return value instanceof Opaque ? undefined : undefined;
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function fromString(text: string, to: string): Value | undefined {
  switch (to) {
    case 'int': {
      if (!/^[+-]?\d+$/.test(text)) return undefined;
      const value = range.int(BigInt(text.replace(/^\+/, '')));
      return value instanceof CelError ? undefined : value;
    }
    case 'uint': {
      if (!/^\d+$/.test(text)) return undefined;
      const value = range.uint(BigInt(text));
      return value instanceof CelError ? undefined : value;
    }
    case 'double':
      return parseFloat64(text);
    case 'bool':
      return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined;
    case 'bytes':
      return Buffer.from(text);
    case 'google.protobuf.Duration': {
      const nanos = parseGoDuration(text);
      return nanos === undefined ? undefined : new Duration(nanos);
    }
    case 'google.protobuf.Timestamp': {
      const nanos = parseTime(text);
      return nanos === undefined ? undefined : nanos === null ? TIMESTAMP_OVERFLOW : timestamp(nanos, offsetOf(text));
    }
    default:
      return undefined;
  }
}

const DECIMAL = /^[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?$/;

function parseFloat64(text: string): number | undefined {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special) {
    if (special[2]?.toLowerCase() === 'nan') return special[1] ? undefined : Number.NaN;
    return special[1] === '-' ? -Infinity : Infinity;
  }
  if (!DECIMAL.test(text) || text.includes('_')) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
