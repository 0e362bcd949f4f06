/**
 * Strategic merge patch: a merge patch that knows which lists have keyed items, with directives for what merging
 * cannot say (apimachinery pkg/util/strategicpatch). Directives are read from the patch and never stored.
 */
import { assign, clone } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../status.ts';
import { goPlain, jsonKind } from './go-value.ts';
import { plainError } from './patch-error.ts';
import { checkRestorable } from './restorable.ts';
import { mergeLists, orderLists } from './strategic-list.ts';
import {
  DELETE_FROM_LIST,
  DIRECTIVE,
  isMap,
  type JsonMap,
  patchMetaOf,
  RETAIN_KEYS,
  SET_ORDER,
  targetOf,
  withoutDirectives,
  withoutNulls,
} from './strategic-meta.ts';

/** The patched object; shares nothing with the inputs. Throws ApiError. */
export function applyStrategicPatch(original: unknown, patch: unknown, schema: Schema): unknown {
  if (patch === null) return clone(original);
  if (!isMap(patch)) {
    const kind = jsonKind(patch);
    throw badRequest(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
  }
  // Merging consumes the patch; what is left of it is what error messages show.
  const left = clone(patch);
  const result = mergeMaps(clone(original) as JsonMap, left, schema);
  checkRestorable(result, schema, left);
  return result;
}

/** Merges `patch` into `original`; both are ours to change. */
function mergeMaps(original: JsonMap, patch: JsonMap, schema: Schema | undefined): JsonMap {
  if (Object.hasOwn(patch, DIRECTIVE)) return directed(patch);
  retainKeys(original, patch);
  orderLists(original, patch, schema, mergeMaps);
  for (const patchKey of Object.keys(patch)) {
    const value = patch[patchKey];
    const deletes = patchKey.startsWith(DELETE_FROM_LIST);
    const key = deletes ? targetOf(patchKey, DELETE_FROM_LIST) : patchKey;
    if (value === null) delete original[key];
    else mergeKey(original, key, value, deletes, schema);
  }
  return original;
}

function mergeKey(original: JsonMap, key: string, value: unknown, deletes: boolean, schema: Schema | undefined): void {
  const known = Object.hasOwn(original, key) ? original[key] : undefined;
  if (isMap(known) && isMap(value)) {
    const { strategy, inner } = patchMetaOf(schema, key);
    assign(original, key, strategy === 'replace' ? value : mergeMaps(known, value, inner));
  } else if (Array.isArray(known) && Array.isArray(value)) {
    const meta = patchMetaOf(schema, key);
    const merges = meta.strategy === 'merge' || deletes;
    assign(original, key, merges ? mergeLists(known, value, meta, deletes, mergeMaps) : value);
  } else if (!deletes) {
    take(original, key, value);
  }
}

/** The patch's value stands for itself where there is nothing of its kind to merge it with. */
function take(original: JsonMap, key: string, value: unknown): void {
  withoutNulls(value);
  const kept = withoutDirectives(value);
  if (kept === undefined) delete original[key];
  else assign(original, key, kept);
}

function directed(patch: JsonMap): JsonMap {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') {
    delete patch[DIRECTIVE];
    return patch;
  }
  if (directive === 'delete') return {};
  throw plainError(`unknown patch type: ${goPlain(directive)} in map: ${goPlain(patch)}`);
}

/** `$retainKeys` lists every field that may stay; the patch must not mention others. */
function retainKeys(original: JsonMap, patch: JsonMap): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const list = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(list)) throw badRequest('invalid patch format of retainKeys');
  const retained = new Set<unknown>(list);
  for (const key of Object.keys(patch)) {
    const isDirective = key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);
    if (patch[key] !== null && !isDirective && !retained.has(key)) {
      throw badRequest('invalid patch format of retainKeys');
    }
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}
