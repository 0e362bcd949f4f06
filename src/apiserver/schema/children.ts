/** The schemas directly below a schema. */
import { chargeWork } from '../allowance.ts';
import type { Schema } from './schema.ts';

/** Looking at one schema, in units of work. */
const SCHEMA = 5;

/** Properties with their names. */
export function* entries(properties: Record<string, Schema> | undefined): Iterable<[string, Schema]> {
  if (properties === undefined) return;
  for (const key in properties) {
    chargeWork(SCHEMA);
    yield [key, properties[key] as Schema];
  }
}

/** The schema of additionalProperties, where it is one. */
export function restSchema(schema: Schema): Schema | undefined {
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** Whether something holds for a schema or any schema below it, inside junctors too. */
export function someSchema(schema: Schema, holds: (schema: Schema) => boolean): boolean {
  chargeWork(SCHEMA);
  if (holds(schema)) return true;
  const rest = restSchema(schema);
  const below = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items && !Array.isArray(schema.items) ? [schema.items] : []),
    ...(rest ? [rest] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.not ? [schema.not] : []),
  ];
  return below.some((child) => someSchema(child, holds));
}
