/** Whether a patched object still is one of its kind: the real server decodes it into Go structs, and says so if it cannot. */
import type { Schema } from '../schema/schema.ts';
import { field, invalid } from '../status.ts';
import { goKind, goPlain } from './go-value.ts';
import { isMap } from './strategic-meta.ts';

/** Throws 422 naming the patch, as the real server does. */
export function checkRestorable(object: unknown, schema: Schema, patch: unknown): void {
  const problem = problemOf(object, schema);
  if (problem) throw invalid('', '', '', [field.invalid('patch', goPlain(patch), problem)]);
}

function problemOf(value: unknown, schema: Schema | undefined): string | undefined {
  if (value === null || value === undefined || !schema) return undefined;
  const resolved = !schema.type && schema.allOf?.length === 1 ? (schema.allOf[0] as Schema) : schema;
  switch (resolved.type) {
    case 'object':
      return mapProblem(value, resolved);
    case 'array':
      if (!Array.isArray(value)) return `cannot restore slice from ${goKind(value)}`;
      return first(value, (item) => problemOf(item, resolved.items));
    case 'string':
      return resolved.format && resolved.format !== 'byte' ? undefined : scalarProblem(value, 'string');
    case 'boolean':
      return scalarProblem(value, 'bool');
    case 'integer':
      return scalarProblem(value, resolved.format === 'int32' ? 'int32' : 'int64');
    case 'number':
      return scalarProblem(value, 'float64');
    default:
      return undefined;
  }
}

function mapProblem(value: unknown, schema: Schema): string | undefined {
  const { properties, additionalProperties } = schema;
  const isStruct = properties !== undefined || additionalProperties === undefined;
  if (!isMap(value)) {
    return isStruct ? `cannot restore struct from: ${goKind(value)}` : `cannot restore map from ${goKind(value)}`;
  }
  if (properties) return first(Object.keys(properties), (key) => problemOf(value[key], properties[key]));
  if (typeof additionalProperties !== 'object') return undefined;
  return first(Object.keys(value), (key) => problemOf(value[key], additionalProperties));
}

function scalarProblem(value: unknown, target: string): string | undefined {
  const kind = goKind(value);
  const isNumber = kind === 'int64' || kind === 'float64';
  if (target === kind) return undefined;
  if (isNumber && target === 'float64') return undefined;
  if (kind === 'int64' && target === 'int32') return undefined;
  if (kind === 'map' || kind === 'slice') return `unrecognized type: ${target}`;
  return `cannot convert ${kind} to ${target}`;
}

function first<T>(items: T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem) return problem;
  }
  return undefined;
}
