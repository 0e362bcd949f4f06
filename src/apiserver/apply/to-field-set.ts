/**
 * The fields a configuration mentions: what its applier comes to own (structured-merge-diff typed/tofieldset.go).
 * Named fields are owned through what is in them; keys of maps and items of lists also for themselves.
 */
import { chargeWork } from '../allowance.ts';
import { FIELD_WORK, type FieldSet, isEmpty, LEAF } from './field-set.ts';
import type { ListType, MapType, Type } from './type.ts';
import { childElement, childType, isMap, type JsonMap, shapeOf, tryItemElement } from './value.ts';

export function toFieldSet(type: Type, value: JsonMap): FieldSet {
  const set: FieldSet = {};
  if (type.map && !type.map.atomic) addMap(type.map, value, set);
  return set;
}

/** The node for a value; undefined when it holds nothing to own. `self`: it is owned for itself, too. */
function nodeOf(type: Type, value: unknown, self: boolean): FieldSet | undefined {
  const node: FieldSet = {};
  switch (shapeOf(type, value)) {
    case 'map': {
      const map = type.map as MapType;
      if (map.atomic) return LEAF;
      if (isMap(value)) addMap(map, value, node);
      break;
    }
    case 'list': {
      const list = type.list as ListType;
      if (!list.associative) return LEAF;
      if (Array.isArray(value)) addList(list, value, node);
      break;
    }
    case 'scalar':
      return LEAF;
  }
  if (isEmpty(node)) return self ? LEAF : undefined;
  return self ? { '.': LEAF, ...node } : node;
}

function addMap(map: MapType, value: JsonMap, set: FieldSet): void {
  for (const key in value) {
    chargeWork(FIELD_WORK);
    const child = value[key];
    if (child === undefined) continue;
    const field = map.fields.get(key);
    const self = !field || child === null || (isMap(child) && isEmpty(child as FieldSet));
    const node = nodeOf(childType(map, key), child, self);
    if (node) set[childElement(field, key)] = node;
  }
}

function addList(list: ListType, items: unknown[], set: FieldSet): void {
  for (const item of items) {
    chargeWork(FIELD_WORK);
    const element = tryItemElement(list, item);
    if (element === undefined) continue;
    // What occurs twice is one opaque thing.
    set[element] = set[element] ? LEAF : (nodeOf(list.item, item, true) as FieldSet);
  }
}
