/** What changed between two versions of an object, as sets of field paths (structured-merge-diff typed/compare.go). */
import { chargeWork } from '../allowance.ts';
import { equal } from '../json.ts';
import { everything } from './everything.ts';
import { FIELD_WORK, type FieldSet, isEmpty, LEAF } from './field-set.ts';
import type { ListType, MapType, Type } from './type.ts';
import { childElement, childType, get, isMap, type JsonMap, type Shape, shapesOf, tryItemElement } from './value.ts';

export interface Comparison {
  removed: FieldSet;
  modified: FieldSet;
  added: FieldSet;
}

export function isSame({ removed, modified, added }: Comparison): boolean {
  return isEmpty(removed) && isEmpty(modified) && isEmpty(added);
}

export function compare(type: Type, left: JsonMap, right: JsonMap): Comparison {
  const out: Comparison = { removed: {}, modified: {}, added: {} };
  if (left !== right && type.map) compareMaps(type.map, left, right, out);
  return out;
}

/** Compares two present values at `element` of their parent, whose comparison is `out`. */
function compareValues(type: Type, left: unknown, right: unknown, element: string, out: Comparison): void {
  if (left === right) return;
  const [first, second] = shapesOf(type, left, right);
  if (first) compareAs(first, type, left, right, element, out);
  compareAs(second, type, left, right, element, out);
}

/** Most of an object is equal most of the time, and finding that out first is several times cheaper. */
function compareAs(
  shape: Shape | undefined,
  type: Type,
  left: unknown,
  right: unknown,
  element: string,
  out: Comparison,
): void {
  if (shape === 'map') {
    const map = type.map as MapType;
    const l = isMap(left) ? left : undefined;
    const r = isMap(right) ? right : undefined;
    if (!map.atomic && !((!l || isEmptyMap(l)) && (!r || isEmptyMap(r)))) {
      if (equal(left, right)) return;
      const inner: Comparison = { removed: {}, modified: {}, added: {} };
      compareMaps(map, l ?? EMPTY, r ?? EMPTY, inner);
      attach(inner, element, out);
      return;
    }
  } else if (shape === 'list') {
    const list = type.list as ListType;
    const l = Array.isArray(left) ? left : NONE;
    const r = Array.isArray(right) ? right : NONE;
    if (list.associative && l.length + r.length > 0) {
      if (equal(left, right)) return;
      const inner: Comparison = { removed: {}, modified: {}, added: {} };
      compareLists(list, l, r, inner);
      attach(inner, element, out);
      return;
    }
  }
  if (!equal(left, right)) put(out.modified, element, LEAF);
}

const EMPTY: JsonMap = Object.freeze({});
const NONE: unknown[] = [];

function isEmptyMap(map: JsonMap): boolean {
  for (const key in map) if (map[key] !== undefined) return false;
  return true;
}

/** Both shapes of a value that changed its shape may leave something at the same place. */
function put(set: FieldSet, element: string, node: FieldSet): void {
  const there = set[element];
  if (!there) set[element] = node;
  else if (isEmpty(there) !== isEmpty(node)) set[element] = { '.': LEAF, ...there, ...node };
  else set[element] = { ...there, ...node };
}

function attach(inner: Comparison, element: string, out: Comparison): void {
  if (!isEmpty(inner.removed)) put(out.removed, element, inner.removed);
  if (!isEmpty(inner.modified)) put(out.modified, element, inner.modified);
  if (!isEmpty(inner.added)) put(out.added, element, inner.added);
}

function compareMaps(map: MapType, left: JsonMap, right: JsonMap, out: Comparison): void {
  for (const key in right) {
    chargeWork(FIELD_WORK);
    const value = right[key];
    if (value === undefined) continue;
    const field = map.fields.get(key);
    const known = get(left, key);
    const old = known === undefined ? field?.absent : known;
    if (old === value) continue;
    if (old === undefined) out.added[childElement(field, key)] = everything(childType(map, key), value);
    else compareValues(childType(map, key), old, value, childElement(field, key), out);
  }
  for (const key in left) {
    const value = left[key];
    if (value === undefined || get(right, key) !== undefined) continue;
    const field = map.fields.get(key);
    if (field?.absent === undefined) out.removed[childElement(field, key)] = everything(childType(map, key), value);
    else compareValues(childType(map, key), value, field.absent, field.element, out);
  }
}

/** Items by identity; an item that occurs twice is one opaque thing until it is unique again. */
function compareLists(list: ListType, left: unknown[], right: unknown[], out: Comparison): void {
  const l = index(list, left);
  const r = index(list, right);
  for (const [element, olds] of l) {
    const news = r.get(element);
    if (!news) {
      out.removed[element] = olds.length > 1 ? LEAF : everything(list.item, olds[0]);
    } else if (olds.length === 1 && news.length === 1) {
      compareValues(list.item, olds[0], news[0], element, out);
    } else if (olds.length > 1 && news.length > 1) {
      if (!equal(olds, news)) out.modified[element] = LEAF;
    } else if (olds.length > 1) {
      out.added[element] = everything(list.item, news[0]);
      out.removed[element] = LEAF;
    } else {
      out.removed[element] = everything(list.item, olds[0]);
      out.added[element] = LEAF;
    }
  }
  for (const [element, news] of r) {
    if (!l.has(element)) out.added[element] = news.length > 1 ? LEAF : everything(list.item, news[0]);
  }
}

function index(list: ListType, items: unknown[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    chargeWork(FIELD_WORK);
    const element = tryItemElement(list, item);
    if (element === undefined) continue;
    const same = found.get(element);
    if (same) same.push(item);
    else found.set(element, [item]);
  }
  return found;
}
