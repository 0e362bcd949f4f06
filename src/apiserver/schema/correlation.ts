/**
 * Which part of an old value stands opposite a part of the new one, and whether it is the same; both along the schema
 * (k8s.io/apiserver/pkg/cel/common/equality.go). What has no schema cannot be matched, so it never counts as unchanged.
 */
import { deepEqual } from './equal.ts';
import { fieldSchema } from './prune.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

/** No old value stands opposite: a new field, a list without keys. Distinct from null. */
export const NONE = Symbol('none');

/** The element of the old list with the same keys; lists without keys have no memory of their elements. */
export function sameKey(list: unknown[], item: unknown, keys: string[]): unknown {
  if (!isMap(item) || keys.length === 0 || !keys.every((key) => isScalar(item[key]))) return NONE;
  if (list.length > LINEAR) return indexOf(list, keys).get(keyText(item, keys)) ?? NONE;
  for (const candidate of list) {
    if (isMap(candidate) && keys.every((key) => candidate[key] === item[key])) return candidate;
  }
  return NONE;
}

/** Longer lists are looked up by key, else matching two of them would be quadratic. */
const LINEAR = 16;
const indexes = new WeakMap<unknown[], Map<string, Json>>();

function indexOf(list: unknown[], keys: string[]): Map<string, Json> {
  let index = indexes.get(list);
  if (index === undefined) {
    index = new Map();
    for (const item of list) {
      if (!isMap(item)) continue;
      const text = keyText(item, keys);
      if (!index.has(text)) index.set(text, item);
    }
    indexes.set(list, index);
  }
  return index;
}

function keyText(item: Json, keys: string[]): string {
  return JSON.stringify(keys.map((key) => item[key]));
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== 'object';
}

export function unchanged(value: unknown, old: unknown, schema: Schema): boolean {
  if (typeof value !== 'object' || typeof old !== 'object' || value === null || old === null) return value === old;
  if (Array.isArray(value)) return Array.isArray(old) && unchangedList(value, old, schema);
  if (Array.isArray(old)) return false;
  const keys = Object.keys(value);
  if (keys.length !== Object.keys(old).length) return false;
  return keys.every((key) => {
    const field = fieldSchema(schema, key);
    return field !== undefined && Object.hasOwn(old, key) && unchanged((value as Json)[key], (old as Json)[key], field);
  });
}

function unchangedList(value: unknown[], old: unknown[], schema: Schema): boolean {
  if (value.length !== old.length) return false;
  const items = schema.items;
  if (schema['x-kubernetes-list-type'] !== 'map' || items === undefined) return deepEqual(value, old);
  return value.every((item) => {
    const peer = sameKey(old, item, schema['x-kubernetes-list-map-keys'] ?? []);
    return peer !== NONE && unchanged(item, peer, items);
  });
}
