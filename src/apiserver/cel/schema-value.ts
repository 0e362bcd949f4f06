/** JSON as values under a schema. Converted where it is looked at. Follows pkg/cel/common/valuesunstructured.go. */
import { isDeepStrictEqual } from 'node:util';
import { chargeWork } from '../allowance.ts';
import { formatCheck } from '../schema/formats.ts';
import type { Schema } from '../schema/schema.ts';
import { struct } from './check/type.ts';
import { escapeName, unescapeName } from './escape.ts';
import { withMetadata } from './schema-type.ts';
import { toJson } from './values/json.ts';
import { parseSchemaDuration, parseSchemaTime } from './values/schema-time.ts';
import { offsetOf } from './values/time.ts';
import {
  CelError,
  Duration,
  equalTo,
  List,
  MapValue,
  NO_OVERLOAD,
  Opaque,
  Timestamp,
  type Value,
} from './values/value.ts';

type Json = Record<string, unknown>;

/** `root`: the schema of a whole resource, which has apiVersion, kind and metadata by itself. */
export function schemaValue(json: unknown, schema: Schema, root = false): Value {
  if (json === null || json === undefined) {
    return schema.nullable ? null : new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string']) return intOrString(json);
  switch (schema.type) {
    case 'object':
      return typeof json === 'object' && !Array.isArray(json)
        ? new SchemaObject(
            json as Json,
            root || schema['x-kubernetes-embedded-resource'] ? withMetadata(schema) : schema,
          )
        : new CelError('invalid data, expected a map for the provided schema with type=object');
    case 'array':
      return listValue(json, schema);
    case 'string':
      return typeof json === 'string' ? stringValue(json, schema.format) : mistyped('string', json);
    case 'number':
      if (typeof json === 'number') return json;
      return typeof json === 'bigint' ? Number(json) : mistyped('float', json);
    case 'integer':
      if (typeof json === 'bigint') return json;
      return Number.isInteger(json) ? BigInt(json as number) : mistyped('int', json);
    case 'boolean':
      return typeof json === 'boolean' ? json : mistyped('bool', json);
  }
  if (schema['x-kubernetes-preserve-unknown-fields']) return new Preserved(json);
  return new CelError(
    `invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ''}`,
  );
}

function goType(json: unknown): string {
  if (Array.isArray(json)) return '[]interface {}';
  if (typeof json === 'number') return Number.isInteger(json) ? 'int64' : 'float64';
  if (typeof json === 'boolean') return 'bool';
  return typeof json === 'object' ? 'map[string]interface {}' : typeof json;
}

function mistyped(expected: string, json: unknown): CelError {
  return new CelError(`invalid data, expected ${expected}, got ${goType(json)}`);
}

function intOrString(json: unknown): Value {
  if (typeof json === 'string' || typeof json === 'bigint') return json;
  if (Number.isInteger(json)) return BigInt(json as number);
  return new CelError('invalid data, expected XIntOrString value to be either a string or integer');
}

function stringValue(text: string, format: string | undefined): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseSchemaDuration(text);
      return nanos === undefined
        ? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
        : new Duration(nanos);
    }
    case 'date':
    case 'date-time': {
      const nanos = parseSchemaTime(text, format);
      return nanos === undefined
        ? new CelError(`Invalid ${format} formatted string ${text}: cannot parse`)
        : new Timestamp(nanos, offsetOf(text));
    }
    case 'byte':
      if (text !== '' && !formatCheck('byte')?.(text))
        return new CelError(`Invalid byte formatted string ${text}: illegal base64 data`);
      return Buffer.from(text, 'base64');
    default:
      return text;
  }
}

function listValue(json: unknown, schema: Schema): Value {
  if (!Array.isArray(json))
    return new CelError('invalid data, expected an array for the provided schema with type=array');
  if (!schema.items) return new CelError('invalid array type, expected Items with a non-empty Schema');
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return new KeyedList(json, schema.items, schema['x-kubernetes-list-map-keys'] ?? []);
    case 'set':
      return new SetList(json, schema.items);
    default:
      return new SchemaList(json, schema.items);
  }
}

/** JSON behind a value that is added to a list: it is read again with the list's own schema. */
function nativeOf(value: Value): unknown {
  if (value instanceof SchemaObject) return value.json;
  return value instanceof SchemaList ? value.elements : toJson(value);
}

class SchemaList extends List {
  readonly elements: readonly unknown[];
  readonly items: Schema;

  constructor(elements: readonly unknown[], items: Schema) {
    super();
    this.elements = elements;
    this.items = items;
  }

  get size(): number {
    return this.elements.length;
  }

  at(index: number): Value {
    return schemaValue(this.elements[index], this.items);
  }

  override add(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    return new SchemaList([...this.elements, ...other.toArray().map(nativeOf)], this.items);
  }

