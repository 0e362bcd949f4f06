/** The schemas directly below a schema. */
import type { Schema } from './schema.ts';

/** Properties with their names. */
export function* entries(properties: Record<string, Schema> | undefined): Iterable<[string, Schema]> {
  if (properties !== undefined) for (const key in properties) yield [key, properties[key] as Schema];
}

/** The schema of additionalProperties, where it is one. */
export function restSchema(schema: Schema): Schema | undefined {
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}
