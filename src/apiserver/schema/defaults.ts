/**
 * Filling in a schema's defaults, in place. A null where null is not allowed counts as absent: it is replaced by the
 * default, or dropped where there is none. Follows apiextensions-apiserver/pkg/apiserver/schema/defaulting.
 */
import { assign, clone } from '../json.ts';
import { fieldSchema } from './prune.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

export function applyDefaults(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return;
  dropNulls(value, schema);
  fill(value, schema);
}

/** Removes nulls that are neither allowed nor defaultable. */
export function dropNulls(value: unknown, schema: Schema | undefined): void {
  if (typeof value !== 'object' || value === null || schema === undefined) return;
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) dropNulls(item, schema.items);
    return;
  }
  const object = value as Json;
  for (const key in object) {
    const field = fieldSchema(schema, key);
    if (field === undefined) continue;
    const child = object[key];
    if (child === null) {
      if (field.nullable !== true && isAbsent(field.default)) delete object[key];
    } else if (typeof child === 'object') dropNulls(child, field);
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function fill(value: unknown, schema: Schema): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return;
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && items.nullable !== true && !isAbsent(items.default)) value[i] = clone(items.default);
      fill(value[i], items);
    }
    return;
  }
  const object = value as Json;
  const properties = schema.properties;
  if (properties !== undefined) {
    for (const key in properties) {
      const property = properties[key] as Schema;
      if (isAbsent(property.default)) continue;
      // Only what is its own: `constructor` is a fine name for a field.
      const current = Object.hasOwn(object, key) ? object[key] : undefined;
      if (current === undefined || (current === null && property.nullable !== true)) {
        assign(object, key, clone(property.default));
      }
    }
  }
  for (const key in object) {
    const field = fieldSchema(schema, key);
    if (field === undefined) continue;
    const child = object[key];
    if (child === null && field.nullable !== true && !isAbsent(field.default))
      assign(object, key, clone(field.default));
    if (typeof object[key] === 'object') fill(object[key], field);
  }
}
