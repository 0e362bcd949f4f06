/** A value as Go prints it in a field error: JSON with sorted keys and HTML characters escaped; strings quoted plainly. */
import { chargeWork } from '../allowance.ts';

/** Units of work for a value. */
const VALUE_WORK = 3;

export function goJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return canonical(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}

/** JSON with sorted keys, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  chargeWork(VALUE_WORK);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const object = value as Record<string, unknown>;
  const fields = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`);
  return `{${fields.join(',')}}`;
}
