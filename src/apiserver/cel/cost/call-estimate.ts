/** What calls may cost at worst: cel-go's checker/cost.go with Kubernetes' library/cost.go. */
import type { Type } from '../check/type.ts';
import { PATTERN, TRAVERSAL } from './call-cost.ts';
import type { CostNode } from './estimate.ts';
import { cap, fixed, MAX, plus, price, type Size, times, UNKNOWN } from './size.ts';

interface CallEstimate {
  cost: number;
  size?: Size;
}

interface Context {
  overload: string;
  target: CostNode | undefined;
  args: CostNode[];
  /** As Kubernetes' functions see it: what is known, else what the path allows, else unbounded. */
  sizeOf(node: CostNode): Size;
}

type Estimate = (context: Context) => CallEstimate | undefined;

const one: Estimate = () => ({ cost: 1 });

function elementOf(list: CostNode): CostNode | undefined {
  const type = list.type.params[0];
  return type && { path: list.path.length > 0 ? [...list.path, '@items'] : [], type };
}

const overList: Estimate = ({ target, sizeOf }) => {
  if (!target) return undefined;
  const size = sizeOf(target);
  const element = elementOf(target);
  if (!element) return { cost: price(size, TRAVERSAL) };
  const long = element.type.kind === 'string' || element.type.kind === 'bytes';
  const each = 1 + (long ? price(sizeOf(element), TRAVERSAL) : 0);
  return { cost: cap(size.max * each) };
};

const overArgument =
  (factor: number, sized = false): Estimate =>
  ({ args: [arg], sizeOf }) => {
    if (!arg) return undefined;
    const size = sizeOf(arg);
    return { cost: price(size, factor), ...(sized ? { size } : {}) };
  };

const overTarget: Estimate = ({ target, sizeOf }) => {
  if (!target) return undefined;
  const size = sizeOf(target);
  return { cost: price(size, TRAVERSAL), size };
};

const replace: Estimate = ({ target, args: [from, to], sizeOf }) => {
  if (!target || !from || !to) return undefined;
  const [size, old, fresh] = [sizeOf(target), sizeOf(from), sizeOf(to)];
  const count = { min: 0, max: 0 };
  const kept = { min: 0, max: 0 };
  if (old.min === 0) {
    count.max = cap(size.max + 1);
    kept.max = size.max;
  } else if (fresh.max <= old.min) kept.max = size.max;
  else count.max = Math.ceil(size.max / old.min);
  if (old.max === 0) {
    count.min = size.min + 1;
    kept.min = size.min;
  } else if (old.max <= fresh.min) kept.min = size.min;
  else count.min = Math.ceil(size.min / old.max);
  return { cost: price(size, 2 * TRAVERSAL), size: plus(times(count, fresh), kept) };
};

const split: Estimate = ({ target, args: [, limit], sizeOf }) => {
  if (!target) return undefined;
  const size = sizeOf(target);
  const literal = limit?.expr?.kind === 'literal' ? limit.expr.value : undefined;
  // Upstream takes a negative limit for a very large one.
  const max = typeof literal === 'bigint' ? Number(BigInt.asUintN(64, literal)) : size.max;
  return { cost: price(size, 2 * TRAVERSAL), size: { min: 0, max } };
};

const join: Estimate = ({ target, args: [separator], sizeOf }) => {
  if (!target) return undefined;
  const count = sizeOf(target);
  const element = elementOf(target);
  let size: Size = element ? times(count, sizeOf(element)) : fixed(0);
  if (separator) {
    const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
    size = plus(size, times(sizeOf(separator), between));
  }
  return { cost: price(size, TRAVERSAL), size };
};

const find: Estimate = ({ target, args: [pattern], sizeOf }) => {
  if (!target || !pattern) return undefined;
  const size = sizeOf(target);
  const cost = cap(price(plus(size, fixed(1)), TRAVERSAL) * price(sizeOf(pattern), PATTERN));
  return { cost, size: { min: 0, max: size.max } };
};

