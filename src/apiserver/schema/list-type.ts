/** Uniqueness promised by x-kubernetes-list-type: elements of a `set`, keys of a `map`. */
import { chargeWork } from '../allowance.ts';
import type { FieldError } from '../status.ts';
import { canonical, goJson } from './go-json.ts';
import { childPath, fieldSchema } from './prune.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

/** Making a key of one value, in units of work. */
const VALUE = 10;

export function validateListTypes(value: unknown, schema: Schema | undefined, path = ''): FieldError[] {
  const errors: FieldError[] = [];
  if (schema !== undefined) walk(value, schema, path, errors);
  return errors;
}

function walk(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const type = schema['x-kubernetes-list-type'];
    if (type === 'set') {
      for (const i of repeated(value)) errors.push(duplicate(`${path}[${i}]`, value[i]));
    } else if (type === 'map') checkKeys(value, schema['x-kubernetes-list-map-keys'] ?? [], path, errors);
    const items = schema.items;
    if (items === undefined) return;
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] === 'object' && value[i] !== null) walk(value[i], items, `${path}[${i}]`, errors);
    }
    return;
  }
  const object = value as Json;
  for (const key in object) {
    const child = object[key];
    if (typeof child !== 'object' || child === null) continue;
    const sub = fieldSchema(schema, key);
    if (sub === undefined) continue;
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    walk(child, sub, named ? childPath(path, key) : `${path}[${key}]`, errors);
  }
}

function checkKeys(list: unknown[], keys: string[], path: string, errors: FieldError[]): void {
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (item !== null && (typeof item !== 'object' || Array.isArray(item))) {
      const message = `Invalid value: ${goJson(item)}: must be an object for an array of list-type map`;
      errors.push({ type: 'FieldValueInvalid', field: `${path}[${i}]`, message });
      return;
    }
  }
  if (list.length <= 1) return;
  const picked = list.map((item) => {
    const key: Json = {};
    if (item !== null) for (const name of keys) if (Object.hasOwn(item as Json, name)) key[name] = (item as Json)[name];
    return key;
  });
  for (const i of repeated(picked)) errors.push(duplicate(`${path}[${i}]`, picked[i]));
}

function duplicate(path: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field: path, message: `Duplicate value: ${goJson(value)}` };
}

/** Indexes of the first repetition of each value that occurs more than once. */
function repeated(list: unknown[]): number[] {
  if (list.length <= 1) return [];
  const seen = new Map<string, number>();
  const indexes: number[] = [];
  for (let i = 0; i < list.length; i++) {
    chargeWork(VALUE);
    const key = canonical(list[i]);
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) indexes.push(i);
  }
  return indexes;
}
