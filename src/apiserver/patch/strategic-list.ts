/** Lists in a strategic merge patch: items merged by key or value, and put in the order the patch asks for. */

import type { Schema } from '../schema/schema.ts';
import type { ApiError } from '../status.ts';
import { goKind, goPlain } from './go-value.ts';
import { plainError, unprocessable } from './patch-error.ts';
import {
  badType,
  DIRECTIVE,
  isMap,
  type JsonMap,
  type PatchMeta,
  patchMetaOf,
  SET_ORDER,
  targetOf,
  withoutDirectives,
} from './strategic-meta.ts';

/** Merges two maps; lists and maps contain each other, so whoever merges lists says how. */
export type MergeMaps = (original: JsonMap, patch: JsonMap, schema: Schema | undefined) => JsonMap;

/** Both lists are ours to change. `deletes`: the patch lists scalars to take out. */
export function mergeLists(
  original: unknown[],
  patch: unknown[],
  meta: PatchMeta,
  deletes: boolean,
  mergeMaps: MergeMaps,
): unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  const kind = itemKind(original, patch);
  if (kind !== 'map') {
    if (deletes) return original.filter((item) => !patch.includes(item));
    return arrange(deduplicate([...original, ...patch]), patch, original, meta.mergeKey, kind);
  }
  const { mergeKey } = meta;
  if (!mergeKey) throw plainError(`cannot merge lists without merge key for ${meta.inner?.type ?? 'Struct'}`);
  const special = takeSpecial(original as JsonMap[], patch as JsonMap[], mergeKey);
  const merged = [...special.original];
  for (const item of special.patch) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const at = find(merged, mergeKey, item[mergeKey]);
    if (at < 0) merged.push(item);
    else merged[at] = mergeMaps(merged[at] as JsonMap, item, meta.inner);
  }
  return arrange(merged, special.patch, special.original, mergeKey, kind);
}

/** Items with a directive: `delete` takes the item out, one `replace` makes the patch the whole list. */
function takeSpecial(
  original: JsonMap[],
  patch: JsonMap[],
  mergeKey: string,
): { original: JsonMap[]; patch: JsonMap[] } {
  const ordinary: JsonMap[] = [];
  let kept = original;
  let replace = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, DIRECTIVE)) {
      ordinary.push(item);
      continue;
    }
    switch (item[DIRECTIVE]) {
      case 'delete':
        if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
        kept = kept.filter((other) => other[mergeKey] !== item[mergeKey]);
        break;
      case 'replace':
        replace = true;
        break;
      case 'merge':
        throw plainError('merging lists cannot yet be specified in the patch');
      default:
        throw plainError(`unknown patch type: ${goPlain(item[DIRECTIVE])} in map: ${goPlain(item)}`);
    }
  }
  return replace ? { original: ordinary, patch: [] } : { original: kept, patch: ordinary };
}

/** Carries out every `$setElementOrder/x` together with the patch's list x, and takes both out of the patch. */
export function orderLists(original: JsonMap, patch: JsonMap, schema: Schema | undefined, mergeMaps: MergeMaps): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(SET_ORDER)) continue;
    const order = patch[directive];
    delete patch[directive];
    if (!Array.isArray(order)) throw badType('list', order);
    const key = targetOf(directive, SET_ORDER);
    const live = Object.hasOwn(original, key) ? original[key] : undefined;
    const change = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (live !== undefined && !Array.isArray(live)) throw badType('list', live);
    if (change !== undefined && !Array.isArray(change)) throw badType('list', change);
    const meta = patchMetaOf(schema, key);
    checkOrder(change ?? [], order, meta.mergeKey);
    const merged = mergedList(live, change, meta, mergeMaps);
    if (!merged) continue;
    const before = [...(live ?? [])];
    const kind = itemKind(before, change ?? []);
    original[key] = arrange(merged, order, before, meta.mergeKey, kind);
    delete patch[key];
  }
}

function mergedList(
  live: unknown[] | undefined,
  change: unknown[] | undefined,
  meta: PatchMeta,
  mergeMaps: MergeMaps,
): unknown[] | undefined {
  if (!change) return live;
  if (!live) return withoutDirectives(change) as unknown[];
  return meta.strategy === 'merge' ? mergeLists([...live], change, meta, false, mergeMaps) : change;
}

