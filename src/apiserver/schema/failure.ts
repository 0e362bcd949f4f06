/** One broken rule while a value is walked; it becomes a FieldError once the whole walk is known to have failed. */
import { type FieldError, field } from '../status.ts';
import { goJson } from './go-json.ts';

export interface Failure {
  /** Path from the value validated; undefined for combinators, which upstream reports without one. */
  name: string | undefined;
  make(path: string): FieldError;
  text: string;
}

export function toFieldErrors(failures: Failure[], prefix: string): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const failure of failures) {
    if (seen.has(failure.text)) continue;
    seen.add(failure.text);
    const name = failure.name?.startsWith('.') ? failure.name.slice(1) : failure.name;
    const path = !name ? prefix : prefix === '' ? name : `${prefix}.${name}`;
    errors.push(failure.make(path === '' ? '<nil>' : path));
  }
  return errors;
}

export function fail(errors: Failure[], name: string, text: string, make: (path: string) => FieldError): void {
  errors.push({ name, text, make });
}

export function failInvalid(errors: Failure[], name: string, value: unknown, text: string): void {
  fail(errors, name, text, (path) => ({
    type: 'FieldValueInvalid',
    field: path,
    message: `Invalid value: ${goJson(value)}: ${text}`,
  }));
}

export function failType(errors: Failure[], name: string, type: string, value: string): void {
  const text = `${name} in body must be of type ${type}: ${JSON.stringify(value)}`;
  fail(errors, name, text, (path) => field.typeInvalid(path, value, text));
}

export function failWhole(errors: Failure[], text: string): void {
  errors.push({ name: undefined, text, make: (path) => field.invalid(path, '', text) });
}

export function tooMany(errors: Failure[], name: string, text: string, actual: number, max: number): void {
  fail(errors, name, `${name} in body ${text}`, (path) => ({
    type: 'FieldValueTooMany',
    field: path,
    message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  }));
}
