/** What one version of a CRD says besides its schema: subresources, printer columns, selectable fields. */

import { parseFieldPath, schemaAt } from '../schema/field-path.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldError, field } from '../status.ts';
import type { CrdColumn, CrdSubresources } from './crd.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE_FIELDS = 8;

export function subresourceRules(subresources: CrdSubresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const errors: FieldError[] = [];
  const under = (value: string | undefined, name: string, roots: string[], text: string, required: boolean) => {
    const at = `${path}.scale.${name}`;
    if (!value) {
      if (required) errors.push(field.required(at));
    } else if (!value.startsWith('.')) {
      errors.push(field.invalid(at, value, 'must be a simple json path starting with .'));
    } else if (!roots.some((root) => value.startsWith(root))) errors.push(field.invalid(at, value, text));
  };
  under(scale.specReplicasPath, 'specReplicasPath', ['.spec.'], 'should be a json path under .spec', true);
  under(scale.statusReplicasPath, 'statusReplicasPath', ['.status.'], 'should be a json path under .status', true);
  const either = 'should be a json path under either .spec or .status';
  under(scale.labelSelectorPath, 'labelSelectorPath', ['.spec.', '.status.'], either, false);
  return errors;
}

export function columnRules(columns: CrdColumn[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  columns.forEach((column, i) => {
    const at = `${path}[${i}]`;
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (!column.name) errors.push(field.required(`${at}.name`));
    if (!column.type) errors.push(field.required(`${at}.type`, types));
    else if (!COLUMN_TYPES.includes(column.type)) errors.push(field.invalid(`${at}.type`, column.type, types));
    if (column.format && !COLUMN_FORMATS.includes(column.format)) {
      errors.push(field.invalid(`${at}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    if (!column.jsonPath) errors.push(field.required(`${at}.JSONPath`));
    else if (!column.jsonPath.startsWith('.')) {
      errors.push(field.invalid(`${at}.JSONPath`, column.jsonPath, 'must be a simple json path starting with .'));
    }
  });
  return errors;
}

export function selectableFieldRules(
  fields: { jsonPath: string }[],
  schema: Schema | undefined,
  path: string,
): FieldError[] {
  if (fields.length === 0) return [];
  if (schema === undefined) {
    const shared = path === 'spec.selectableFields';
    const when = shared ? 'validations.schema is included' : '`version.schema.openAPIV3Schema` is not included';
    return [field.invalid(path, '', `may only be set when ${when}`)];
  }
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  fields.forEach(({ jsonPath }, i) => {
    const at = `${path}[${i}].jsonPath`;
    if (!jsonPath) {
      errors.push(field.required(at));
      return;
    }
    const keys = parseFieldPath(jsonPath);
    const found = keys && schemaAt(schema, jsonPath);
    if (!keys || !found) {
      const start = /^[^.[]+/.exec(jsonPath)?.[0];
      const why = start ? `expected [ or . but got: ${start}` : 'does not refer to a valid field';
      errors.push(field.invalid(at, jsonPath, `is an invalid path: ${why}`));
      return;
    }
    if (keys[0] === 'metadata') errors.push(field.invalid(at, jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.type ?? '')) {
      const text =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(field.invalid(at, jsonPath, text));
    }
    const key = keys.join('.');
    if (seen.has(key)) errors.push(field.duplicate(at, jsonPath));
    seen.add(key);
  });
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(field.tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}
