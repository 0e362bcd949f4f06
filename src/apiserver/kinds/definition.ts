/**
 * Definitions of built-in kinds as `Schema`s whose references are the very objects they name. One object per definition
 * for the whole process; recursive definitions (JSONSchemaProps) are cyclic.
 */
import type { Schema } from '../schema/schema.ts';
import { type RawSchema, rawDefinition } from './tables.ts';

const RUNTIME = 'io.k8s.apimachinery.pkg.runtime';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

/** Types whose JSON form their definition does not tell: anything goes inside, or a number as well as a string. */
const SPECIAL: Record<string, Schema> = {
  [`${RUNTIME}.RawExtension`]: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  // The manager of fields owns its inner form; merging treats it as one value.
  [`${META}.FieldsV1`]: {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-map-type': 'atomic',
  },
  [`${CRD}.JSON`]: { 'x-kubernetes-preserve-unknown-fields': true },
  [`${CRD}.JSONSchemaPropsOrArray`]: { 'x-kubernetes-preserve-unknown-fields': true },
  [`${CRD}.JSONSchemaPropsOrBool`]: { 'x-kubernetes-preserve-unknown-fields': true },
  [`${CRD}.JSONSchemaPropsOrStringArray`]: { 'x-kubernetes-preserve-unknown-fields': true },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { format: 'int-or-string', 'x-kubernetes-int-or-string': true },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    format: 'quantity',
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
};

const linked = new Map<string, Schema>();
/** References with words of their own (a patch strategy, say): copies made once everything they copy is complete. */
let copies: { copy: Schema; target: Schema; own: Schema }[] = [];

/** The schema of a definition, e.g. `io.k8s.api.apps.v1.Deployment`. Treat as read-only. */
export function definition(name: string): Schema {
  const known = linked.get(name);
  if (known) return known;
  const schema = link(name);
  for (const { copy, target, own } of copies) Object.assign(copy, target, own);
  copies = [];
  return schema;
}

function link(name: string): Schema {
  const known = linked.get(name);
  if (known) return known;
  const schema: Schema = { ...SPECIAL[name] };
  // Registered before it is filled, so that a cycle finds it.
  linked.set(name, schema);
  if (!(name in SPECIAL)) fill(schema, rawDefinition(name));
  return schema;
}

function fill(schema: Schema, raw: RawSchema): void {
  const { $ref: _, gvk: __, properties, items, additionalProperties, ...words } = raw;
  Object.assign(schema, words);
  if (properties) {
    schema.properties = {};
    for (const field of Object.keys(properties)) schema.properties[field] = resolve(properties[field] as RawSchema);
  }
  if (items) schema.items = resolve(items);
  if (additionalProperties) schema.additionalProperties = resolve(additionalProperties);
}

function resolve(raw: RawSchema): Schema {
  const own: Schema = {};
  if (!raw.$ref) {
    fill(own, raw);
    return own;
  }
  const target = link(raw.$ref);
  if (Object.keys(raw).length === 1) return target;
  fill(own, raw);
  const copy: Schema = {};
  copies.push({ copy, target, own });
  return copy;
}
