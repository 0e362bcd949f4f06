/** Optional values. `or` and `orValue` evaluate their argument only where it is needed: the planner does those. */
import { declare, type FunctionDeclaration } from '../check/declarations.ts';
import { show } from '../values/show.ts';
import {
  CelError,
  Duration,
  Entries,
  Items,
  List,
  MapValue,
  NONE,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from '../values/value.ts';

const GO_ZERO_TIME = -62135596800n * 1_000_000_000n;

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof List || value instanceof MapValue) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.nanos === GO_ZERO_TIME;
  return false;
}

function unwrap(list: List): Value {
  const found: Value[] = [];
  for (const each of list.toArray()) {
    if (!(each instanceof Optional)) return new CelError(`value ${show(each)} is not optional`);
    if (each.value !== undefined) found.push(each.value);
  }
  return new Items(found);
}

const at = (list: List, index: number) => (list.size === 0 ? NONE : new Optional(list.at(index)));

export const OPTIONALS: FunctionDeclaration[] = [
  declare('optional.of', { optional_of: ['(V) optional(V)', ((value: Value) => new Optional(value)) as never] }),
  declare('optional.ofNonZeroValue', {
    optional_ofNonZeroValue: [
      '(V) optional(V)',
      ((value: Value) => (isZero(value) ? NONE : new Optional(value))) as never,
    ],
  }),
  declare('optional.none', { optional_none: ['() optional(V)', () => NONE] }),
  declare('value', {
    optional_value: [
      'optional(V).() V',
      ((optional: Optional) =>
        optional.value === undefined ? new CelError('optional.none() dereference') : optional.value) as never,
    ],
  }),
  declare('hasValue', {
    optional_hasValue: ['optional(V).() bool', ((optional: Optional) => optional.value !== undefined) as never],
  }),
  declare('or', { optional_or_optional: 'optional(V).(optional(V)) optional(V)' }),
  declare('orValue', { optional_orValue_value: 'optional(V).(V) V' }),
  declare('_?._', { select_optional_field: '(dyn, string) optional(V)' }),
  declare('_[?_]', {
    list_optindex_optional_int: '(list(V), int) optional(V)',
    optional_list_optindex_optional_int: '(optional(list(V)), int) optional(V)',
    map_optindex_optional_value: '(map(K, V), K) optional(V)',
    optional_map_optindex_optional_value: '(optional(map(K, V)), K) optional(V)',
  }),
  declare('_[_]', {
    optional_list_index_int: '(optional(list(V)), int) optional(V)',
    optional_map_index_value: '(optional(map(K, V)), K) optional(V)',
  }),
  declare('last', { list_last: ['list(V).() optional(V)', ((list: List) => at(list, list.size - 1)) as never] }),
  declare('first', { list_first: ['list(V).() optional(V)', ((list: List) => at(list, 0)) as never] }),
  declare('optional.unwrap', { optional_unwrap: ['(list(optional(V))) list(V)', unwrap as never] }),
  declare('unwrapOpt', { optional_unwrapOpt: ['list(optional(V)).() list(V)', unwrap as never] }),
];

function inserted(map: MapValue, key: Value, value: Value): Value {
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${show(key)} already exists`);
  if (!(map instanceof Entries)) return new CelError('no such overload');
  map.set(key, value);
  return map;
}

/** What the two-variable macros put maps together with. */
export const COMPREHENSIONS: FunctionDeclaration[] = [
  declare('cel.@mapInsert', {
    '@mapInsert_map_key_value': ['(map(K, V), K, V) map(K, V)', inserted as never],
    '@mapInsert_map_map': [
      '(map(K, V), map(K, V)) map(K, V)',
      ((map: MapValue, other: MapValue) => {
        for (const key of other.keys()) {
          const done = inserted(map, key, other.find(key) as Value);
          if (done instanceof CelError) return done;
        }
        return map;
      }) as never,
    ],
  }),
];
