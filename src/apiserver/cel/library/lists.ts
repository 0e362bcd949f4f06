/** Kubernetes' list functions, the lists extension (version 3) and sets. */
import { declare, type FunctionDeclaration, type Implementation } from '../check/declarations.ts';
import { stepsAhead } from '../run/meter.ts';
import { add, compare } from '../values/numbers.ts';
import { CelError, Duration, equalTo, Items, List, NO_OVERLOAD, typeName, Uint, type Value } from '../values/value.ts';

const fn = (run: (...args: never[]) => Value) => run as Implementation;

/** Names in overload ids, and the types they stand for. */
const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const LONG: Record<string, string> = {
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
};

function each(
  types: readonly string[],
  make: (type: string) => [string, string, Implementation],
): Record<string, [string, Implementation]> {
  return Object.fromEntries(types.map((type) => make(type)).map(([id, signature, run]) => [id, [signature, run]]));
}

const isOrdered = (value: Value) => !(compare(value, value) instanceof CelError) || typeof value === 'number';

function isSorted(list: List): Value {
  let before: Value | undefined;
  for (const next of list.toArray()) {
    if (next instanceof CelError) return next;
    if (!isOrdered(next)) return NO_OVERLOAD;
    if (before !== undefined && compare(before, next) === 1) return false;
    before = next;
  }
  return true;
}

function extreme(name: string, better: number) {
  return (list: List): Value => {
    let best: Value | undefined;
    for (const next of list.toArray()) {
      if (next instanceof CelError) return next;
      if (!isOrdered(next)) return NO_OVERLOAD;
      if (best === undefined || compare(best, next) === better) best = next;
    }
    return best === undefined ? new CelError(`${name} called on empty list`) : best;
  };
}

const ZERO: Record<string, Value> = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) };

function sum(zero: Value) {
  return (list: List): Value => {
    let total = zero;
    for (const next of list.toArray()) {
      if (next instanceof CelError) return next;
      total = add(total, next);
      if (total instanceof CelError) return total;
    }
    return total;
  };
}

function indexOf(list: List, item: Value): Value {
  for (let i = 0; i < list.size; i++) if (equalTo(list.at(i), item) === true) return BigInt(i);
  return -1n;
}

function lastIndexOf(list: List, item: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (equalTo(list.at(i), item) === true) return BigInt(i);
  return -1n;
}

function slice(list: List, start: bigint, end: bigint): Value {
  const range = `cannot slice(${start}, ${end}), `;
  if (start < 0n || end < 0n) return new CelError(`${range}negative indexes not supported`);
  if (start > end) return new CelError(`${range}start index must be less than or equal to end index`);
  if (BigInt(list.size) < end) return new CelError(`${range}list is length ${list.size}`);
  return new Items(Array.from({ length: Number(end - start) }, (_, i) => list.at(Number(start) + i)));
}

function range(count: bigint): Value {
  const length = Math.max(0, Number(count));
  stepsAhead(length);
  return new Items(Array.from({ length }, (_, i) => BigInt(i)));
}

function flatten(list: List, depth: bigint): Value[] {
  return list.toArray().flatMap((item) => (item instanceof List && depth > 0n ? flatten(item, depth - 1n) : [item]));
}

function flattened(list: Value, depth: Value): Value {
  if (!(list instanceof List) || typeof depth !== 'bigint') return NO_OVERLOAD;
  return depth < 0n ? new CelError('level must be non-negative') : new Items(flatten(list, depth));
}

function sortBy(list: List, keys: List): Value {
  if (list.size !== keys.size) {
    const text = '@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got';
    return new CelError(`${text} ${list.size} and ${keys.size} elements respectively`);
  }
  if (list.size === 0) return list;
  const first = keys.at(0);
  if (!isOrdered(first)) return new CelError('list elements must be comparable');
  const order = Array.from({ length: list.size }, (_, i) => i);
  if (list.size > 1 && keys.toArray().some((key) => typeName(key) !== typeName(first))) {
    return new CelError('list elements must have the same type');
  }
  order.sort((a, b) => {
    const result = compare(keys.at(a), keys.at(b));
    return result instanceof CelError ? 0 : result;
  });
  return new Items(order.map((i) => list.at(i)));
}

