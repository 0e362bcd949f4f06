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
    if (deletes) {
      const gone = new Set(patch);
      return original.filter((item) => !gone.has(item));
    }
    return arrange(deduplicate([...original, ...patch]), patch, original, meta.mergeKey, kind);
  }
  const { mergeKey } = meta;
  if (!mergeKey) throw plainError(`cannot merge lists without merge key for ${meta.inner?.type ?? 'Struct'}`);
  const special = takeSpecial(original as JsonMap[], patch as JsonMap[], mergeKey);
  const merged = [...special.original];
  const known = positions(merged, mergeKey);
  for (const item of special.patch) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const at = known.get(item[mergeKey]);
    if (at === undefined) known.set(item[mergeKey], merged.push(item) - 1);
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
  const deleted = new Set<unknown>();
  let replace = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, DIRECTIVE)) {
      ordinary.push(item);
      continue;
    }
    switch (item[DIRECTIVE]) {
      case 'delete':
        if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
        deleted.add(item[mergeKey]);
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
  if (replace) return { original: ordinary, patch: [] };
  const isKept = (item: JsonMap) => !(Object.hasOwn(item, mergeKey) && deleted.has(item[mergeKey]));
  return { original: original.filter(isKept), patch: ordinary };
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
  const key = mergeKey || kind === 'map' ? mergeKey : undefined;
  const inOrder = positions(order, key);
  const inLive = positions(live, key);
  const identityOf = (item: unknown) => (key === undefined ? item : keyValue(item, key));
  const isNamed = (item: unknown) => inOrder.has(identityOf(item));
  const named = sortBy(merged.filter(isNamed), (item) => inOrder.get(identityOf(item)));
  const others = sortBy(
    merged.filter((item) => !isNamed(item)),
    (item) => inLive.get(identityOf(item)),
  );
  const out: unknown[] = [];
  let i = 0;
  for (const item of named) {
    const at = inLive.get(identityOf(item)) ?? -1;
    while (i < others.length && (inLive.get(identityOf(others[i])) ?? at) < at) out.push(others[i++]);
    out.push(item);
  }
  return [...out, ...others.slice(i)];
}

function keyValue(item: unknown, mergeKey: string): unknown {
  if (!isMap(item)) throw badType('map', item);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

/** Where each key (or scalar, without one) first occurs. */
function positions(list: unknown[], mergeKey: string | undefined): Map<unknown, number> {
  const found = new Map<unknown, number>();
  list.forEach((item, i) => {
    const value = mergeKey === undefined ? item : keyValue(item, mergeKey);
    if (!found.has(value)) found.set(value, i);
  });
  return found;
}

interface Ranked {
  item: unknown;
  /** -1: none. */
  rank: number;
}

/** Items without a rank go to the front one by one, as upstream's comparison makes them in lists of up to 20 items. */
function sortBy(list: unknown[], rank: (item: unknown) => number | undefined): unknown[] {
  const ranked: Ranked[] = list.map((item) => ({ item, rank: rank(item) ?? -1 }));
  if (ranked.length <= 20 && ranked.some((each) => each.rank < 0)) insertionSort(ranked);
  else ranked.sort((a, b) => a.rank - b.rank);
  return ranked.map(({ item }) => item);
}

function insertionSort(ranked: Ranked[]): void {
  for (let i = 1; i < ranked.length; i++) {
    const one = ranked[i] as Ranked;
    let at = i;
    while (at > 0 && isBefore(one.rank, (ranked[at - 1] as Ranked).rank)) at--;
    ranked.splice(i, 1);
    ranked.splice(at, 0, one);
  }
}

function isBefore(a: number, b: number): boolean {
  return a < 0 || b < 0 || a < b;
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
