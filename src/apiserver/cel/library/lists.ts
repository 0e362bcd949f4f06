/** Kubernetes' list functions and the `sets` extension. */
import type { Library } from '../engine.ts';
import { chargeElements } from '../meter.ts';

type List = unknown[] | Set<unknown>;

export function array(list: List): unknown[] {
  return Array.isArray(list) ? list : [...list];
}

/** CEL equality of plain values; integers and doubles compare by value. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' || typeof b === 'bigint') {
    // biome-ignore lint/suspicious/noDoubleEquals: 1 and 1.0 are equal in CEL
    return typeof a !== 'object' && typeof b !== 'object' && a == b;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((v) => b.has(v));
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([k, v]) => b.has(k) && sameValue(v, b.get(k)));
  }
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => sameValue(v, b[i]));
  if (a.constructor !== b.constructor) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return keys.length === 0 && String(a) === String(b);
  if (keys.length === 0) return String(a) === String(b);
  return keys.every((k) => Object.hasOwn(b, k) && sameValue((a as never)[k], (b as never)[k]));
}

function less(a: unknown, b: unknown): boolean {
  return (a as number) < (b as number);
}

export function registerLists(library: Library): void {
  const extreme = (name: string, better: (a: unknown, b: unknown) => boolean) => (list: List) => {
    const [first, ...rest] = array(list);
    if (first === undefined) return library.fail(`${name} called on empty list`);
    return rest.reduce((best, value) => (better(value, best) ? value : best), first);
  };
  library
    .add('list<T>.isSorted(): bool', (list: List) => array(list).every((v, i, all) => i === 0 || !less(v, all[i - 1])))
    .add('list<T>.min(): T', extreme('min', less))
    .add(
      'list<T>.max(): T',
      extreme('max', (a, b) => less(b, a)),
    )
    .add('list<int>.sum(): int', (list: bigint[]) => list.reduce((sum, v) => sum + v, 0n))
    .add('list<double>.sum(): double', (list: number[]) => list.reduce((sum, v) => sum + v, 0))
    .add(
      'list<google.protobuf.Duration>.sum(): google.protobuf.Duration',
      (list: { addDuration(d: unknown): unknown }[]) =>
        list.reduce((sum: unknown, v) => v.addDuration(sum), new library.cel.Duration(0n as never)),
    )
    .add('list<T>.indexOf(T): int', (list: List, value) => BigInt(array(list).findIndex((v) => sameValue(v, value))))
    .add('list<T>.lastIndexOf(T): int', (list: List, value) =>
      BigInt(array(list).findLastIndex((v) => sameValue(v, value))),
    );
  const slice = (list: List, from: bigint, to: bigint) => {
    const all = array(list);
    if (from < 0n || to < from || to > BigInt(all.length)) {
      return library.fail(`cannot slice(${from}, ${to}), list is length ${all.length}`);
    }
    return all.slice(Number(from), Number(to));
  };
  const flatten = (list: List, depth = 1n) => array(list).flat(Number(depth));
  library
    .add('list<T>.slice(int, int): list<T>', slice)
    .add('list.flatten(): list', (list: List) => flatten(list))
    .add('list.flatten(int): list', flatten)
    .add('list<T>.sort(): list<T>', (list: List) =>
      array(list).toSorted((a, b) => (less(a, b) ? -1 : less(b, a) ? 1 : 0)),
    )
    .add('list<T>.reverse(): list<T>', (list: List) => array(list).toReversed())
    .add('list<T>.distinct(): list<T>', (list: List) =>
      array(list).filter((v, i, all) => {
        chargeElements(i);
        return all.findIndex((u) => sameValue(u, v)) === i;
      }),
    );
  library.namespace('lists', {
    'range(int): list<int>': (size: bigint) => {
      chargeElements(Number(size));
      return Array.from({ length: Number(size) }, (_, i) => BigInt(i));
    },
  });
  const has = (list: List, value: unknown) => {
    const all = array(list);
    chargeElements(all.length);
    return all.some((v) => sameValue(v, value));
  };
  library.namespace('sets', {
    'contains(list, list): bool': (a: List, b: List) => array(b).every((v) => has(a, v)),
    'intersects(list, list): bool': (a: List, b: List) => array(b).some((v) => has(a, v)),
    'equivalent(list, list): bool': (a: List, b: List) =>
      array(a).every((v) => has(b, v)) && array(b).every((v) => has(a, v)),
  });
}
