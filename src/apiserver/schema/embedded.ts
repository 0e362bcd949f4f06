/** Resources inside resources (x-kubernetes-embedded-resource) must look like resources: apiVersion, kind, metadata. */
import type { ObjectMeta } from '../../api/object.ts';
import { validateObjectMeta } from '../builtins/metadata-validation.ts';
import { dns1035Label } from '../builtins/names.ts';
import { type FieldError, field } from '../status.ts';
import { childPath, fieldSchema } from './prune.ts';
import type { Schema } from './schema.ts';

type Json = Record<string, unknown>;

/** Schemas that embed nothing need no walk; remembered per schema because most do not. */
const embeds = new WeakMap<Schema, boolean>();

export function hasEmbedded(schema: Schema): boolean {
  let known = embeds.get(schema);
  if (known === undefined) {
    known =
      schema['x-kubernetes-embedded-resource'] === true ||
      (schema.items !== undefined && hasEmbedded(schema.items)) ||
      (typeof schema.additionalProperties === 'object' && hasEmbedded(schema.additionalProperties)) ||
      Object.values(schema.properties ?? {}).some(hasEmbedded);
    embeds.set(schema, known);
  }
  return known;
}

export function validateEmbedded(value: unknown, schema: Schema): FieldError[] {
  if (!hasEmbedded(schema)) return [];
  const errors: FieldError[] = [];
  walk(value, schema, '', errors);
  return errors;
}

function walk(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null || !hasEmbedded(schema)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (let i = 0; i < value.length; i++) walk(value[i], schema.items, `${path}[${i}]`, errors);
    return;
  }
  const object = value as Json;
  if (schema['x-kubernetes-embedded-resource']) check(object, path, errors);
  for (const key in object) {
    const child = fieldSchema(schema, key);
    if (!child) continue;
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    walk(object[key], child, named ? childPath(path, key) : `${path}[${key}]`, errors);
  }
}

function check(object: Json, path: string, errors: FieldError[]): void {
  for (const name of ['apiVersion', 'kind']) {
    const at = childPath(path, name);
    const value = object[name];
    if (value === undefined) errors.push(field.required(at));
    else if (typeof value !== 'string') errors.push(field.invalid(at, value, 'must be a string'));
    else if (value === '') errors.push(field.invalid(at, value, 'must not be empty'));
    else if (name === 'apiVersion') {
      if (value.split('/').length > 2) {
        errors.push(field.invalid(at, value, `unexpected GroupVersion string: ${value}`));
      }
    } else {
      const texts = dns1035Label(value.toLowerCase());
      if (texts.length > 0) {
        const text = `may have mixed case, but should otherwise match: ${texts.join(',')}`;
        errors.push(field.invalid(at, value, text));
      }
    }
  }
  const meta = object.metadata as ObjectMeta | undefined;
  if (meta === undefined || typeof meta !== 'object') return;
  // Any name will do: most embedded resources get theirs later.
  const named = { ...meta, name: meta.name || 'fakename' };
  const rules = { namespaced: Boolean(meta.namespace), nameKind: 'pathSegment' as const };
  errors.push(...validateObjectMeta(named, rules, childPath(path, 'metadata')));
}
