/**
 * Values against a schema, with the errors the real kube-apiserver gives (kube-openapi/pkg/validation/validate).
 * With an old value, what did not change is not held against the writer (ratcheting).
 * Nothing is compiled or allocated while a value is valid: this runs on every write.
 */
import { chargeWork } from '../allowance.ts';
import { type FieldError, field } from '../status.ts';
import { NONE, sameKey, unchanged } from './correlation.ts';
import { deepEqual } from './equal.ts';
import { type Failure, fail, failInvalid, failType, failWhole, toFieldErrors, tooMany } from './failure.ts';
import { formatCheck } from './formats.ts';
import { checkEnum, checkNumber, checkString } from './scalars.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

/** Checking one value, in units of work. */
const VALUE = 3;

/**
 * Errors of `value`. `path` prefixes the fields (not the texts) of errors, as upstream does for /status.
 * Pass `old` only on updates.
 */
export function validate(value: unknown, schema: Schema, path = '', old: unknown = NONE): FieldError[] {
  const errors: Failure[] = [];
  check(value, schema, '', old === undefined ? NONE : old, errors);
  return errors.length === 0 ? NO_ERRORS : toFieldErrors(errors, path);
}

const NO_ERRORS: FieldError[] = [];

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return type === 'bigint' ? 'integer' : type;
}

/**
 * Appends the errors of one node and all below it. Returns upstream's "match count": anyOf and oneOf report the
 * branch that got furthest by this number.
 */
function check(value: unknown, schema: Schema, name: string, old: unknown, errors: Failure[]): number {
  chargeWork(VALUE);
  const before = errors.length;
  const count = value === null ? checkNull(schema, name, errors) : checkValue(value, schema, name, old, errors);
  if (errors.length > before && old !== NONE && unchanged(value, old, schema)) errors.length = before;
  return count;
}

function expectedType(schema: Schema): string | undefined {
  return schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type;
}

function checkNull(schema: Schema, name: string, errors: Failure[]): number {
  const type = expectedType(schema);
  let count = 0;
  if (type !== undefined && schema.nullable !== true) failType(errors, name, type, 'null');
  else count = 1;
  if (schema.enum !== undefined && schema.enum.length > 0) checkEnum(null, schema.enum, name, errors);
  return count;
}

function checkValue(value: unknown, schema: Schema, name: string, old: unknown, errors: Failure[]): number {
  let count = 3; // the combinators' own two and the node's final one
  const type = expectedType(schema);
  const actual = typeName(value);
  const format = schema.format === undefined ? undefined : formatCheck(schema.format);
  if (type !== undefined || format !== undefined)
    count += checkType(actual, type, format === undefined ? undefined : schema.format, name, errors);
  if (schema.allOf || schema.anyOf || schema.oneOf || schema.not) count += checkParts(value, schema, name, errors);
  if (actual === 'string') {
    count += format === undefined ? 1 : 2;
    checkString(value as string, schema, name, errors);
    if (format !== undefined && !format(value as string)) {
      failType(errors, name, schema.format as string, value as string);
    }
  } else if (actual === 'integer' || actual === 'number') {
    count += 2;
    checkNumber(Number(value), schema, name, errors);
  } else if (actual === 'array') {
    count += 2 + checkArray(value as unknown[], schema, name, old, errors);
  }
  count += 1;
  if (schema.enum !== undefined && schema.enum.length > 0) checkEnum(value, schema.enum, name, errors);
  if (actual === 'object') count += 1 + checkObject(value as Json, schema, name, old, errors);
  return count;
}

/** Go's own names for numbers, which upstream puts beside the format a value should have had. */
const NUMBER_FORMATS: Record<string, string> = { integer: 'int64', number: 'float64' };

function checkType(
  actual: string,
  type: string | undefined,
  format: string | undefined,
  name: string,
  errors: Failure[],
): number {
  const numeric = type === 'integer' || type === 'number' || type === 'integer,string';
  const textual = actual === 'string' || actual === 'array';
  // A formatted string type lets lists through here, as upstream does.
  if (format !== undefined && !numeric && textual) return 2;
  if (type === actual || (actual === 'integer' && type === 'number')) return 2;
  if (type === 'integer,string' && (actual === 'integer' || actual === 'string')) return 2;
  if (format !== undefined && !textual) failType(errors, name, format, NUMBER_FORMATS[actual] ?? '');
  else failType(errors, name, type ?? '', actual);
  return 1;
}