function distinct(list: List): Value {
  const seen: Value[] = [];
  const known = new Set<string>();
  for (const item of list.toArray()) {
    // Texts are looked up; all else is compared with everything seen before, which the cost accounts for.
    if (typeof item === 'string') {
      if (known.has(item)) continue;
      known.add(item);
    } else if (seen.some((other) => equalTo(item, other) === true)) continue;
    seen.push(item);
  }
  return list.size === 0 ? list : new Items(seen);
}

function contains(list: List, part: List): Value {
  for (const item of part.toArray()) {
    const found = list.contains(item);
    if (found !== true) return found;
  }
  return true;
}

export const LISTS: FunctionDeclaration[] = [
  declare(
    'isSorted',
    each(COMPARABLE, (type) => [`list_${type}_is_sorted_bool`, `list(${type}).() bool`, fn(isSorted)]),
  ),
  declare(
    'sum',
    each(Object.keys(ZERO), (type) => [
      `list_${type}_sum_${type}`,
      `list(${type}).() ${type}`,
      fn(sum(ZERO[type] as Value)),
    ]),
  ),
  declare(
    'max',
    each(COMPARABLE, (type) => [`list_${type}_max_${type}`, `list(${type}).() ${type}`, fn(extreme('max', -1))]),
  ),
  declare(
    'min',
    each(COMPARABLE, (type) => [`list_${type}_min_${type}`, `list(${type}).() ${type}`, fn(extreme('min', 1))]),
  ),
  declare('indexOf', { list_a_index_of_int: ['list(A).(A) int', fn(indexOf)] }),
  declare('lastIndexOf', { list_a_last_index_of_int: ['list(A).(A) int', fn(lastIndexOf)] }),
  declare('slice', { list_slice: ['list(T).(int, int) list(T)', fn(slice)] }),
  declare(
    'flatten',
    {
      list_flatten: ['list(list(T)).() list(T)', fn((list: Value) => flattened(list, 1n))],
      list_flatten_int: ['list(dyn).(int) list(dyn)', fn(flattened)],
    },
    { unguarded: true },
  ),
  declare(
    'sort',
    Object.fromEntries(COMPARABLE.map((type) => [`list_${LONG[type] ?? type}_sort`, `list(${type}).() list(${type})`])),
    { run: fn((list: List) => sortBy(list, list)), takes: (value) => value instanceof List },
  ),
  declare(
    '@sortByAssociatedKeys',
    Object.fromEntries(
      COMPARABLE.map((type) => [`list_${LONG[type] ?? type}_sortByAssociatedKeys`, `list(T).(list(${type})) list(T)`]),
    ),
    { run: fn(sortBy), takes: (value) => value instanceof List },
  ),
  declare('lists.range', {
    lists_range: ['(int) list(int)', fn(range)],
  }),
  declare('reverse', { list_reverse: ['list(T).() list(T)', fn((list: List) => new Items(list.toArray().reverse()))] }),
  declare('distinct', { list_distinct: ['list(T).() list(T)', fn(distinct)] }),
  declare('sets.contains', { list_sets_contains_list: ['(list(T), list(T)) bool', fn(contains)] }),
  declare('sets.equivalent', {
    list_sets_equivalent_list: [
      '(list(T), list(T)) bool',
      fn((a: List, b: List) => {
        const forth = contains(a, b);
        return forth === true ? contains(b, a) : forth;
      }),
    ],
  }),
  declare('sets.intersects', {
    list_sets_intersects_list: [
      '(list(T), list(T)) bool',
      fn((a: List, b: List) => a.toArray().some((item) => b.contains(item) === true)),
    ],
  }),
];
