/** Arithmetic and order. Integers have 64 bits and say so when they do not suffice. */
import { CelError, Duration, List, NO_OVERLOAD, Timestamp, Uint, type Value } from './value.ts';

const OVERFLOW = new CelError('integer overflow');
const UNSIGNED_OVERFLOW = new CelError('unsigned integer overflow');
const DURATION_OVERFLOW = new CelError('duration overflow');
const TIMESTAMP_OVERFLOW = new CelError('timestamp overflow');
const NAN = new CelError('NaN values cannot be ordered');

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const UNSIGNED_MAX = 2n ** 64n - 1n;

export const MIN_TIME = -62135596800n * 1_000_000_000n;
export const MAX_TIME = 253402300799n * 1_000_000_000n + 999_999_999n;

function int(value: bigint): Value {
  return value < MIN || value > MAX ? OVERFLOW : value;
}

function uint(value: bigint): Value {
  return value < 0n || value > UNSIGNED_MAX ? UNSIGNED_OVERFLOW : new Uint(value);
}

function duration(nanos: bigint): Value {
  return nanos < MIN || nanos > MAX ? DURATION_OVERFLOW : new Duration(nanos);
}

export function timestamp(nanos: bigint, offset = 0): Value {
  return nanos < MIN_TIME || nanos > MAX_TIME ? TIMESTAMP_OVERFLOW : new Timestamp(nanos, offset);
}

export function add(a: Value, b: Value): Value {
  if (typeof a === 'string') return typeof b === 'string' ? a + b : NO_OVERLOAD;
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a + b) : NO_OVERLOAD;
  if (typeof a === 'number') return typeof b === 'number' ? a + b : NO_OVERLOAD;
  if (a instanceof List) return a.add(b);
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value + b.value) : NO_OVERLOAD;
  if (a instanceof Duration) {
    if (b instanceof Duration) return duration(a.nanos + b.nanos);
    return b instanceof Timestamp ? timestamp(a.nanos + b.nanos, b.offset) : NO_OVERLOAD;
  }
  if (a instanceof Timestamp) return b instanceof Duration ? timestamp(a.nanos + b.nanos, a.offset) : NO_OVERLOAD;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.concat([a, b]) : NO_OVERLOAD;
  return NO_OVERLOAD;
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a - b) : NO_OVERLOAD;
  if (typeof a === 'number') return typeof b === 'number' ? a - b : NO_OVERLOAD;
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value - b.value) : NO_OVERLOAD;
  if (a instanceof Duration) return b instanceof Duration ? duration(a.nanos - b.nanos) : NO_OVERLOAD;
  if (a instanceof Timestamp) {
    if (b instanceof Duration) return timestamp(a.nanos - b.nanos, a.offset);
    if (!(b instanceof Timestamp)) return NO_OVERLOAD;
    const between = duration(a.nanos - b.nanos);
    return between === DURATION_OVERFLOW ? OVERFLOW : between;
  }
  return NO_OVERLOAD;
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a * b) : NO_OVERLOAD;
  if (typeof a === 'number') return typeof b === 'number' ? a * b : NO_OVERLOAD;
  return a instanceof Uint && b instanceof Uint ? uint(a.value * b.value) : NO_OVERLOAD;
}

const BY_ZERO = new CelError('division by zero');
const MODULUS = new CelError('modulus by zero');

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'bigint') {
    if (typeof b !== 'bigint') return NO_OVERLOAD;
    return b === 0n ? BY_ZERO : int(a / b);
  }
  if (typeof a === 'number') return typeof b === 'number' ? a / b : NO_OVERLOAD;
  if (!(a instanceof Uint && b instanceof Uint)) return NO_OVERLOAD;
  return b.value === 0n ? BY_ZERO : new Uint(a.value / b.value);
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint') {
    if (typeof b !== 'bigint') return NO_OVERLOAD;
    if (b === 0n) return MODULUS;
    return a === MIN && b === -1n ? OVERFLOW : a % b;
  }
  if (!(a instanceof Uint && b instanceof Uint)) return NO_OVERLOAD;
  return b.value === 0n ? MODULUS : new Uint(a.value % b.value);
}

export function negate(a: Value): Value {
  if (typeof a === 'bigint') return int(-a);
  if (typeof a === 'number') return -a;
  return a instanceof Duration ? duration(-a.nanos) : NO_OVERLOAD;
}

/** -1, 0 or 1; an error where the two have no order. */
export function compare(a: Value, b: Value): number | CelError {
  if (typeof a === 'bigint' || typeof a === 'number' || a instanceof Uint) {
    const x = a instanceof Uint ? a.value : a;
    const y = b instanceof Uint ? b.value : b;
    if (Number.isNaN(x)) return NAN;
    if (typeof y !== 'bigint' && typeof y !== 'number') return NO_OVERLOAD;
    if (Number.isNaN(y)) return NAN;
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : NO_OVERLOAD;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : NO_OVERLOAD;
  if ((a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration)) {
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return NO_OVERLOAD;
}

/** By bytes of UTF-8, which differs from UTF-16's order beyond the basic plane. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [high, other] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    if (high !== other) return high ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

export const range = { int, uint, duration };
