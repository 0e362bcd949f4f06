/**
 * Values of expressions. Integers are BigInt, doubles are numbers, strings, booleans, null and bytes are themselves; the
 * rest are classes. Errors are values too: `&&`, `||` and loops can leave them behind.
 */
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  struct,
  TIMESTAMP,
  TYPE,
  Type,
  UINT,
} from '../check/type.ts';
import { step } from '../run/meter.ts';

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | Optional
  | Type
  | List
  | MapValue
  | Opaque
  | CelError;

export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const NO_OVERLOAD = new CelError('no such overload');

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;
  /** Seconds east of UTC, as it was written; shows in its text and nowhere else. */
  readonly offset: number;

  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos;
    this.offset = offset;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Optional {
  /** Undefined for `optional.none()`. */
  readonly value: Value | undefined;

  constructor(value?: Value) {
    this.value = value;
  }
}

export const NONE = new Optional();

/** Values of Kubernetes' libraries: addresses, quantities, URLs, and the like. */
export abstract class Opaque {
  abstract readonly type: Type;
  abstract equals(other: Value): Value;
  /** What `size` of a cost estimate sees; undefined for one. */
  size(): number | undefined {
    return undefined;
  }
}

export abstract class List {
  abstract readonly size: number;
  abstract at(index: number): Value;

  /** Element by an index of any number type. */
  get(index: Value): Value {
    const at = listIndex(index);
    if (at instanceof CelError) return at;
    if (at < 0 || at >= this.size) return new CelError(`index out of bounds: ${at}`);
    return this.at(at);
  }

  add(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    if (this.size === 0) return other;
    return other.size === 0 ? this : new Concat(this, other);
  }

  contains(needle: Value): Value {
    for (let i = 0; i < this.size; i++) if (equalTo(needle, this.at(i)) === true) return true;
    return false;
  }

  equals(other: Value): Value {
    if (!(other instanceof List) || other.size !== this.size) return false;
    for (let i = 0; i < this.size; i++) if (equal(this.at(i), other.at(i)) === false) return false;
    return true;
  }

  toArray(): Value[] {
    step(this.size);
    return Array.from({ length: this.size }, (_, i) => this.at(i));
  }
}

export class Items extends List {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  at(index: number): Value {
    return this.items[index] as Value;
  }
}

/** The list a loop builds: nobody else sees it until the loop is done, so it grows in place. */
export class Growing extends List {
  readonly items: Value[] = [];

  get size(): number {
    return this.items.length;
  }

  at(index: number): Value {
    return this.items[index] as Value;
  }

  override add(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    for (let i = 0, count = other.size; i < count; i++) this.items.push(other.at(i));
    return this;
  }
}

class Concat extends List {
  readonly size: number;
  private readonly first: List;
  private readonly second: List;
  private flat: Value[] | undefined;

  constructor(first: List, second: List) {
    super();
    this.first = first;
    this.second = second;
    this.size = first.size + second.size;
  }

  at(index: number): Value {
    // Chains of lists would make every look-up long.
    this.flat ??= [...this.first.toArray(), ...this.second.toArray()];
    return this.flat[index] as Value;
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  /** Undefined where there is no such key; an error where there cannot be. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  contains(key: Value): Value {
    const found = this.find(key);
    return found instanceof CelError ? found : found !== undefined;
  }

  equals(other: Value): Value {
    if (!(other instanceof MapValue) || other.size !== this.size) return false;
    for (const key of this.keys()) {
      const theirs = other.find(key);
      if (theirs === undefined) return false;
      if (equal(this.find(key) as Value, theirs) === false) return false;
    }
    return true;
  }
}

/** Maps written in an expression. */
export class Entries extends MapValue {
  private readonly entries: Map<string, [Value, Value]>;

  constructor(entries: Map<string, [Value, Value]> = new Map()) {
    super();
    this.entries = entries;
  }

  static of(pairs: Iterable<readonly [Value, Value]>): Entries {
    const made = new Entries();
    for (const [key, value] of pairs) made.set(key, value);
    return made;
  }

  get size(): number {
    return this.entries.size;
  }

  set(key: Value, value: Value): void {
    this.entries.set(keyText(key), [key, value]);
  }

  delete(key: Value): void {
    this.entries.delete(keyText(key));
  }

  find(key: Value): Value | undefined {
    return this.entries.get(keyText(key))?.[1];
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.entries.values()) yield key;
  }

  copy(): Entries {
    return new Entries(new Map(this.entries));
  }
}

/** Keys that are equal have the same text: 1, 1u and 1.0 are one key. */
function keyText(key: Value): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  return `${typeof key}${String(key)}`;
}

export function listIndex(index: Value): number | CelError {
  if (typeof index === 'bigint') return clamp(index);
  if (index instanceof Uint) {
    if (index.value >= 2n ** 63n) return new CelError(`unsupported index value ${index.value} in list`);
    return clamp(index.value);
  }
  if (typeof index === 'number') {
    if (!Number.isInteger(index)) return new CelError(`unsupported index value ${goFloat(index)} in list`);
    return index;
  }
  return new CelError(`unsupported index type '${typeName(index)}' in list`);
}

function clamp(value: bigint): number {
  return value < 0n ? -1 : value > 2n ** 50n ? 2 ** 50 : Number(value);
}

const LIST_TYPE = listOf(DYN);
const MAP_TYPE = mapOf(DYN, DYN);
const OPTIONAL_TYPE = optionalOf(DYN);
const UNKNOWN = struct('unknown');

export function typeOf(value: Value): Type {
  switch (typeof value) {
    case 'boolean':
      return BOOL;
    case 'bigint':
      return INT;
    case 'number':
      return DOUBLE;
    case 'string':
      return STRING;
  }
  if (value === null) return NULL;
  if (value instanceof List) return LIST_TYPE;
  if (value instanceof MapValue) return MAP_TYPE;
  if (value instanceof Uint) return UINT;
  if (value instanceof Timestamp) return TIMESTAMP;
  if (value instanceof Duration) return DURATION;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof Optional) return OPTIONAL_TYPE;
  if (value instanceof Type) return TYPE;
  return value instanceof Opaque ? value.type : UNKNOWN;
}

/** As runtime messages name it. */
export function typeName(value: Value): string {
  return typeOf(value).name;
}

/** Equality as `==` has it: null is equal to null only. */
export function equal(a: Value, b: Value): Value {
  if (a === null || b === null) return a === b;
  return equalTo(a, b);
}

/** Equality as the left value sees it. */
export function equalTo(a: Value, b: Value): Value {
  step();
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return a === b;
    case 'bigint':
    case 'number':
      return numbersEqual(a, b);
  }
  if (a === null) return b === null;
  if (a instanceof CelError) return a;
  if (a instanceof Uint) return numbersEqual(a, b);
  if (a instanceof List || a instanceof MapValue || a instanceof Opaque) return a.equals(b);
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equalTo(a.value, b.value);
  }
  return b instanceof Type && a.kind === b.kind && a.name === b.name;
}

function numbersEqual(a: bigint | number | Uint, b: Value): boolean {
  const [x, y] = [numeric(a), numeric(b)];
  // biome-ignore lint/suspicious/noDoubleEquals: 1, 1u and 1.0 are equal
  return x !== undefined && y !== undefined && x == y;
}

export function numeric(value: Value): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
}

/** Go's %v of a float64; `large` is the size from which on it has an exponent, which %g does much earlier. */
export function goFloat(value: number, large = 1e21): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const size = Math.abs(value);
  if (size >= large || size < 1e-4) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return String(value);
}
