/** Validation of one version of a custom resource: schema, scale, embedded resources, list types, rules; in this order. */
import type { KubeObject } from '../../api/object.ts';
import { hasRules, ruleSteps } from '../cel/rules.ts';
import { offload } from '../offload/offload.ts';
import type { RequestScope } from '../request-scope.ts';
import { validateEmbedded } from '../schema/embedded.ts';
import { validateListTypes } from '../schema/list-type.ts';
import type { Schema } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import type { FieldError } from '../status.ts';
import type { CrdSubresources } from './crd.ts';

const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const UNCHECKED: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

export interface CustomErrors {
  errors: FieldError[];
  /** What is wrong and was so before. */
  warnings: FieldError[];
}

export async function validateCustom(
  object: KubeObject,
  old: KubeObject | undefined,
  schema: Schema,
  scale: CrdSubresources['scale'],
  warnings: string[] = [],
  scope?: RequestScope,
): Promise<FieldError[]> {
  const steps = customErrors(object, old, schema, scale);
  const found = await offload(steps, 'custom', [schema, object, old, scale], { scope });
  warnings.push(...found.warnings.map(({ field, message }) => `${field}: ${message}`));
  return found.errors;
}

export function* customErrors(
  object: KubeObject,
  old: KubeObject | undefined,
  schema: Schema,
  scale: CrdSubresources['scale'],
): Generator<void, CustomErrors> {
  const errors = [...validate(object, schema, '', old)];
  if (scale) errors.push(...scaleErrors(object, scale));
  errors.push(...validateEmbedded(object, schema));
  const lists = validateListTypes(object, schema);
  // Duplicates that were there before do not block other changes.
  if (lists.length > 0 && (!old || validateListTypes(old, schema).length === 0)) errors.push(...lists);
  if (!hasRules(schema)) return { errors, warnings: [] };
  if (errors.some((e) => BLOCKING.has(e.type))) return { errors: [...errors, UNCHECKED], warnings: [] };
  yield;
  const rules = yield* ruleSteps(object, schema, '', old, true);
  return { errors: [...errors, ...rules.errors], warnings: rules.warnings };
}

function scaleErrors(object: KubeObject, scale: NonNullable<CrdSubresources['scale']>): FieldError[] {
  const errors: FieldError[] = [];
  for (const path of [scale.specReplicasPath, scale.statusReplicasPath]) {
    const value = valueAt(object, path);
    const say = (shown: unknown, text: string) =>
      errors.push({ type: 'FieldValueInvalid', field: path, message: `Invalid value: ${shown}: ${text}` });
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      const type = typeof value === 'number' ? 'float64' : typeof value;
      say(0, `${path} accessor error: ${JSON.stringify(value)} is of the type ${type}, expected int64`);
    } else if (value < 0) say(value, 'should be a non-negative integer');
    else if (value > 2147483647) say(value, 'should be less than or equal to 2147483647');
  }
  const selector = scale.labelSelectorPath;
  const text = selector ? valueAt(object, selector) : undefined;
  if (text !== undefined && typeof text !== 'string') {
    const why = `${selector} accessor error: ${JSON.stringify(text)} is of the type ${typeof text}, expected string`;
    errors.push({ type: 'FieldValueInvalid', field: selector as string, message: `Invalid value: "": ${why}` });
  }
  return errors;
}

/** The value at a dotted path with a leading dot; undefined where something on the way is missing. */
function valueAt(object: KubeObject, path: string): unknown {
  let current: unknown = object;
  for (const key of path.replace(/^\./, '').split('.')) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}
