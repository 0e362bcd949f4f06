/** A value and all that is in it, as a set: what an addition or a removal as a whole comes to. */
import { chargeWork } from '../allowance.ts';
import { FIELD_WORK, type FieldSet, LEAF } from './field-set.ts';
import type { ListType, MapType, Type } from './type.ts';
import { childElement, childType, get, isMap, type JsonMap, shapeOf, tryItemElement } from './value.ts';

/** The node for a value: itself and, unless it is one indivisible value, everything below. */
export function everything(type: Type, value: unknown): FieldSet {
  const shape = shapeOf(type, value);
  if (shape === 'map' && isMap(value)) return everythingInMap(type.map as MapType, value);
  if (shape === 'list' && Array.isArray(value)) return everythingInList(type.list as ListType, value);
  return LEAF;
}

function everythingInMap(map: MapType, value: JsonMap): FieldSet {
  if (map.atomic) return LEAF;
  let out: FieldSet | undefined;
  for (const key in value) {
    chargeWork(FIELD_WORK);
    const child = value[key];
    if (child === undefined) continue;
    out ??= { '.': LEAF };
    out[childElement(map.fields.get(key), key)] = everything(childType(map, key), child);
  }
  for (const [key, field] of map.always) {
    if (get(value, key) !== undefined) continue;
    out ??= { '.': LEAF };
    out[field.element] = everything(field.type, field.absent);
  }
  return out ?? LEAF;
}

function everythingInList(list: ListType, items: unknown[]): FieldSet {
  if (!list.associative || items.length === 0) return LEAF;
  const out: FieldSet = { '.': LEAF };
  for (const item of items) {
    chargeWork(FIELD_WORK);
    const element = tryItemElement(list, item);
    if (element !== undefined) out[element] = out[element] ? LEAF : everything(list.item, item);
  }
  return out;
}
