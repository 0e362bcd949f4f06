/** JSON merge patches (RFC 7386): what to send so that `before` becomes `after`. */

type Json = Record<string, unknown>;

/** The smallest merge patch; undefined when nothing differs. Lists are replaced whole, as the RFC has it. */
export function createMergePatch(before: unknown, after: unknown): Json | undefined {
  const patch: Json = {};
  const from = isMap(before) ? before : {};
  const to = isMap(after) ? after : {};
  for (const field of Object.keys(from)) {
    if (from[field] !== undefined && to[field] === undefined) patch[field] = null;
  }
  for (const [field, value] of Object.entries(to)) {
    const old = from[field];
    if (value === undefined || isSame(old, value)) continue;
    patch[field] = isMap(old) && isMap(value) ? createMergePatch(old, value) : value;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The fields that a merge patch replaces by a list: two writers of one would overwrite each other. */
export function replacesList(patch: unknown): boolean {
  if (Array.isArray(patch)) return true;
  return isMap(patch) && Object.values(patch).some(replacesList);
}

export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isMap(a) || !isMap(b)) return false;
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields].every((field) => isSame(a[field], b[field]));
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
