/**
 * Schemas of CRDs as documents publish them: what the API adds by itself is written out, and for OpenAPI v2 what that
 * version cannot say is taken away in the way old kubectl can live with.
 */
import { restSchema } from '../schema/children.ts';
import type { Schema } from '../schema/schema.ts';

/** A schema of a document: it may refer to others. */
export interface PublishedSchema extends Omit<Schema, 'properties' | 'items' | 'additionalProperties' | 'allOf'> {
  $ref?: string;
  properties?: Record<string, PublishedSchema>;
  items?: PublishedSchema;
  additionalProperties?: PublishedSchema | boolean;
  allOf?: PublishedSchema[];
}

/** What a value is made of that is an object of its own: apiVersion, kind, metadata. */
export type ObjectFields = Record<string, PublishedSchema>;

const INTEGER_OR_STRING: Schema[] = [{ type: 'integer' }, { type: 'string' }];

export function publishedV3(schema: Schema, objectFields: ObjectFields): PublishedSchema {
  const published = mapChildren(withEitherType(schema), (child) => publishedV3(child, objectFields));
  return schema['x-kubernetes-embedded-resource'] ? asResource(published, objectFields) : published;
}

/** Either type is named in so many words, unless the schema does so already. */
function withEitherType(schema: Schema): Schema {
  if (!schema['x-kubernetes-int-or-string']) return schema;
  if (isEither(schema) || (schema.allOf?.[0] && isEither(schema.allOf[0]))) return schema;
  if (!schema.anyOf) return { ...schema, anyOf: INTEGER_OR_STRING };
  return { ...schema, allOf: [{ anyOf: INTEGER_OR_STRING }, ...(schema.allOf ?? [])] };
}

function isEither({ anyOf }: Schema): boolean {
  return anyOf?.length === 2 && anyOf[0]?.type === 'integer' && anyOf[1]?.type === 'string';
}

/**
 * kubectl's validation of old refuses unknown fields wherever it sees properties, and cannot read an untyped value or a
 * list that say more: so these say less.
 */
export function publishedV2(schema: Schema, objectFields: ObjectFields): PublishedSchema {
  const { allOf: _, anyOf: __, oneOf: ___, not: ____, nullable, default: _____, ...said } = schema;
  const preserves = said['x-kubernetes-preserve-unknown-fields'] === true;
  if (nullable || preserves) {
    delete said.items;
    delete said.properties;
  }
  if (nullable || (said.type === 'array' && !said.items) || (preserves && said.type === 'object')) delete said.type;
  const required = requiredInV2(said);
  if (required) said.required = required;
  else delete said.required;
  const published = mapChildren(said, (child) => publishedV2(child, objectFields));
  return said['x-kubernetes-embedded-resource'] && !preserves ? asResource(published, objectFields) : published;
}

/** A value that may be null counts as absent there. */
function requiredInV2({ required, properties, ...schema }: Schema): string[] | undefined {
  if (restSchema(schema)?.nullable) return undefined;
  const left = required?.filter((name) => !properties?.[name]?.nullable);
  return left?.length ? left : undefined;
}

function asResource(schema: PublishedSchema, objectFields: ObjectFields): PublishedSchema {
  const required = schema.required ?? [];
  const missing = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  return {
    ...schema,
    properties: { ...schema.properties, ...objectFields },
    required: [...required, ...missing],
  };
}

function mapChildren(schema: Schema, map: (child: Schema) => PublishedSchema): PublishedSchema {
  const { properties, items, additionalProperties, ...words } = schema;
  const published: PublishedSchema = words;
  if (properties) {
    published.properties = Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, map(child)]));
  }
  if (items) published.items = map(items);
  if (additionalProperties !== undefined) {
    published.additionalProperties =
      typeof additionalProperties === 'object' ? map(additionalProperties) : additionalProperties;
  }
  return published;
}
