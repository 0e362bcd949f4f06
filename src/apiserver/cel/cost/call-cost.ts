/** What calls cost at run time: cel-go's interpreter/runtimecost.go with Kubernetes' library/cost.go. */
import { patternSizeOf } from '../library/kubernetes.ts';
import { sizeOf } from '../library/standard.ts';
import { List, MapValue, Opaque, Optional, typeName, type Value } from '../values/value.ts';

export const TRAVERSAL = 0.1;
export const PATTERN = 0.25;
const LIST_BASE = 10;

/** As Kubernetes' functions see sizes. */
function size(value: Value): number {
  const known = sizeOf(value);
  if (known !== undefined) return known;
  return value instanceof Opaque ? (value.size() ?? 1) : 1;
}

/** As the standard functions see them: an optional is as large as what is in it. */
function innerSize(value: Value): number {
  return value instanceof Optional && value.value !== undefined ? innerSize(value.value) : size(value);
}

/** A float's way through uint64: factors are multiplied before rounding up, like Go does. */
const up = (count: number, factor: number) => Math.ceil(count * factor);

function traversal(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * TRAVERSAL);
  if (value instanceof Uint8Array) return Math.floor(value.length * TRAVERSAL);
  let cost = 0;
  if (value instanceof List) {
    for (let i = 0; i < value.size; i++) cost += traversal(value.at(i));
    return cost;
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) cost += traversal(key) + traversal(value.find(key) ?? null);
    return cost;
  }
  return 1;
}

export type CallCost = (args: readonly Value[], result: Value, overload: string) => number;

const one: CallCost = () => 1;

/** Of calls that cost one, whatever they are given. */
export const FLAT = one;
/** `times` is multiplied first, as upstream does: rounding up makes that a difference. */
const first =
  (times = 1): CallCost =>
  ([arg]) =>
    up(size(arg as Value) * times, TRAVERSAL);
const pattern: CallCost = ([text, re]) => up(1 + size(text as Value), TRAVERSAL) * up(size(re as Value), PATTERN);

const selector: CallCost = ([, text]) => {
  const length = size(text as Value);
  return 10 + up(length, TRAVERSAL) + up(up(length, 0.5), 50);
};

const BY_FUNCTION: Record<string, CallCost> = {
  check: () => 350_000,
  fieldSelector: selector,
  labelSelector: selector,
  join: (_args, result) => up(size(result) * 2, TRAVERSAL),
  find: pattern,
  findAll: pattern,
  ip: (args, result, overload) => (overload === 'cidr_ip' ? 1 : first()(args, result, overload)),
  'ip.isCanonical': first(2),
  containsIP: ([range, other], _result, overload) =>
    up(2 * size(range as Value), TRAVERSAL) +
    (overload === 'cidr_contains_ip_string' ? up(size(other as Value), TRAVERSAL) : 0),
  containsCIDR: ([range, other], _result, overload) =>
    up(2 * size(range as Value), TRAVERSAL) +
    up(size(range as Value), TRAVERSAL) +
    1 +
    (overload === 'cidr_contains_cidr_string' ? up(size(other as Value), TRAVERSAL) : 0),
  'format.named': one,
};

for (const name of ['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf']) {
  BY_FUNCTION[name] = ([list]) => traversal(list as Value);
}
for (const name of 'url lowerAscii upperAscii substring trim cidr isIP isCIDR quantity isQuantity semver isSemver'.split(
  ' ',
)) {
  BY_FUNCTION[name] = first();
}
for (const name of ['replace', 'split']) BY_FUNCTION[name] = first(2);
for (const name of `serviceAccount path group resource subresource namespace name allowed reason error errored masked
  prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast sign asInteger isInteger
  asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort
  getEscapedPath getQuery`.split(/\s+/)) {
  BY_FUNCTION[name] = one;
}

const output: CallCost = (_args, result) => Math.trunc(size(result)) + 1 + LIST_BASE;
const compared =
  (index: number): CallCost =>
  (args) => {
    const list = args[index] as Value;
    const count = size(list);
    const element = count > 0 && list instanceof List ? typeName(list.at(0)) : '';
    const factor = element === 'string' || element === 'bytes' ? 2 + TRAVERSAL : 2;
    return Math.trunc(count * count * factor) + 1 + LIST_BASE;
  };
const flat: CallCost = ([list, depth]) =>
  Math.trunc(size(list as Value) * (depth === undefined ? 1 : Number(depth))) + 1 + LIST_BASE;
const sets =
  (factor: number): CallCost =>
  ([a, b]) =>
    1 + Math.trunc(size(a as Value) * size(b as Value) * factor);

const least: CallCost = ([a, b]) => up(Math.min(innerSize(a as Value), innerSize(b as Value)), TRAVERSAL);
const text: CallCost = ([a]) => up(innerSize(a as Value), TRAVERSAL);
const both: CallCost = ([a, b]) => up(innerSize(a as Value) + innerSize(b as Value), TRAVERSAL);

/** These come before anything the function's name says. */
const BEFORE: Record<string, CallCost> = {
  list_slice: output,
  list_flatten: flat,
  list_flatten_int: flat,
  lists_range: output,
  list_reverse: output,
  list_distinct: compared(0),
  list_sets_contains_list: sets(1),
  list_sets_intersects_list: sets(1),
  list_sets_equivalent_list: sets(2),
};
for (const type of 'int uint double bool google.protobuf.Duration google.protobuf.Timestamp string bytes'.split(' ')) {
  BEFORE[`list_${type}_sort`] = compared(0);
  BEFORE[`list_${type}_sortByAssociatedKeys`] = compared(1);
}

const AFTER: Record<string, CallCost> = {
  starts_with_string: text,
  ends_with_string: text,
  string_to_bytes: text,
  bytes_to_string: text,
  strings_quote: text,
  string_format: text,
  in_list: ([, list]) => innerSize(list as Value),
  equals: least,
  not_equals: least,
  add_string: both,
  add_bytes: both,
  matches_string: ([a, b]) => up(1 + innerSize(a as Value), TRAVERSAL) * up(innerSize(b as Value), PATTERN),
  contains_string: ([a, b]) => up(innerSize(a as Value), TRAVERSAL) * up(innerSize(b as Value), TRAVERSAL),
};
for (const order of ['less', 'greater', 'less_equals', 'greater_equals']) {
  AFTER[`${order}_string`] = least;
  AFTER[`${order}_bytes`] = least;
}

/** How a call is priced; `overload` is empty where it is only known at run time which one it is. */
export function callCost(name: string, overload: string): CallCost {
  const before = BEFORE[overload];
  if (before) return before;
  const after = AFTER[overload] ?? one;
  if (name === '_==_') return (args, result) => (args[0] instanceof Opaque ? 1 : after(args, result, overload));
  if (name === 'validate') {
    return (args, result) => {
      const length = patternSizeOf(args[0] as Value);
      if (length === undefined) return after(args, result, overload);
      return up(1 + size(args[1] as Value), TRAVERSAL) * up(length, PATTERN);
    };
  }
  const named = BY_FUNCTION[name];
  if (named === one) return one;
  return named ? (args, result) => named(args, result, overload) : after;
}

export function isPaidAhead(overload: string): boolean {
  const before = BEFORE[overload];
  return overload === 'lists_range' || (before !== undefined && before !== output && before !== flat);
}

/** Calls whose work depends on their arguments in ways that must be paid for before it is done. */
export function costAhead(overload: string, args: readonly Value[]): number {
  if (overload === 'lists_range') return Number(args[0]);
  const before = BEFORE[overload];
  return before ? before(args, null, overload) : 0;
}
