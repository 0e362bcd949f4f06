/**
 * Schemas as CEL types: what an expression can see of a value, how JSON becomes CEL values (integers are BigInt, times are
 * Date, objects are instances of declared types), and how large a value can get, for cost estimates.
 * Follows k8s.io/apiserver/pkg/cel/common/schemas.go.
 */
import type { Schema } from '../schema/schema.ts';
import { type Environment, engine } from './engine.ts';
import { escapeName } from './escape.ts';
import { sameValue } from './library/lists.ts';
import { parseDuration } from './duration.ts';

/** Largest request the server takes; nothing unbounded can be larger. */
export const MAX_REQUEST = 3 * 1024 * 1024;

export interface CelType {
  /** As cel-js writes it: `int`, `list<string>`, or the name of a declared object type. */
  readonly name: string;
  readonly kind: 'scalar' | 'string' | 'list' | 'map' | 'object' | 'dyn';
  /** Elements of a list or map, bytes of a string, at most. */
  readonly max: number;
  /** Bytes of the smallest JSON. */
  readonly min: number;
  readonly element?: CelType;
  /** By the name expressions use. */
  readonly fields?: ReadonlyMap<string, { key: string; type: CelType }>;
  convert(value: unknown): unknown;
}

type Json = Record<string, unknown>;

const same = (value: unknown) => value;
const scalar = (name: string, min: number, convert: (v: unknown) => unknown): CelType => ({ name, kind: 'scalar', max: 1, min, convert });

const TIMESTAMP = 'google.protobuf.Timestamp';
const INTEGER = scalar('int', 1, (v) => (typeof v === 'number' ? BigInt(Math.trunc(v)) : v));
const NUMBER = scalar('double', 1, (v) => (typeof v === 'bigint' ? Number(v) : v));
const BOOLEAN = scalar('bool', 4, same);
const DATE_TIME = scalar(TIMESTAMP, 22, (v) => new Date(v as string));
const DURATION = scalar('google.protobuf.Duration', 4, (v) => parseDuration(v as string, engine().cel));
const INT_OR_STRING: CelType = {
  name: 'dyn',
  kind: 'dyn',
  max: MAX_REQUEST - 2,
  min: 1,
  convert: (v) => (typeof v === 'number' && Number.isInteger(v) ? BigInt(v) : v),
};

/** Undefined for values without a schema: expressions cannot see them. */
export function celType(schema: Schema, root: boolean, name: string, env: Environment): CelType | undefined {
  const type = bare(schema, root || schema['x-kubernetes-embedded-resource'] === true, name, env);
  // Whatever may be null has no static type here; upstream leaves null to run time as well.
  if (type === undefined || !schema.nullable) return type;
  return { ...type, name: 'dyn', convert: (value) => (value === null ? null : type.convert(value)) };
}

function bare(schema: Schema, resource: boolean, name: string, env: Environment): CelType | undefined {
  if (schema['x-kubernetes-int-or-string']) return INT_OR_STRING;
  switch (schema.type) {
    case 'integer':
      return INTEGER;
    case 'number':
      return NUMBER;
    case 'boolean':
      return BOOLEAN;
    case 'string':
      return stringType(schema);
    case 'array':
      return schema.items && listType(schema, schema.items, name, env);
    case 'object':
      return objectType(schema, resource, name, env);
    default:
      return undefined;
  }
}

function stringType(schema: Schema): CelType {
  switch (schema.format) {
    case 'date':
    case 'date-time':
      return DATE_TIME;
    case 'duration':
      return DURATION;
    case 'byte':
      return {
        name: 'bytes',
        kind: 'string',
        max: schema.maxLength ?? MAX_REQUEST - 2,
        min: 2,
        convert: (v) => Buffer.from(v as string, 'base64'),
      };
    default: {
      const longest = schema.enum?.reduce((max: number, v) => Math.max(max, typeof v === 'string' ? v.length : 0), 0);
      return { name: 'string', kind: 'string', max: schema.maxLength ?? longest ?? MAX_REQUEST - 2, min: 2, convert: same };
    }
  }
}

function listType(schema: Schema, items: Schema, name: string, env: Environment): CelType | undefined {
  const element = celType(items, false, `${name}.items`, env);
  if (element === undefined) return undefined;
  const unique = schema['x-kubernetes-list-type'] === 'set' && (element.kind === 'scalar' || element.kind === 'string');
  return {
    name: `list<${element.name}>`,
    kind: 'list',
    max: schema.maxItems ?? Math.floor((MAX_REQUEST - 2) / (element.min + 1)),
    min: 2,
    element,
    convert(value) {
      const list = (value as unknown[]).map((item) => element.convert(item));
      // A set has no order: equality must not depend on it.
      return unique ? new Set(list) : list;
    },
  };
}

function objectType(schema: Schema, resource: boolean, name: string, env: Environment): CelType | undefined {
  const rest = schema.additionalProperties;
  if (typeof rest === 'object') return mapType(schema, rest, name, env);
  const fields = new Map<string, { key: string; type: CelType }>();
  let min = 2;
  const properties: Record<string, Schema> = resource ? { ...schema.properties, ...RESOURCE } : (schema.properties ?? {});
  for (const key in properties) {
    const property = properties[key] as Schema;
    const escaped = escapeName(key);
    const type = celType(property, false, `${name}.${escaped ?? 'unnamed'}`, env);
    if (type === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, { key, type });
    if (schema.required?.includes(key) && property.default === undefined) min += key.length + type.min + 4;
  }
  const Instance = { [name]: class {} }[name] as new () => Json;
  const declared = Object.fromEntries([...fields].map(([field, { type }]) => [field, type.name]));
  env.registerType(name, { ctor: Instance, fields: declared } as never);
  env.registerOperator(`${name} == ${name}`, sameValue);
  return {
    name,
    kind: 'object',
    max: 1,
    min,
    fields,
    convert(value) {
      const out = new Instance();
      for (const [field, { key, type }] of fields) {
        const child = (value as Json)[key];
        if (child !== undefined) out[field] = type.convert(child);
      }
      return out;
    },
  };
}

function mapType(schema: Schema, values: Schema, name: string, env: Environment): CelType | undefined {
  const element = celType(values, false, `${name}.values`, env);
  if (element === undefined) return undefined;
  return {
    name: `map<string, ${element.name}>`,
    kind: 'map',
    max: schema.maxProperties ?? Math.floor((MAX_REQUEST - 2) / (element.min + 6)),
    min: 2,
    element,
    convert: (value) => new Map(Object.entries(value as Json).map(([key, child]) => [key, element.convert(child)])),
  };
}

/** What rules may know of a resource's own fields. */
const RESOURCE: Record<string, Schema> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
};