const contains =
  (text: string, base: number): Estimate =>
  ({ overload, args: [arg], sizeOf }) =>
    arg && { cost: cap(base + (overload === text ? price(sizeOf(arg), TRAVERSAL) : 0)) };

const selector: Estimate = ({ args: [text], sizeOf }) => {
  if (!text) return undefined;
  const size = sizeOf(text);
  return { cost: cap(10 + price(size, TRAVERSAL) + cap(Math.ceil(price(size, 0.5) * 50))) };
};

const BY_FUNCTION: Record<string, Estimate> = {
  check: () => ({ cost: 350_000 }),
  fieldSelector: selector,
  labelSelector: selector,
  url: overArgument(TRAVERSAL, true),
  replace,
  split,
  join,
  find,
  findAll: find,
  ip: (context) => (context.overload === 'cidr_ip' ? { cost: 1 } : overArgument(TRAVERSAL)(context)),
  'ip.isCanonical': overArgument(2 * TRAVERSAL),
  containsIP: contains('cidr_contains_ip_string', 4),
  containsCIDR: contains('cidr_contains_cidr_string', 7),
  validate: ({ args: [arg], sizeOf }) => arg && { cost: cap(Math.ceil(price(sizeOf(arg), TRAVERSAL) * 128 * PATTERN)) },
  'format.named': one,
  '_==_': equalityOfValues,
};
for (const name of ['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf']) BY_FUNCTION[name] = overList;
for (const name of ['lowerAscii', 'upperAscii', 'substring', 'trim']) BY_FUNCTION[name] = overTarget;
for (const name of 'cidr isIP isCIDR quantity isQuantity semver isSemver'.split(' ')) {
  BY_FUNCTION[name] = overArgument(TRAVERSAL);
}
for (const name of `serviceAccount path group resource subresource namespace name allowed reason error errored masked
  prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast sign asInteger isInteger
  asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort
  getEscapedPath getQuery`.split(/\s+/)) {
  BY_FUNCTION[name] = one;
}

/** Comparing values of Kubernetes' types. */
function equalityOfValues({ args: [a, b] }: Context): CallEstimate | undefined {
  if (!a || !b || !a.type.equals(b.type)) return undefined;
  const type: Type = a.type;
  if (type.kind === 'opaque' && (type.name === 'net.IP' || type.name === 'net.CIDR')) return { cost: 1 };
  if (type.kind !== 'struct') return undefined;
  if (type.name === 'kubernetes.NamedFormat') return { cost: Math.ceil(64 * TRAVERSAL) };
  if (type.name === 'kubernetes.URL') return { cost: Math.ceil((b.size?.max ?? 1) * TRAVERSAL) };
  const known = type.name === 'kubernetes.Quantity' || type.name === 'kubernetes.Semver';
  return known || type.name.startsWith('kubernetes.authorization.') ? { cost: 1 } : undefined;
}

const listCall = (factor: number, size: Size): CallEstimate => ({ cost: cap(price(size, factor) + 11), size });

const integer = (node: CostNode | undefined, otherwise: number) => {
  if (node?.expr?.kind !== 'literal' || typeof node.expr.value !== 'bigint') return otherwise;
  return Math.max(0, Number(node.expr.value));
};

const sets =
  (factor: number): Estimate =>
  ({ args: [a, b], sizeOf }) =>
    a && b && { cost: cap(price(times(sizeOf(a), sizeOf(b)), factor) + 1) };

const flatten: Estimate = ({ target, args: [depth], sizeOf }) =>
  target && listCall(depth ? integer(depth, MAX) : 1, sizeOf(target));

