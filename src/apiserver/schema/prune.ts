/**
 * Removing what a schema does not name. Works in place along the value (schemas of built-in kinds are cyclic) and
 * returns the removed paths in upstream's form (`spec.list[0].bar`), ready for field validation messages.
 * Follows apiextensions-apiserver/pkg/apiserver/schema/pruning and objectmeta (metadata is typed, never free).
 */

import { objectMetaSchema } from './object-meta.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const EMBEDDED = 'x-kubernetes-embedded-resource';

/**
 * Prunes a value by its schema: part of a custom resource, or a whole object of a built-in kind (whose schema types
 * metadata too). Paths come in the order of the document, as Go's decoder reports them.
 */
export function prune(value: unknown, schema: Schema | undefined): string[] {
  const removed: string[] = [];
  walk(value, schema, false, '', removed);
  return removed;
}

/** Prunes a custom resource: apiVersion, kind and metadata need not be in its schema; metadata is held to ObjectMeta. Paths are sorted. */
export function pruneResource(object: object, schema: Schema | undefined): string[] {
  const removed: string[] = [];
  walk(object, schema ?? {}, true, '', removed);
  return removed.length > 1 ? removed.sort() : removed;
}

function isMeta(key: string): boolean {
  return key === 'metadata' || key === 'apiVersion' || key === 'kind';
}

export function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** The schema of an object's field: a named property, else additionalProperties, else none. */
export function fieldSchema(schema: Schema, key: string): Schema | undefined {
  const properties = schema.properties;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  const rest = schema.additionalProperties;
  return typeof rest === 'object' ? rest : undefined;
}

function walk(value: unknown, schema: Schema | undefined, resource: boolean, path: string, removed: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const preserve = schema?.[PRESERVE] === true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i];
      if (typeof item !== 'object' || item === null) continue;
      // Below a preserving list without items everything stays (skipPrune upstream).
      if (preserve && schema?.items === undefined) continue;
      walk(item, preserve ? preserving(schema?.items) : schema?.items, false, `${path}[${i}]`, removed);
    }
    return;
  }
  const object = value as Json;
  const embedded = resource || schema?.[EMBEDDED] === true;
  for (const key in object) {
    if (embedded && isMeta(key)) {
      if (key === 'metadata') walk(object.metadata, objectMetaSchema, false, childPath(path, key), removed);
      continue;
    }
    const field = schema === undefined ? undefined : fieldSchema(schema, key);
    // Under `additionalProperties: true` keys stay, but nothing says what is below them: objects come out empty.
    if (field !== undefined || schema?.additionalProperties === true) {
      const child = object[key];
      if (typeof child === 'object' && child !== null) walk(child, field, false, childPath(path, key), removed);
    } else if (!preserve) {
      removed.push(childPath(path, key));
      delete object[key];
    }
  }
}

/** Items of a preserving list are themselves walked in preserving mode; cached per items schema. */
const preservingItems = new WeakMap<Schema, Schema>();
function preserving(items: Schema | undefined): Schema | undefined {
  if (items === undefined || items[PRESERVE]) return items;
  let copy = preservingItems.get(items);
  if (copy === undefined) {
    copy = { ...items, [PRESERVE]: true };
    preservingItems.set(items, copy);
  }
  return copy;
}
