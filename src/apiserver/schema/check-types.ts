/**
 * JSON into a built-in kind, as Go's decoder takes it: a value of the wrong type is an error worded like
 * encoding/json's; null means "not set". Changes the object in place so that what is stored is what Go would store.
 */

import { childPath, fieldSchema } from './prune.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

const INT32 = 2 ** 31;
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;
const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/**
 * Throws a TypeError that says what encoding/json would say. Go's type names are not part of a schema: `title` of a
 * schema is used where it has one, else they follow from the kind and the names of the fields.
 */
export function checkTypes(object: unknown, schema: Schema, kind = kindOf(object)): void {
  const problem = walk(object, schema, '', kind, '');
  if (problem !== undefined) throw new TypeError(problem);
}

function kindOf(object: unknown): string {
  const kind = (object as Json | null)?.kind;
  return typeof kind === 'string' ? kind : '';
}

/** `owner` is the Go struct that holds the field at `path`, `name` the field's Go-ish type name. */
function walk(value: unknown, schema: Schema, path: string, name: string, owner: string): string | undefined {
  const type = schema.type;
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))) return undefined;
    return mismatch(value, path, owner, 'intstr.IntOrString');
  }
  if (schema.format === 'quantity') {
    if (typeof value === 'string') return QUANTITY.test(value) ? undefined : QUANTITY_RULE;
    return typeof value === 'number' ? undefined : mismatch(value, path, owner, 'string');
  }
  switch (type) {
    case 'string':
      return typeof value === 'string' ? text(value, schema) : stringLike(value, schema, path, owner);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : mismatch(value, path, owner, 'bool');
    case 'integer':
      return integer(value, schema, path, owner);
    case 'number':
      return typeof value === 'number' ? undefined : mismatch(value, path, owner, 'float64');
    case 'array':
      return list(value, schema, path, name, owner);
    default:
      break;
  }
  if (schema.properties === undefined && schema.additionalProperties === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const map =
      schema.properties === undefined ? `map[string]${goType(schema.additionalProperties, name)}` : `v1.${name}`;
    return mismatch(value, path, owner, map);
  }
  return fields(value as Json, schema, path, schema.title ?? name, owner);
}

function fields(object: Json, schema: Schema, path: string, name: string, owner: string): string | undefined {
  const map = schema.properties === undefined;
  for (const key in object) {
    const field = fieldSchema(schema, key);
    if (field === undefined) continue;
    const child = object[key];
    if (child === null) {
      if (map) object[key] = zero(field);
      else delete object[key];
      continue;
    }
    // Scalars of the right type are by far the most; no paths are built for them.
    if (typeof child === 'string' && field.type === 'string' && field.format === undefined) continue;
    // Go names the struct field a map belongs to, not the key inside it.
    const problem = map
      ? walk(child, field, path, name, owner)
      : walk(child, field, childPath(path, key), typeOf(key, name), name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function list(value: unknown, schema: Schema, path: string, name: string, owner: string): string | undefined {
  if (!Array.isArray(value)) return mismatch(value, path, owner, `[]${goType(schema.items, singular(name))}`);
  const items = schema.items;
  if (items === undefined) return undefined;
  for (let i = 0; i < value.length; i++) {
    if (value[i] === null) {
      value[i] = zero(items);
      continue;
    }
    // Go's decoder does not put indexes into the path of an error.
    const problem = walk(value[i], items, path, singular(name), owner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function integer(value: unknown, schema: Schema, path: string, owner: string): string | undefined {
  const int64 = schema.format === 'int64';
  if (typeof value === 'bigint') return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value))
    return mismatch(value, path, owner, schema.format ?? 'int32');
  if (int64 ? Math.abs(value) > 2 ** 63 : value >= INT32 || value < -INT32) {
    return mismatch(value, path, owner, int64 ? 'int64' : 'int32');
  }
  return undefined;
}

function text(value: string, schema: Schema): string | undefined {
  switch (schema.format) {
    case undefined:
      return undefined;
    case 'date-time':
      if (RFC3339.test(value) && !Number.isNaN(Date.parse(value))) return undefined;
      return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
    case 'byte':
      if (BASE64.test(value) && value.replace(/[\r\n]/g, '').length % 4 === 0) return undefined;
      return `illegal base64 data at input byte ${badByte(value)}`;
    default:
      return undefined;
  }
}

function badByte(value: string): number {
  const bad = value.search(/[^A-Za-z0-9+/=\r\n]/);
  return bad >= 0 ? bad : Math.floor(value.length / 4) * 4;
}

function stringLike(value: unknown, schema: Schema, path: string, owner: string): string | undefined {
  if (schema.format === 'date-time') return mismatch(value, path, '', 'string');
  return mismatch(value, path, owner, schema.format === 'byte' ? '[]uint8' : 'string');
}

function mismatch(value: unknown, path: string, owner: string, type: string): string {
  const field = owner === '' ? 'Go value' : `Go struct field ${owner}.${path}`;
  return `json: cannot unmarshal ${jsonType(value)} into ${field} of type ${type}`;
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number')
    return `number${Number.isInteger(value) && Math.abs(value) < INT32 ? '' : ` ${value}`}`;
  return value === null ? 'null' : typeof value;
}

function zero(schema: Schema): unknown {
  if (schema.type === 'string') return '';
  if (schema.type === 'integer' || schema.type === 'number') return 0;
  if (schema.type === 'boolean') return false;
  return schema.type === 'array' ? [] : {};
}

/** The Go struct a field of `owner` most likely has: spec of Deployment is DeploymentSpec, metadata is ObjectMeta. */
function typeOf(key: string, owner: string): string {
  if (key === 'metadata') return 'ObjectMeta';
  if (key === 'spec' || key === 'status') {
    return owner.endsWith('TemplateSpec') ? 'PodSpec' : owner + capital(key);
  }
  if (key === 'template') return 'PodTemplateSpec';
  return capital(key);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  if (name === 'InitContainers' || name === 'Containers') return 'Container';
  if (/(ch|sh|ss|x)es$/.test(name)) return name.slice(0, -2);
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : name;
}

function goType(schema: Schema | boolean | undefined, name: string): string {
  if (typeof schema !== 'object') return 'interface {}';
  if (schema.format === 'quantity') return 'resource.Quantity';
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : 'string';
    case 'boolean':
      return 'bool';
    case 'integer':
      return schema.format ?? 'int32';
    case 'number':
      return 'float64';
    case 'array':
      return `[]${goType(schema.items, name)}`;
    default:
      return `v1.${schema.title ?? name}`;
  }
}
