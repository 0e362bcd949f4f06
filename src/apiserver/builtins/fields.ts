/** Small moves on the open part of objects, shared by defaults, validation and printers. */

// biome-ignore lint/suspicious/noExplicitAny: built-in kinds are walked by name; their schema has checked the types.
export type Any = any;

/** Go's zero values: what `omitempty` leaves out and what defaulting takes for "not set". */
export function isZero(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}

/** Sets fields that are not there (null counts as not there). */
export function defaultTo(target: Any, values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) {
    if (target[name] === undefined || target[name] === null) target[name] = value;
  }
}

/** Like `defaultTo` for fields whose Go type is no pointer: empty and zero count as not set too. */
export function defaultEmpty(target: Any, values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) if (isZero(target[name])) target[name] = value;
}

/** The object under `name`, made when missing. */
export function ensure(target: Any, name: string): Any {
  if (target[name] === undefined || target[name] === null) target[name] = {};
  return target[name];
}

/** A list, or nothing: for loops over optional lists. */
export function items(value: Any): Any[] {
  return Array.isArray(value) ? value : [];
}

/** Sets or removes, so that copying an absent value leaves no `undefined` behind. */
export function assign(target: Any, name: string, value: unknown): void {
  if (value === undefined) delete target[name];
  else target[name] = value;
}

/** The value at a dotted path. */
export function at(object: Any, path: string): Any {
  let value = object;
  for (const name of path.split('.')) {
    if (value === undefined || value === null) return undefined;
    value = value[name];
  }
  return value;
}

/** Structural equality of JSON; absent, null and empty containers are the same, as Go's Semantic.DeepEqual has it. */
export function same(a: Any, b: Any): boolean {
  if (a === b) return true;
  if (isBlank(a) || isBlank(b)) return isBlank(a) && isBlank(b);
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((value, index) => same(value, b[index]));
  }
  for (const name of Object.keys(a)) if (!same(a[name], b[name])) return false;
  for (const name of Object.keys(b)) if (!(name in a) && !isBlank(b[name])) return false;
  return true;
}

function isBlank(value: Any): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

export function clone<T>(value: T): T {
  return value === undefined ? value : structuredClone(value);
}
