/**
 * Whether a write would change anything. As in Kubernetes, the order of keys does not count, and neither do the
 * timestamps of managedFields: a controller that applies the same thing again must not wake everyone up.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from './store.ts';

/** `json` is the text of `object`; both carry the resource version of `stored`. */
export function same(stored: Stored, object: KubeObject, json: string): boolean {
  if (stored.json === json) return true;
  // Reordered keys and other timestamps leave the length as it is; most real changes do not get past this.
  if (stored.json.length !== json.length) return false;
  return equal(stored.object(), object, 0);
}

/**
 * What is undefined in `b` is absent from its text. `place`: 0 root, 1 metadata, 2 managedFields, 3 one of its entries,
 * -1 elsewhere.
 */
function equal(a: unknown, b: unknown, place: number): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => equal(item, b[i], place === 2 ? 3 : -1));
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let more = 0;
  for (const key in right) if (right[key] !== undefined) more++;
  for (const key in left) {
    if (!Object.hasOwn(right, key) || right[key] === undefined) return false;
    more--;
    if (place === 3 && key === 'time') continue;
    if (!equal(left[key], right[key], inner(place, key))) return false;
  }
  return more === 0;
}

function inner(place: number, key: string): number {
  if (place === 0 && key === 'metadata') return 1;
  if (place === 1 && key === 'managedFields') return 2;
  return -1;
}
