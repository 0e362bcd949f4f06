/**
 * Schemas as the types of expressions, and how large a value can get. Looked into no further than expressions go:
 * schemas are large, expressions are small. Follows k8s.io/apiserver/pkg/cel/common/schemas.go.
 */
import type { Schema } from '../schema/schema.ts';
import type { FieldsOf } from './check/environment.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  struct,
  TIMESTAMP,
  type Type,
} from './check/type.ts';
import type { SizeAt } from './cost/estimate.ts';
import { escapeName, unescapeName } from './escape.ts';

/** Largest request the server takes; nothing unbounded can be larger. */
export const MAX_REQUEST = 3 * 1024 * 1024;

export interface SchemaType {
  type: Type;
  /** Elements of a list or map, characters of a string, at most. */
  max: number;
  /** Bytes of the smallest JSON. */
  min: number;
  element?: SchemaType;
  /** By the name expressions use; undefined where there is no such field, or expressions cannot see it. */
  field?(name: string): SchemaType | undefined;
}

export type Registry = Map<string, SchemaType>;

const simple = (type: Type, min: number, max = 0): SchemaType => ({ type, min, max });
const KEY: SchemaType = simple(STRING, 2);

/** Undefined for values without a type: expressions cannot see them. */
export function schemaType(schema: Schema, root: boolean, name: string, registry: Registry): SchemaType | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    return simple(DYN, 1, schema.maxLength === undefined ? MAX_REQUEST - 2 : bound(schema.maxLength) * 4);
  }
  switch (schema.type) {
    case 'integer':
      return simple(INT, 1);
    case 'number':
      return simple(DOUBLE, 1);
    case 'boolean':
      return simple(BOOL, 4);
    case 'string':
      return stringType(schema);
    case 'array': {
      const items = schema.items;
      const element = items && schemaType(items, isEmbedded(items), `${name}.@idx`, registry);
      if (!element) return undefined;
      const max =
        schema.maxItems === undefined ? Math.floor((MAX_REQUEST - 2) / (element.min + 1)) : bound(schema.maxItems);
      return { type: listOf(element.type), max, min: 2, element };
    }
    case 'object':
      return objectType(schema, root, name, registry);
    default:
      return undefined;
  }
}

const bound = (value: number) => Math.max(0, value);
const isEmbedded = (schema: Schema) => schema['x-kubernetes-embedded-resource'] === true;

function stringType(schema: Schema): SchemaType {
  switch (schema.format) {
    case 'byte':
      return simple(BYTES, 2, schema.maxLength === undefined ? MAX_REQUEST - 2 : bound(schema.maxLength));
    case 'duration':
      return simple(DURATION, 3, 32);
    case 'date':
      return simple(TIMESTAMP, 12, 12);
    case 'date-time':
      return simple(TIMESTAMP, 21, 32);
  }
  if (schema.maxLength !== undefined) return simple(STRING, 2, bound(schema.maxLength) * 4);
  if (!schema.enum?.length) return simple(STRING, 2, MAX_REQUEST - 2);
  const lengths = schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0));
  return simple(STRING, 2, Math.max(...lengths));
}

function objectType(schema: Schema, root: boolean, name: string, registry: Registry): SchemaType | undefined {
  const rest = schema.additionalProperties;
  if (typeof rest === 'object') {
    const element = schemaType(rest, isEmbedded(rest), `${name}.@elem`, registry);
    if (!element) return undefined;
    const max =
      schema.maxProperties === undefined
        ? Math.floor((MAX_REQUEST - 2) / (element.min + 6))
        : bound(schema.maxProperties);
    return { type: mapOf(STRING, element.type), max, min: 2, element };
  }
  const whole = root ? withMetadata(schema) : schema;
  const properties = whole.properties ?? {};
  const seen = new Map<string, SchemaType | undefined>();
  const made: SchemaType = {
    type: struct(name),
    max: 0,
    min: minSize(whole),
    field(escaped) {
      if (!seen.has(escaped)) {
        const key = unescapeName(escaped);
        const own = key !== undefined && escapeName(key) === escaped && Object.hasOwn(properties, key);
        const property = own ? (properties[key] as Schema) : undefined;
        const type = property && schemaType(property, isEmbedded(property), `${name}.${escaped}`, registry);
        seen.set(escaped, type);
      }
      return seen.get(escaped);
    },
  };
  registry.set(name, made);
  return made;
}

/** Bytes of the smallest JSON of a value that has a type. */
function minSize(schema: Schema): number {
  let size = 2;
  for (const key of new Set(schema.required ?? [])) {
    const property = schema.properties?.[key];
    if (!property || property.default !== undefined) continue;
    const type = schemaType(property, isEmbedded(property), '', new Map());
    if (type) size += Buffer.byteLength(key) + type.min + 4;
  }
  return size;
}

const RESOURCE: Record<string, Schema> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
};

const withMetadataOf = new WeakMap<Schema, Schema>();

/** What rules may know of a resource's own fields. */
export function withMetadata(schema: Schema): Schema {
  let whole = withMetadataOf.get(schema);
  if (!whole) {
    whole = { ...schema, properties: { ...schema.properties, ...RESOURCE } };
    withMetadataOf.set(schema, whole);
  }
  return whole;
}

export function fieldsIn(registry: Registry): FieldsOf {
  return (name) => {
    const type = registry.get(name);
    return type?.field && { get: (field) => type.field?.(field)?.type };
  };
}

/** Sizes of what `self` and `oldSelf` lead to. */
export function sizesIn(root: SchemaType): SizeAt {
  return (path) => {
    if (path.length === 0) return undefined;
    let type: SchemaType | undefined = root;
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') type = type.element;
      else if (step === '@keys') type = type.type.kind === 'map' ? KEY : undefined;
      else type = type.field?.(step);
      if (!type) return undefined;
    }
    return { min: 0, max: type.max };
  };
}
