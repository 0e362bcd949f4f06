/** x-kubernetes-validations (placeholder until the CEL part lands). */
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';

export function hasRules(_schema: Schema): boolean {
  return false;
}
export function validateRules(_value: unknown, _schema: Schema, _path: string, _old?: unknown): FieldError[] {
  return [];
}
export function checkRuleSources(_root: Schema) {
  return { check: (_schema: Schema, _path: string): FieldError[] => [], total: (_path: string): FieldError[] => [] };
}
