/**
 * Whether a schema is structural: every field, item and type is named outside of allOf/anyOf/oneOf/not, so that a value
 * can be pruned and defaulted by walking it. Rules and words of apiextensions-apiserver/pkg/apiserver/schema/validation.go.
 */
import { entries, restSchema } from '../schema/children.ts';
import { compilePattern } from '../schema/pattern.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldError, field } from '../status.ts';

type Level = 'root' | 'item' | 'field';

export function validateStructural(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  invariants(schema, 'root', path, errors);
  completeness(schema, schema, path, path, errors);
  return errors.sort((a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1));
}

function invariants(s: Schema, level: Level, path: string, errors: FieldError[]): void {
  if (s.type === 'array' && !s.items) errors.push(field.required(`${path}.items`, 'must be specified'));
  if (s.items) invariants(s.items, 'item', `${path}.items`, errors);
  for (const [key, property] of entries(s.properties))
    invariants(property, 'field', `${path}.properties[${key}]`, errors);
  if (s.additionalProperties !== undefined) {
    if (level === 'root') errors.push(field.forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
    const rest = restSchema(s);
    if (rest) invariants(rest, 'field', `${path}.additionalProperties`, errors);
  }
  extensions(s, path, errors);
  valueRules(s, isIntOrStringAnyOf(s), s.allOf?.[0] !== undefined && isIntOrStringAnyOf(s.allOf[0]), path, errors);
  types(s, level, path, errors);
  metadata(s, level, path, errors);
  const embedded = s['x-kubernetes-embedded-resource'];
  if (embedded && !s['x-kubernetes-preserve-unknown-fields'] && !Object.keys(s.properties ?? {}).length) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(field.required(`${path}.properties`, text));
  }
}

function extensions(s: Schema, path: string, errors: FieldError[]): void {
  if (!s['x-kubernetes-int-or-string']) return;
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (s[name])
      errors.push(field.invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
  }
}

const EMPTY_TYPE: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function types(s: Schema, level: Level, path: string, errors: FieldError[]): void {
  const embedded = s['x-kubernetes-embedded-resource'] === true;
  if (embedded && s.type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(s.type ? field.invalid(`${path}.type`, s.type, text) : field.required(`${path}.type`, text));
  } else if (!s.type && !s['x-kubernetes-int-or-string'] && !s['x-kubernetes-preserve-unknown-fields']) {
    errors.push(field.required(`${path}.type`, EMPTY_TYPE[level]));
  }
  if (embedded && s.additionalProperties !== undefined) {
    const text = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(field.forbidden(`${path}.additionalProperties`, text));
  }
  if (level === 'root' && s.type && s.type !== 'object') {
    errors.push(field.invalid(`${path}.type`, s.type, 'must be object at the root'));
  }
}

/** What a resource has by itself may be restricted a little, never redefined. */
function metadata(s: Schema, level: Level, path: string, errors: FieldError[]): void {
  const checked = level === 'root' || s['x-kubernetes-embedded-resource'] === true;
  for (const name of ['kind', 'apiVersion']) {
    const property = s.properties?.[name];
    if (property && checked && property.type !== 'string') {
      errors.push(field.invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
    }
  }
  const meta = s.properties?.metadata;
  if (!meta) return;
  const at = `${path}.properties[metadata]`;
  if (checked && meta.type !== 'object') errors.push(field.invalid(`${at}.type`, meta.type ?? '', 'must be object'));
  if (level !== 'root') return;
  const { type: _, default: __, properties, ...rest } = meta;
  const names = Object.keys(properties ?? {});
  const more = Object.entries(rest).some(
    ([word, value]) => !DOCUMENTATION.has(word) && value !== undefined && value !== false && value !== '',
  );
  if (names.some((n) => n !== 'name' && n !== 'generateName') || more) {
    const text = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(field.forbidden(at, text));
  }
}

/** Not kept by structural schemas, so not held against them. */
const DOCUMENTATION = new Set(['example', 'externalDocs']);

/** The two ways to write "integer or string" that are allowed to name types inside anyOf. */
function isIntOrStringAnyOf(s: Schema): boolean {
  const parts = s.anyOf;
  return parts?.length === 2 && onlyType(parts[0], 'integer') && onlyType(parts[1], 'string');
}

function onlyType(s: Schema | undefined, type: string): boolean {
  return s?.type === type && Object.keys(s).length === 1;
}

function valueRules(s: Schema, skipAnyOf: boolean, skipAllOf: boolean, path: string, errors: FieldError[]): void {
  if (!skipAnyOf)
    s.anyOf?.forEach((part, i) => {
      nested(part, false, `${path}.anyOf[${i}]`, errors);
    });
  s.allOf?.forEach((part, i) => {
    nested(part, skipAllOf && i === 0, `${path}.allOf[${i}]`, errors);
  });
  s.oneOf?.forEach((part, i) => {
    nested(part, false, `${path}.oneOf[${i}]`, errors);
  });
  if (s.not) nested(s.not, false, `${path}.not`, errors);
  if (s.pattern) {
    const compiled = compilePattern(s.pattern);
    if (compiled instanceof Error) {
      const text = `must be a valid regular expression, but isn't: ${compiled.message}`;
      errors.push(field.invalid(`${path}.pattern`, s.pattern, text));
    }
  }
}

const FORBIDDEN_INSIDE: [keyof Schema, string][] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nested(s: Schema, skipAnyOf: boolean, path: string, errors: FieldError[]): void {
  valueRules(s, skipAnyOf, false, path, errors);
  if (s.items) nested(s.items, false, `${path}.items`, errors);
  for (const [key, property] of entries(s.properties)) nested(property, false, `${path}.properties[${key}]`, errors);
  for (const [word, text] of FORBIDDEN_INSIDE) {
    const value = s[word];
    const absent =
      value === undefined || value === null || value === '' || (value === false && word !== 'additionalProperties');
    if (!absent && !(Array.isArray(value) && value.length === 0)) errors.push(field.forbidden(`${path}.${word}`, text));
  }
  if (s.properties?.metadata) {
    errors.push(field.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
}

/** Everything named inside a junctor must be named outside of it too. */
function completeness(v: Schema, s: Schema | undefined, sPath: string, vPath: string, errors: FieldError[]): void {
  if (s === undefined) {
    errors.push(field.required(sPath, `because it is defined in ${vPath}`));
    return;
  }
  const inner = (part: Schema, at: string) => nestedCompleteness(part, s, sPath, at, errors);
  if (v.not) inner(v.not, `${vPath}.not`);
  v.allOf?.forEach((part, i) => {
    inner(part, `${vPath}.allOf[${i}]`);
  });
  v.anyOf?.forEach((part, i) => {
    inner(part, `${vPath}.anyOf[${i}]`);
  });
  v.oneOf?.forEach((part, i) => {
    inner(part, `${vPath}.oneOf[${i}]`);
  });
}

function nestedCompleteness(
  v: Schema,
  s: Schema | undefined,
  sPath: string,
  vPath: string,
  errors: FieldError[],
): void {
  if (s === undefined) {
    errors.push(field.required(sPath, `because it is defined in ${vPath}`));
    return;
  }
  completeness(v, s, sPath, vPath, errors);
  if (v.items) nestedCompleteness(v.items, s.items, `${sPath}.items`, `${vPath}.items`, errors);
  for (const [key, property] of entries(v.properties)) {
    const at = `properties[${key}]`;
    nestedCompleteness(property, s.properties?.[key], `${sPath}.${at}`, `${vPath}.${at}`, errors);
  }
}
