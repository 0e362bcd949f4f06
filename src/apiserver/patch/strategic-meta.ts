/** What a schema says about merging one field, and the directives a strategic merge patch may hold. */
import type { Schema } from '../schema/schema.ts';
import { type ApiError, badRequest } from '../status.ts';
import { goType } from './go-value.ts';
import { plainError } from './patch-error.ts';

export type JsonMap = Record<string, unknown>;

export const DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
export const SET_ORDER = '$setElementOrder';

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface PatchMeta {
  /** `merge`, `replace` or ''; `retainKeys` only matters to those who make patches. */
  strategy: string;
  mergeKey: string;
  /** Schema of the field, or of the items of a list. */
  inner: Schema | undefined;
}

/** Unknown fields merge like fields without a strategy: what is unknown is pruned or refused elsewhere. */
export function patchMetaOf(schema: Schema | undefined, key: string): PatchMeta {
  const resolved = resolve(schema);
  const properties = resolved?.properties;
  let found = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (!found && typeof resolved?.additionalProperties === 'object') found = resolved.additionalProperties;
  const field = resolve(found);
  const strategies = (found?.['x-kubernetes-patch-strategy'] ?? field?.['x-kubernetes-patch-strategy'] ?? '').split(
    ',',
  );
  return {
    strategy: strategies.find((strategy) => strategy !== 'retainKeys') ?? '',
    mergeKey: found?.['x-kubernetes-patch-merge-key'] ?? field?.['x-kubernetes-patch-merge-key'] ?? '',
    inner: resolve(field?.type === 'array' || field?.items ? field.items : field),
  };
}

/** `allOf: [x]` is how OpenAPI v3 writes a reference with words of its own. */
function resolve(schema: Schema | undefined): Schema | undefined {
  return schema && !schema.type && !schema.properties && schema.allOf?.length === 1 ? schema.allOf[0] : schema;
}

/** `$deleteFromPrimitiveList/finalizers` → `finalizers`. */
export function targetOf(key: string, prefix: string): string {
  const slash = key.indexOf('/');
  if (slash !== prefix.length) {
    const what = prefix === SET_ORDER ? 'setElementOrder list' : 'primitive list';
    throw badRequest(`invalid patch format of ${what}`);
  }
  return key.slice(slash + 1);
}

export function badType(expected: 'list' | 'map', actual: unknown): ApiError {
  return plainError(
    `expected a ${expected === 'list' ? '[]interface {}' : 'map[string]interface {}'}, but received a ${goType(actual)}`,
  );
}

/** Drops null fields at any depth, in place: there is nothing they could delete. */
export function withoutNulls(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) withoutNulls(item);
  } else if (isMap(value)) {
    for (const key of Object.keys(value)) {
      if (value[key] === null) delete value[key];
      else withoutNulls(value[key]);
    }
  }
}

/** The value without maps that only carry a directive; undefined if it is such a map. Changes it in place. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isMap(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key]);
    if (kept === undefined) delete value[key];
    else value[key] = kept;
  }
  return value;
}
