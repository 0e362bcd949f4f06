/**
 * What a CRD's schema may say, node by node, beyond being structural: types, defaults, list types, keys, rules.
 * Follows ValidateCustomResourceDefinitionOpenAPISchema.
 */

import { entries, restSchema, someSchema } from '../schema/children.ts';
import { hasFieldPath } from '../schema/field-path.ts';
import { goJson } from '../schema/go-json.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { type FieldError, field } from '../status.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** What the place in the schema forbids. */
export interface Place {
  root: boolean;
  insideMeta: boolean;
  noDefaults?: string;
  /** First ancestor whose old and new parts cannot be matched: no `oldSelf` below it. */
  uncorrelatable?: string;
}

/** Called for every node with rules, once the node and everything below it is otherwise fine. */
export type CheckRules = (schema: Schema, path: string, place: Place) => FieldError[];

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

/** Words of JSON schema that have no place in a structural one. */
export function hasUnsupportedWords(schema: Schema): boolean {
  return someSchema(
    schema,
    (s) => Array.isArray(s.items) || UNSUPPORTED.some((word) => (s as Record<string, unknown>)[word] !== undefined),
  );
}

export function schemaRules(schema: Schema, path: string, place: Place, checkRules?: CheckRules): FieldError[] {
  const own: FieldError[] = [];
  const rules: FieldError[] = [];
  node(schema, path, place, checkRules, own, rules);
  return [...own, ...rules];
}

/** Appends errors; returns how many schema errors this node and those below it have. */
function node(
  s: Schema,
  path: string,
  place: Place,
  check: CheckRules | undefined,
  errors: FieldError[],
  ruleErrors: FieldError[],
): void {
  const before = errors.length;
  words(s, path, place, errors);
  // Rules inside junctors are not structural, so nothing looks at them.
  const below = (child: Schema | undefined, at: string, where: Place, inJunctor = false) => {
    if (child) node(child, `${path}.${at}`, where, inJunctor ? undefined : check, errors, ruleErrors);
  };
  const inner: Place = { ...place, root: false };
  if (s.additionalProperties !== undefined) {
    if (Object.keys(s.properties ?? {}).length > 0 && s.additionalProperties !== true) {
      const text = 'additionalProperties and properties are mutual exclusive';
      errors.push(field.forbidden(`${path}.additionalProperties`, text));
    }
    const where = place.insideMeta
      ? { ...inner, noDefaults: 'inside additionalProperties applying to object metadata' }
      : inner;
    below(restSchema(s), 'additionalProperties', where);
  }
  for (const [key, property] of entries(s.properties)) {
    const where = { ...inner };
    if ((place.root || s['x-kubernetes-embedded-resource']) && ['metadata', 'kind', 'apiVersion'].includes(key)) {
      where.insideMeta = true;
      if (place.root) where.noDefaults = `in top-level ${key}`;
    }
    below(property, `properties[${key}]`, where);
  }
  below(s.not, 'not', inner, true);
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, part] of (s[junctor] ?? []).entries()) below(part, `${junctor}[${i}]`, inner, true);
  }
  if (s.items && !Array.isArray(s.items)) {
    const where =
      s['x-kubernetes-list-type'] === 'map' ? inner : { ...inner, uncorrelatable: place.uncorrelatable ?? path };
    below(s.items, 'items', where);
  }
  extensions(s, path, errors);
  listKeys(s, path, errors);
  validations(s, path, errors);
  if (check && s['x-kubernetes-validations']?.length && errors.length === before)
    ruleErrors.push(...check(s, path, place));
}

