/**
 * Built-in kinds are Go structs upstream: nested structs are there even when empty, and nulls are not. Our objects are
 * plain JSON, so where that shows (in who owns what) they are looked at as Go would have them.
 */
import { assign } from '../json.ts';
import type { Type } from './type.ts';
import { childType, get, isMap, type JsonMap } from './value.ts';

/** The value with every field that is always there. Returns the value itself when nothing is missing. */
export function fillStructs(type: Type, value: unknown): unknown {
  if (Array.isArray(value)) {
    const item = type.list?.item;
    return item ? mapped(value, (child) => fillStructs(item, child)) : value;
  }
  const { map } = type;
  if (!isMap(value) || !map) return value;
  let out: JsonMap | undefined;
  for (const key in value) {
    const child = value[key];
    const filled = fillStructs(childType(map, key), child);
    if (filled === child) continue;
    out ??= { ...value };
    assign(out, key, filled);
  }
  for (const [key, field] of map.always) {
    if (get(value, key) !== undefined) continue;
    out ??= { ...value };
    out[key] = fillStructs(field.type, field.absent);
  }
  return out ?? value;
}

function mapped(list: unknown[], change: (item: unknown) => unknown): unknown[] {
  const out = list.map(change);
  return out.some((item, i) => item !== list[i]) ? out : list;
}

/** Takes nulls out of typed fields, in place: decoding into a struct loses them. */
export function dropNulls(type: Type, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) if (type.list) dropNulls(type.list.item, item);
  } else if (isMap(value) && type.map && !type.map.deduced) {
    for (const key of Object.keys(value)) {
      if (value[key] === null) delete value[key];
      else dropNulls(childType(type.map, key), value[key]);
    }
  }
}
