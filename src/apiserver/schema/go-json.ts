/** A value as Go prints it in a field error: JSON with sorted keys and HTML characters escaped; strings quoted plainly. */
import { canonical } from './list-type.ts';

export function goJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return canonical(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}