function words(s: Schema, path: string, place: Place, errors: FieldError[]): void {
  if (s.type && !TYPES.includes(s.type)) errors.push(field.notSupported(`${path}.type`, s.type, TYPES));
  if (s.default !== undefined && s.default !== null && place.noDefaults !== undefined) {
    errors.push(field.forbidden(`${path}.default`, `must not be set ${place.noDefaults}`));
  }
  for (const word of UNSUPPORTED) {
    if ((s as Record<string, unknown>)[word] !== undefined)
      errors.push(field.forbidden(`${path}.${word}`, `${word} is not supported`));
  }
  if ((s.type as string) === 'null') {
    errors.push(field.forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(s.items)) {
    errors.push(field.forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (place.insideMeta && s['x-kubernetes-embedded-resource']) {
    errors.push(field.forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (s.uniqueItems) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(field.forbidden(`${path}.uniqueItems`, text));
  }
}

function extensions(s: Schema, path: string, errors: FieldError[]): void {
  if (s['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(field.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  typed(s, 'x-kubernetes-map-type', 'object', ['atomic', 'granular'], path, errors);
  typed(s, 'x-kubernetes-list-type', 'array', ['atomic', 'set', 'map'], path, errors);
  const items = s.items;
  if (s['x-kubernetes-list-type'] !== 'set' || s.type !== 'array' || !items) return;
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const inner = items['x-kubernetes-list-type'];
  if (items.type === 'array' && inner !== undefined && inner !== 'atomic') {
    errors.push(field.invalid(`${path}.items.x-kubernetes-list-type`, inner, text));
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    errors.push(field.invalid(`${path}.items.x-kubernetes-map-type`, inner ?? null, text));
  }
}

function typed(
  s: Schema,
  word: 'x-kubernetes-map-type' | 'x-kubernetes-list-type',
  type: string,
  allowed: string[],
  path: string,
  errors: FieldError[],
): void {
  const value = s[word];
  if (value === undefined) return;
  if (s.type !== type) {
    const text = `must be ${type} if ${word} is specified`;
    errors.push(s.type ? field.invalid(`${path}.type`, s.type, text) : field.required(`${path}.type`, text));
  }
  if (!allowed.includes(value)) errors.push(field.notSupported(`${path}.${word}`, value, allowed));
}

function listKeys(s: Schema, path: string, errors: FieldError[]): void {
  const type = s['x-kubernetes-list-type'];
  const keys = s['x-kubernetes-list-map-keys'] ?? [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length > 0 && type !== 'map') {
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(type === undefined ? field.required(at, text) : field.invalid(at, type, text));
  }
  const items = s.items;
  if (type === 'map') {
    if (keys.length === 0) errors.push(field.required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
    if (!items) errors.push(field.required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
    else if (items.type !== 'object') {
      const text = "must be object if parent array's x-kubernetes-list-type is map";
      errors.push(field.invalid(`${path}.items.type`, items.type ?? '', text));
    } else keyProperties(items, keys, path, errors);
  }
  if (!items || (type !== 'set' && type !== 'map')) return;
  if (items.nullable) {
    errors.push(field.forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${type}`));
  }
  if (type !== 'map') return;
  for (const key of keys) {
    const property = items.properties?.[key];
    if (!property) continue;
    const at = `${path}.items.properties[${key}]`;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!items.required?.includes(key) && (property.default === undefined || property.default === null)) {
      errors.push(field.required(`${at}.default`, `${why} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(field.forbidden(`${at}.nullable`, `${why} cannot be nullable`));
  }
}

function keyProperties(items: Schema, keys: string[], path: string, errors: FieldError[]): void {
  const at = `${path}.x-kubernetes-list-map-keys`;
  keys.forEach((key, i) => {
    const property = items.properties?.[key];
    if (!property) errors.push(field.invalid(at, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const text = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(field.invalid(`${path}.items.properties[${key}].type`, items.type, text));
    }
    if (keys.indexOf(key) < i) errors.push(field.invalid(at, keys, 'must not contain duplicate entries'));
  });
}

function validations(s: Schema, path: string, errors: FieldError[]): void {
  s['x-kubernetes-validations']?.forEach((rule, i) => {
    validation(s, rule, `${path}.x-kubernetes-validations[${i}]`, errors);
  });
}

function validation(s: Schema, rule: ValidationRule, at: string, errors: FieldError[]): void {
  const text = rule.rule?.trim() ?? '';
  const message = rule.message?.trim() ?? '';
  if (text === '') errors.push(field.required(`${at}.rule`, 'rule is not specified'));
  else if (rule.message && message === '') {
    errors.push(field.invalid(`${at}.message`, rule.message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message)) {
    errors.push(field.invalid(`${at}.message`, rule.message, 'must not contain line breaks'));
  } else if (/[\n\r]/.test(text) && message === '') {
    errors.push(field.required(`${at}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (rule.messageExpression && rule.messageExpression.trim() === '') {
    errors.push(field.required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
    errors.push(field.notSupported(`${at}.reason`, rule.reason, REASONS));
  }
  if (!rule.fieldPath) return;
  if (rule.fieldPath.trim() === '') {
    errors.push(field.invalid(`${at}.fieldPath`, rule.fieldPath, 'must be non-empty if specified'));
  }
  if (/[\n\r]/.test(rule.fieldPath)) {
    errors.push(field.invalid(`${at}.fieldPath`, rule.fieldPath, 'must not contain line breaks'));
  }
  if (!hasFieldPath(s, rule.fieldPath)) {
    errors.push({
      type: 'FieldValueInvalid',
      field: `${at}.fieldPath`,
      message: `Invalid value: ${goJson(rule.fieldPath)}: must be a valid path`,
    });
  }
}
