/** Taking fields out of an object (structured-merge-diff typed/remove.go, fieldpath/set.go). */
import { assign } from '../json.ts';
import { below, type FieldSet, hasChildren, LEAF, memberAt } from './field-set.ts';
import { type ListType, type MapType, NOTHING, type Type } from './type.ts';
import { childElement, childType, isMap, type JsonMap, shapeOf, tryItemElement } from './value.ts';

/** The object without the members of `set`; what is left empty becomes null, as upstream has it. */
export function removeItems(type: Type, value: JsonMap, set: FieldSet): JsonMap {
  return (remove(type, value, set) ?? {}) as JsonMap;
}

function remove(type: Type, value: unknown, set: FieldSet): unknown {
  switch (shapeOf(type, value)) {
    case 'scalar':
      return value;
    case 'map':
      return isMap(value) && !(type.map as MapType).atomic ? removeFromMap(type.map as MapType, value, set) : null;
    case 'list':
      return Array.isArray(value) && (type.list as ListType).associative
        ? removeFromList(type.list as ListType, value, set)
        : null;
    default:
      return null;
  }
}

function removeFromMap(map: MapType, value: JsonMap, set: FieldSet): JsonMap | null {
  const out: JsonMap = {};
  let empty = true;
  for (const key in value) {
    const child = value[key];
    const element = childElement(map.fields.get(key), key);
    if (child === undefined || memberAt(set, element)) continue;
    const inner = below(set, element);
    assign(out, key, hasChildren(inner) ? remove(childType(map, key), child, inner) : child);
    empty = false;
  }
  return empty ? null : out;
}

function removeFromList(list: ListType, items: unknown[], set: FieldSet): unknown[] | null {
  const out: unknown[] = [];
  for (const item of items) {
    const element = tryItemElement(list, item) ?? '';
    if (memberAt(set, element)) continue;
    const inner = below(set, element);
    out.push(hasChildren(inner) ? remove(list.item, item, inner) : item);
  }
  return out.length > 0 ? out : null;
}

/** The set with every named field on the way to a member as a member, too: who owns all of it, owns it. */
export function withNamedFields(type: Type, set: FieldSet): FieldSet {
  const out: FieldSet = {};
  for (const element in set) {
    const child = set[element] as FieldSet;
    if (element === '.') {
      out['.'] = LEAF;
      continue;
    }
    if (!hasChildren(child)) {
      out[element] = child;
      continue;
    }
    const name = element.slice(2);
    const isField = element.startsWith('f:') && type.map !== undefined;
    let inner: Type = NOTHING;
    if (isField) inner = childType(type.map as MapType, name);
    else if (element.startsWith('k:') && type.list) inner = type.list.item;
    const node = withNamedFields(inner, child);
    out[element] = isField && (type.map as MapType).fields.has(name) && !node['.'] ? { '.': LEAF, ...node } : node;
  }
  return out;
}
