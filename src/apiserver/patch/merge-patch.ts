/** JSON merge patch (RFC 7386), with the real server's habits (evanphx/json-patch merge.go). */
import { assign, clone } from '../json.ts';
import { badRequest } from '../status.ts';
import { jsonKind } from './go-value.ts';

type JsonMap = Record<string, unknown>;

/** The patched document; shares nothing with the inputs. */
export function applyMergePatch(doc: unknown, patch: unknown): unknown {
  if (patch === null || patch === undefined) throw badRequest('Invalid JSON Patch');
  if (!isMap(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return merge(doc, patch);
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function merge(current: unknown, patch: unknown): unknown {
  if (!isMap(current)) return withoutNulls(patch);
  if (!isMap(patch)) return clone(patch);
  const out: JsonMap = {};
  for (const key of Object.keys(current)) {
    if (!Object.hasOwn(patch, key)) assign(out, key, clone(current[key]));
    else if (patch[key] !== null) assign(out, key, merge(current[key], patch[key]));
  }
  for (const key of Object.keys(patch)) {
    if (patch[key] !== null && !Object.hasOwn(current, key)) assign(out, key, withoutNulls(patch[key]));
  }
  return out;
}

/** A null deletes, also where there was nothing. Unlike the RFC, that holds inside lists, too (not for their items). */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const out: JsonMap = {};
  for (const key of Object.keys(value)) if (value[key] !== null) assign(out, key, withoutNulls(value[key]));
  return out;
}
