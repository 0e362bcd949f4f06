/** Small things done with JSON values everywhere in the server. */

/** A copy as JSON would make it: what is undefined is absent. */
export function clone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) assign(copy, key, clone(field));
  }
  return copy as T;
}

/** What a table says of a key that came from outside: never what every object inherits (`toString`, `__proto__`). */
export function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Sets an own property even for the key `__proto__`, which plain assignment would take for the prototype. */
export function assign(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/** Equality of JSON values: key order is ignored and an undefined property is an absent one. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) {
    if (left[key] !== undefined && !(Object.hasOwn(right, key) && equal(left[key], right[key]))) return false;
  }
  for (const key in right) if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  return true;
}

/** The value at a dotted path (`spec.replicas`), or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const step of path.split('.')) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}

/** Sets the value at a dotted path, making the objects on the way. */
export function setAt(target: Record<string, unknown>, path: string, value: unknown): void {
  const steps = path.split('.');
  let at = target;
  for (const step of steps.slice(0, -1)) {
    const next = at[step];
    if (typeof next === 'object' && next !== null) at = next as Record<string, unknown>;
    else {
      const made: Record<string, unknown> = {};
      assign(at, step, made);
      at = made;
    }
  }
  assign(at, steps[steps.length - 1] as string, value);
}
