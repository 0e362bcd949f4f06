/** Strings, numbers and enums against their schema; the texts are kube-openapi's. */
import { deepEqual } from './equal.ts';
import { type Failure, fail, failInvalid } from './failure.ts';
import { goJson } from './go-json.ts';
import { matchesPattern } from './pattern.ts';
import type { Schema } from './schema.ts';

export function checkString(value: string, schema: Schema, name: string, errors: Failure[]): void {
  const { maxLength, minLength, pattern } = schema;
  if (maxLength !== undefined && value.length > maxLength && runes(value) > maxLength) {
    const unit = maxLength === 1 ? 'byte' : 'bytes';
    fail(errors, name, `${name} in body should be at most ${maxLength} chars long`, (path) => ({
      type: 'FieldValueTooLong',
      field: path,
      message: `Too long: may not be more than ${maxLength} ${unit}`,
    }));
    return;
  }
  if (minLength !== undefined && runes(value) < minLength) {
    failInvalid(errors, name, value, `${name} in body should be at least ${minLength} chars long`);
    return;
  }
  if (pattern) {
    const result = matchesPattern(pattern, value);
    if (result instanceof Error) {
      const text = `${name} in body should match '${pattern}, but pattern is invalid: ${result.message}'`;
      failInvalid(errors, name, value, text);
    } else if (!result) failInvalid(errors, name, value, `${name} in body should match '${pattern}'`);
  }
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export function checkNumber(value: number, schema: Schema, name: string, errors: Failure[]): void {
  const { multipleOf, minimum, maximum } = schema;
  // An integer is compared with the integer part of the bound, as Go converts it.
  const whole = Number.isInteger(value);
  if (multipleOf !== undefined) {
    const factor = whole ? Math.trunc(multipleOf) : multipleOf;
    if (factor <= 0) {
      failInvalid(errors, name, factor, `factor MultipleOf declared for ${name} must be positive: ${factor}`);
    } else if (!isMultiple(value, factor)) {
      failInvalid(errors, name, value, `${name} in body should be a multiple of ${factor}`);
    }
  }
  if (minimum !== undefined) {
    const bound = whole ? Math.trunc(minimum) : minimum;
    if (schema.exclusiveMinimum ? value <= bound : value < bound) {
      const than = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
      failInvalid(errors, name, value, `${name} in body should be ${than} ${bound}`);
    }
  }
  if (maximum !== undefined) {
    const bound = whole ? Math.trunc(maximum) : maximum;
    if (schema.exclusiveMaximum ? value >= bound : value > bound) {
      const than = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
      failInvalid(errors, name, value, `${name} in body should be ${than} ${bound}`);
    }
  }
}

function isMultiple(value: number, factor: number): boolean {
  const ratio = factor < 1 ? (1 / factor) * value : value / factor;
  const nearest = Math.round(ratio);
  return ratio === nearest || Math.abs(ratio - nearest) < 1e-9 * Math.max(Math.abs(ratio), Math.abs(nearest));
}

export function checkEnum(value: unknown, allowed: unknown[], name: string, errors: Failure[]): void {
  for (const candidate of allowed) {
    if (candidate !== null && deepEqual(value, candidate)) return;
    // Go converts the value to the candidate's type first, which cuts off fractions.
    if (typeof value === 'number' && Number.isInteger(candidate) && Math.trunc(value) === candidate) return;
  }
  fail(errors, name, `${name} in body should be one of ${JSON.stringify(allowed)}`, (path) => {
    const texts = allowed.map((v) => JSON.stringify(typeof v === 'string' ? v : goJson(v)));
    const message = `Unsupported value: ${goJson(value)}: supported values: ${texts.join(', ')}`;
    return { type: 'FieldValueNotSupported', field: path, message };
  });
}