function checkArray(value: unknown[], schema: Schema, name: string, old: unknown, errors: Failure[]): number {
  let count = 0;
  const items = schema.items;
  if (items !== undefined) {
    const peers = Array.isArray(old) && schema['x-kubernetes-list-type'] === 'map' ? old : undefined;
    for (let i = 0; i < value.length; i++) {
      const peer = peers === undefined ? NONE : sameKey(peers, value[i], schema['x-kubernetes-list-map-keys'] ?? []);
      count += check(value[i], items, `${name}[${i}]`, peer, errors);
    }
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    failInvalid(errors, name, value.length, `${name} in body should have at least ${schema.minItems} items`);
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    tooMany(errors, name, `should have at most ${schema.maxItems} items`, value.length, schema.maxItems);
  }
  if (schema.uniqueItems && value.some((v, i) => value.findIndex((u) => deepEqual(u, v)) < i)) {
    failInvalid(errors, name, '', `${name} in body shouldn't contain duplicates`);
  }
  return count;
}

function checkObject(value: Json, schema: Schema, name: string, old: unknown, errors: Failure[]): number {
  let count = 0;
  const { minProperties, maxProperties, properties, required } = schema;
  if (minProperties !== undefined || maxProperties !== undefined) {
    const size = Object.keys(value).length;
    if (minProperties !== undefined && size < minProperties) {
      failInvalid(errors, name, size, `${name} in body should have at least ${minProperties} properties`);
    }
    if (maxProperties !== undefined && size > maxProperties) {
      tooMany(errors, name, `should have at most ${maxProperties} properties`, size, maxProperties);
    }
  }
  const before = typeof old === 'object' && old !== null && !Array.isArray(old) ? (old as Json) : undefined;
  const rest = schema.additionalProperties;
  if (rest !== undefined && rest !== true) {
    for (const key in value) {
      if (properties !== undefined && Object.hasOwn(properties, key)) continue;
      if (rest === false) failInvalid(errors, name, key, `${name}.${key} in body is a forbidden property`);
      else count += check(value[key], rest, `${name}.${key}`, peerOf(before, key), errors);
    }
  }
  if (properties !== undefined) {
    for (const key in value) {
      if (!Object.hasOwn(properties, key)) continue;
      const child = name === '' ? key : `${name}.${key}`;
      count += check(value[key], properties[key] as Schema, child, peerOf(before, key), errors);
    }
  }
  if (required !== undefined) {
    for (const key of required) {
      if (Object.hasOwn(value, key)) continue;
      fail(errors, `${name}.${key}`, `${name}.${key} in body is required`, (path) => field.required(path));
    }
  }
  return count;
}

function peerOf(old: Json | undefined, key: string): unknown {
  return old !== undefined && Object.hasOwn(old, key) ? old[key] : NONE;
}

/** allOf, anyOf, oneOf, not. What is wrong inside them is not forgiven for being old, as upstream does it. */
function checkParts(value: unknown, schema: Schema, name: string, errors: Failure[]): number {
  let count = 0;
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf !== undefined && anyOf.length > 0) {
    const best = furthest(value, anyOf, name, true);
    if (best.valid === 0) failWhole(errors, `${JSON.stringify(name)} must validate at least one schema (anyOf)`);
    errors.push(...best.errors);
    count += best.count;
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const best = furthest(value, oneOf, name, false);
    if (best.valid !== 1) {
      const found = best.valid === 0 ? 'Found none valid' : `Found ${best.valid} valid alternatives`;
      failWhole(errors, `${JSON.stringify(name)} must validate one and only one schema (oneOf). ${found}`);
    }
    errors.push(...best.errors);
    count += best.valid > 1 ? 0 : best.count;
  }
  if (allOf !== undefined && allOf.length > 0) {
    let valid = 0;
    for (const part of allOf) {
      const own: Failure[] = [];
      count += check(value, part, name, NONE, own);
      if (own.length === 0) valid++;
      errors.push(...own);
    }
    if (valid !== allOf.length) {
      const none = valid === 0 ? '. None validated' : '';
      failWhole(errors, `${JSON.stringify(name)} must validate all the schemas (allOf)${none}`);
    }
  }
  if (not !== undefined) {
    const own: Failure[] = [];
    check(value, not, name, NONE, own);
    if (own.length === 0) failWhole(errors, `${JSON.stringify(name)} must not validate the schema (not)`);
  }
  return count;
}

/** How many alternatives hold; with none, the errors of the one that matched most. */
function furthest(value: unknown, parts: Schema[], name: string, first: boolean) {
  let best: { errors: Failure[]; count: number } | undefined;
  let success: { errors: Failure[]; count: number } | undefined;
  let valid = 0;
  for (const part of parts) {
    const own: Failure[] = [];
    const count = check(value, part, name, NONE, own);
    if (own.length === 0) {
      valid++;
      success ??= { errors: own, count };
      if (first) break;
    } else if (best === undefined || count > best.count) best = { errors: own, count };
  }
  return { valid, ...((valid > 0 ? success : best) as { errors: Failure[]; count: number }) };
}