/** The items of the patch must occur in `$setElementOrder`, in the same order. */
function checkOrder(patch: unknown[], order: unknown[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const items = mergeKey ? patch.filter((item) => !isDeletion(item)) : patch;
  let next = 0;
  for (const wanted of order) {
    while (next < items.length && isMap(items[next]) && Object.hasOwn(items[next] as JsonMap, DIRECTIVE)) next++;
    if (next < items.length && sameItem(items[next], wanted, mergeKey)) next++;
  }
  if (next < items.length) {
    throw plainError(
      `The order in patch list:\n${goPlain(patch)}\n doesn't match ${SET_ORDER} list:\n${goPlain(order)}\n`,
    );
  }
}

function isDeletion(item: unknown): boolean {
  if (!isMap(item)) throw badType('map', item);
  return item[DIRECTIVE] === 'delete';
}

function sameItem(item: unknown, other: unknown, mergeKey: string): boolean {
  if (!mergeKey) return item === other;
  for (const map of [item, other]) {
    if (!isMap(map)) throw badType('map', map);
    if (!Object.hasOwn(map, mergeKey)) throw noMergeKey(map, mergeKey);
  }
  return (item as JsonMap)[mergeKey] === (other as JsonMap)[mergeKey];
}

/**
 * Items the order names come in its order, the others keep the live order; both are interleaved so that an item only
 * the server has stays before what it stood before.
 */
function arrange(merged: unknown[], order: unknown[], live: unknown[], mergeKey: string, kind: string): unknown[] {
  const named: unknown[] = [];
  const others: unknown[] = [];
  for (const item of merged) (isIn(order, item, mergeKey) ? named : others).push(item);
  const position = (list: unknown[], item: unknown) => {
    const value = kind === 'map' ? (item as JsonMap)[mergeKey] : item;
    return kind === 'map' ? find(list, mergeKey, value) : list.indexOf(value);
  };
  sortBy(named, (item) => position(order, item));
  sortBy(others, (item) => position(live, item));
  const out: unknown[] = [];
  let i = 0;
  for (const item of named) {
    const at = position(live, item);
    while (i < others.length && at >= 0) {
      const other = position(live, others[i]);
      if (other < 0 || other >= at) break;
      out.push(others[i++]);
    }
    out.push(item);
  }
  return [...out, ...others.slice(i)];
}

function isIn(order: unknown[], item: unknown, mergeKey: string): boolean {
  if (!mergeKey) return order.includes(item);
  if (!isMap(item)) throw badType('map', item);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return find(order, mergeKey, item[mergeKey]) >= 0;
}

/** Items without a rank go to the front, one by one, as upstream's comparison makes them. */
function sortBy(list: unknown[], rank: (item: unknown) => number): void {
  const ranked: { item: unknown; rank: number }[] = [];
  for (const item of list) {
    const own = rank(item);
    let at = ranked.length;
    while (at > 0 && isBefore(own, (ranked[at - 1] as { rank: number }).rank)) at--;
    ranked.splice(at, 0, { item, rank: own });
  }
  list.splice(0, list.length, ...ranked.map(({ item }) => item));
}

function isBefore(a: number, b: number): boolean {
  return a < 0 || b < 0 || a < b;
}

function find(list: unknown[], mergeKey: string, value: unknown): number {
  return list.findIndex((item, i) => {
    if (!isMap(item)) throw plainError(`value for key ${i} is not a map`);
    return Object.hasOwn(item, mergeKey) && item[mergeKey] === value;
  });
}

/** Upstream puts the last item in place of a repeated one instead of closing the gap; the order is settled later. */
function deduplicate(list: unknown[]): unknown[] {
  return [...new Set(list)];
}

/** All items must be of one kind, and none a list. */
function itemKind(...lists: unknown[][]): string {
  let kind: string | undefined;
  for (const item of lists.flat()) {
    const own = goKind(item);
    if (own === 'slice') throw unprocessable();
    if (kind !== undefined && kind !== own) {
      throw plainError(`list element types are not identical: [${lists.map(goPlain).join(' ')}]`);
    }
    kind = own;
  }
  if (kind === undefined) throw plainError('no elements in any of the given slices');
  return kind;
}

function noMergeKey(map: JsonMap, mergeKey: string): ApiError {
  return plainError(`map: ${goPlain(map)} does not contain declared merge key: ${mergeKey}`);
}