/** These come before anything the function's name says. */
const BEFORE: Record<string, Estimate> = {
  list_slice: ({ target, args: [start, end], sizeOf }) => {
    if (!target) return undefined;
    // A start behind the end wraps around upstream, and becomes unaffordable.
    const count = integer(end, sizeOf(target).max) - integer(start, 0);
    return listCall(1, fixed(count < 0 ? MAX + count : count));
  },
  list_flatten: flatten,
  list_flatten_int: flatten,
  lists_range: ({ args: [count] }) => listCall(1, fixed(integer(count, MAX))),
  list_reverse: ({ target, sizeOf }) => target && listCall(1, sizeOf(target)),
  list_distinct: ({ target, sizeOf }) => target && listCall(2, times(sizeOf(target), sizeOf(target))),
  list_sets_contains_list: sets(1),
  list_sets_intersects_list: sets(1),
  list_sets_equivalent_list: sets(2),
};
for (const type of 'int uint double bool google.protobuf.Duration google.protobuf.Timestamp string bytes'.split(' ')) {
  const factor = type === 'string' || type === 'bytes' ? 2 + TRAVERSAL : 2;
  const sort = (node: CostNode | undefined, sizeOf: Context['sizeOf']) =>
    node && listCall(factor, times(sizeOf(node), sizeOf(node)));
  BEFORE[`list_${type}_sort`] = ({ target, sizeOf }) => sort(target, sizeOf);
  BEFORE[`list_${type}_sortByAssociatedKeys`] = ({ args: [keys], sizeOf }) => sort(keys, sizeOf);
}

const known = (node: CostNode | undefined) => node?.size ?? UNKNOWN;
const least: Estimate = ({ args: [a, b] }) => ({
  cost: price({ min: 0, max: Math.min(known(a).max, known(b).max) }, TRAVERSAL),
});
const added =
  (perUnit: boolean): Estimate =>
  ({ args: [a, b] }) => {
    const size = plus(known(a), known(b));
    return { cost: perUnit ? price(size, TRAVERSAL) : 1, size };
  };

const AFTER: Record<string, Estimate> = {
  string_format: ({ target }) => ({ cost: price(known(target), TRAVERSAL) }),
  string_to_bytes: ({ args: [text] }) => ({
    cost: price(known(text), TRAVERSAL),
    size: { min: known(text).min, max: cap(known(text).max * 4) },
  }),
  bytes_to_string: ({ args: [bytes] }) => ({
    cost: price(known(bytes), TRAVERSAL),
    size: { min: Math.floor(known(bytes).min / 4), max: known(bytes).max },
  }),
  strings_quote: ({ args: [text] }) => ({
    cost: price(known(text), TRAVERSAL),
    // Upstream does not stop at the largest number here: twice the largest and two is nothing.
    size: { min: known(text).min + 2, max: known(text).max >= MAX ? 0 : cap(known(text).max * 2 + 2) },
  }),
  starts_with_string: ({ args: [text] }) => ({ cost: price(known(text), TRAVERSAL) }),
  ends_with_string: ({ args: [text] }) => ({ cost: price(known(text), TRAVERSAL) }),
  in_list: ({ args: [, list] }) => ({ cost: known(list).max }),
  matches_string: ({ target, args: [pattern] }) => ({
    cost: cap(price(plus(known(target), fixed(1)), TRAVERSAL) * price(known(pattern), PATTERN)),
  }),
  contains_string: ({ target, args: [part] }) => ({
    cost: cap(price(known(target), TRAVERSAL) * price(known(part), TRAVERSAL)),
  }),
  add_string: added(true),
  add_bytes: added(true),
  add_list: added(false),
  equals: least,
  not_equals: least,
};
for (const order of ['less', 'greater', 'less_equals', 'greater_equals']) {
  AFTER[`${order}_string`] = least;
  AFTER[`${order}_bytes`] = least;
}

export function estimateCall(
  name: string,
  overload: string,
  target: CostNode | undefined,
  args: CostNode[],
  sizeOf: (node: CostNode) => Size | undefined,
): CallEstimate {
  const context: Context = { overload, target, args, sizeOf: (node) => sizeOf(node) ?? UNKNOWN };
  return BEFORE[overload]?.(context) ?? BY_FUNCTION[name]?.(context) ?? AFTER[overload]?.(context) ?? { cost: 1 };
}
