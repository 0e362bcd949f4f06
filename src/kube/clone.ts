/** A copy of a JSON value. Several times faster than `structuredClone`, which is made for much more. */
export function clone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone) as T;
  const copy: Record<string, unknown> = {};
  for (const [field, part] of Object.entries(value)) copy[field] = clone(part);
  return copy as T;
}