  override contains(needle: Value): Value {
    let problem: Value | undefined;
    for (let i = 0; i < this.size; i++) {
      const same = equalTo(this.at(i), needle);
      if (same === true) return true;
      if (typeof same !== 'boolean') problem ??= same;
    }
    return problem ?? false;
  }

  override equals(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    if (other.size !== this.size) return false;
    for (let i = 0; i < this.size; i++) {
      const same = equalTo(this.at(i), other.at(i));
      if (same !== true) return same;
    }
    return true;
  }
}

const scalarKey = (json: unknown) => `${typeof json}:${String(json)}`;

/** Sets have no order. */
class SetList extends SchemaList {
  private keys: Set<string> | undefined;

  private known(): Set<string> {
    this.keys ??= new Set(this.elements.map(scalarKey));
    return this.keys;
  }

  override equals(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    if (other.size !== this.size) return false;
    const known = this.known();
    return other.toArray().every((item) => known.has(scalarKey(nativeOf(item))));
  }

  override add(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    const known = new Set(this.known());
    const elements = [...this.elements];
    for (const item of other.toArray().map(nativeOf)) {
      if (known.has(scalarKey(item))) continue;
      known.add(scalarKey(item));
      elements.push(item);
    }
    return new SetList(elements, this.items);
  }
}

/** Lists whose elements have keys: those with the same key are the same element. */
class KeyedList extends SchemaList {
  private readonly keys: readonly string[];

  constructor(elements: readonly unknown[], items: Schema, keys: readonly string[]) {
    super(elements, items);
    this.keys = keys;
  }

  private keyOf(element: unknown): string {
    // Upstream looks for the keys by their escaped names, also in plain JSON.
    return JSON.stringify(this.keys.map((key) => (element as Json)[escapeName(key) ?? key] ?? null));
  }

  override equals(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    if (other.size !== this.size) return false;
    const byKey = new Map(this.elements.map((element) => [this.keyOf(element), element]));
    for (const item of other.toArray()) {
      const mine = byKey.get(this.keyOf(nativeOf(item)));
      if (mine === undefined) return false;
      const same = equalTo(schemaValue(mine, this.items), item);
      if (same !== true) return same;
    }
    return true;
  }

  override add(other: Value): Value {
    if (!(other instanceof List)) return NO_OVERLOAD;
    const byKey = new Map(this.elements.map((element) => [this.keyOf(element), element]));
    for (const item of other.toArray().map(nativeOf)) byKey.set(this.keyOf(item), item);
    return new KeyedList([...byKey.values()], this.items, this.keys);
  }
}

class SchemaObject extends MapValue {
  readonly json: Json;
  private readonly schema: Schema;
  private count: number | undefined;

  constructor(json: Json, schema: Schema) {
    super();
    this.json = json;
    this.schema = schema;
  }

  get size(): number {
    if (this.count === undefined) {
      this.count = Object.keys(this.json).length;
      chargeWork(this.count);
    }
    return this.count;
  }

  private schemaOf(key: string): Schema | undefined {
    const { properties, additionalProperties: rest } = this.schema;
    if (properties) return Object.hasOwn(properties, key) ? properties[key] : undefined;
    return typeof rest === 'object' ? rest : undefined;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return key instanceof CelError ? key : NO_OVERLOAD;
    const isObject = this.schema.properties !== undefined;
    const name = isObject ? unescapeName(key) : key;
    if (name === undefined || !Object.hasOwn(this.json, name)) return undefined;
    const value = this.json[name];
    if (value === undefined || (isObject && value === null)) return undefined;
    const schema = this.schemaOf(name);
    return schema && schemaValue(value, schema);
  }

  *keys(): Iterable<Value> {
    const isObject = this.schema.properties !== undefined;
    for (const key of Object.keys(this.json)) {
      if (this.schemaOf(key)) yield isObject ? (escapeName(key) ?? key) : key;
    }
  }

  override equals(other: Value): Value {
    if (!(other instanceof MapValue)) return NO_OVERLOAD;
    if (other.size !== this.size) return false;
    for (const [key, value] of Object.entries(this.json)) {
      if (this.schemaOf(key)) {
        const [mine, theirs] = [this.find(key), other.find(key)];
        if ((mine === undefined) !== (theirs === undefined)) return false;
        if (mine === undefined) continue;
        const same = equalTo(mine, theirs as Value);
        if (same !== true) return same;
      } else {
        if (!(other instanceof SchemaObject)) return NO_OVERLOAD;
        if (Object.hasOwn(other.json, key) && !isDeepStrictEqual(value, other.json[key])) return false;
      }
    }
    return true;
  }
}

/** What a schema preserves without knowing it: only good for comparing. */
class Preserved extends Opaque {
  readonly type = struct('unknown');
  private readonly json: unknown;

  constructor(json: unknown) {
    super();
    this.json = json;
  }

  equals(other: Value): Value {
    return isDeepStrictEqual(this.json, other instanceof Preserved ? other.json : nativeOf(other));
  }
}
