/**
 * Schemas as CEL types: what an expression can see of a value, how JSON becomes CEL values (integers are BigInt, times are
 * Date, objects are instances of declared types), and how large a value can get, for cost estimates.
 * Follows k8s.io/apiserver/pkg/cel/common/schemas.go.
 */
import type { Schema } from '../schema/schema.ts';
import { parseDuration } from './duration.ts';
import { type Environment, engine } from './engine.ts';
import { escapeName } from './escape.ts';
import { sameValue } from './library/lists.ts';

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
  /** The class of converted objects. */
  readonly instance?: new () => object;
  convert(value: unknown): unknown;
}

/** Names that occur in the expressions a type is for. */
export type Mentioned = ReadonlySet<string>;

type Json = Record<string, unknown>;

const same = (value: unknown) => value;
const scalar = (name: string, min: number, convert: (v: unknown) => unknown): CelType => ({
  name,
  kind: 'scalar',
  max: 1,
  min,
  convert,
});

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

/**
 * Undefined for values without a schema: expressions cannot see them. Fields that no expression mentions are not looked
 * into: schemas are large, expressions are small.
 */
export function celType(schema: Schema, root: boolean, name: string, mentioned: Mentioned): CelType | undefined {
  const type = bare(schema, root || schema['x-kubernetes-embedded-resource'] === true, name, mentioned);
  // Whatever may be null has no static type here; upstream leaves null to run time as well.
  if (type === undefined || !schema.nullable) return type;
  return { ...type, name: 'dyn', convert: (value) => (value === null ? null : type.convert(value)) };
}

function bare(schema: Schema, resource: boolean, name: string, mentioned: Mentioned): CelType | undefined {
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
      return schema.items && listType(schema, schema.items, name, mentioned);
    case 'object':
      return objectType(schema, resource, name, mentioned);
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
      return {
        name: 'string',
        kind: 'string',
        max: schema.maxLength ?? longest ?? MAX_REQUEST - 2,
        min: 2,
        convert: same,
      };
    }
  }
}

function listType(schema: Schema, items: Schema, name: string, mentioned: Mentioned): CelType | undefined {
  const element = celType(items, false, `${name}.items`, mentioned);
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

function objectType(schema: Schema, resource: boolean, name: string, mentioned: Mentioned): CelType | undefined {
  const rest = schema.additionalProperties;
  if (typeof rest === 'object') return mapType(schema, rest, name, mentioned);
  const fields = new Map<string, { key: string; type: CelType }>();
  const properties: Record<string, Schema> = resource
    ? { ...schema.properties, ...RESOURCE }
    : (schema.properties ?? {});
  for (const key in properties) {
    const escaped = escapeName(key);
    if (escaped === undefined) continue;
    const seen = mentioned.has(escaped);
    const type = seen ? celType(properties[key] as Schema, false, `${name}.${escaped}`, mentioned) : UNSEEN;
    if (type !== undefined) fields.set(escaped, { key, type });
  }
  const Instance = { [name]: class {} }[name] as new () => Json;
  return {
    name,
    kind: 'object',
    max: 1,
    min: minSize(schema),
    fields,
    instance: Instance,
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

/** Kept as JSON: good for comparing whole objects, and nothing else is done with it. */
const UNSEEN: CelType = { name: 'dyn', kind: 'dyn', max: 1, min: 1, convert: same };

/** Bytes of the smallest JSON of a value. */
function minSize(schema: Schema): number {
  if (schema['x-kubernetes-int-or-string']) return 1;
  if (schema.type === 'string') return schema.format === 'date-time' || schema.format === 'date' ? 22 : 2;
  if (schema.type === 'boolean') return 4;
  if (schema.type === 'object' && typeof schema.additionalProperties !== 'object') {
    let size = 2;
    for (const key of schema.required ?? []) {
      const property = schema.properties?.[key];
      if (property?.type && property.default === undefined) size += key.length + minSize(property) + 4;
    }
    return size;
  }
  return schema.type === 'array' || schema.type === 'object' ? 2 : 1;
}

/** Makes the object types in `type` known to an environment. */
export function declareTypes(type: CelType, env: Environment): void {
  if (type.element) declareTypes(type.element, env);
  if (!type.fields) return;
  for (const field of type.fields.values()) declareTypes(field.type, env);
  const fields = Object.fromEntries([...type.fields].map(([field, value]) => [field, value.type.name]));
  const name = type.kind === 'object' && type.name === 'dyn' ? (type.instance?.name as string) : type.name;
  env.registerType(name, { ctor: type.instance, fields } as never);
  env.registerOperator(`${name} == ${name}`, sameValue);
}

/** Whether expressions on this type need types of their own declared. */
export function isPlain(type: CelType): boolean {
  return type.fields === undefined && (type.element === undefined || isPlain(type.element));
}

function mapType(schema: Schema, values: Schema, name: string, mentioned: Mentioned): CelType | undefined {
  const element = celType(values, false, `${name}.values`, mentioned);
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
