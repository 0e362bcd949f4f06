/**
 * Fields an applier no longer sends go, if it applied them last time and nobody else claims them
 * (structured-merge-diff merge/update.go prune).
 */
import { difference, type FieldSet, intersection, isEmpty, union } from './field-set.ts';
import type { Manager, Managers } from './managers.ts';
import { removeItems, withNamedFields } from './remove.ts';
import { toFieldSet } from './to-field-set.ts';
import type { Type } from './type.ts';
import type { JsonMap } from './value.ts';
import type { Versions } from './versions.ts';

/** `now` is what the applier sends, already among `managers`; `last` is what it had applied before. */
export function prune(
  merged: JsonMap,
  managers: Managers,
  last: Manager | undefined,
  now: Manager,
  versions: Versions,
): JsonMap {
  // Nothing given up: the same configuration once more, mostly.
  if (!last || (last.apiVersion === now.apiVersion && isEmpty(difference(last.set, now.set)))) return merged;
  const version = versions.at(last.apiVersion);
  if (!version) return merged;
  const { type } = version;
  const whole = version.convert(merged);
  const lastSet = withNamedFields(type, last.set);
  let pruned = removeItems(type, whole, lastSet);
  pruned = addBackOwned(whole, pruned, last.apiVersion, managers, versions);
  // Only what this applier had may go: the rest came along when its parents went.
  const gone = difference(namedSet(type, whole), namedSet(type, pruned));
  pruned = removeItems(type, whole, intersection(gone, lastSet));
  return versions.at(versions.apiVersion)?.convert(pruned) ?? pruned;
}

/** Everything someone owns stays, version by version; the pruned one's own version first. */
function addBackOwned(
  merged: JsonMap,
  pruned: JsonMap,
  first: string,
  managers: Managers,
  versions: Versions,
): JsonMap {
  const owned = new Map<string, FieldSet>([[first, {}]]);
  for (const { apiVersion, set } of managers.values()) owned.set(apiVersion, union(owned.get(apiVersion) ?? {}, set));
  let result = pruned;
  for (const [apiVersion, set] of owned) {
    const version = versions.at(apiVersion);
    if (!version) continue;
    const { type } = version;
    const whole = version.convert(merged);
    const kept = union(namedSet(type, version.convert(result)), withNamedFields(type, set));
    result = removeItems(type, whole, difference(namedSet(type, whole), kept));
  }
  return versions.at(first)?.convert(result) ?? result;
}

function namedSet(type: Type, object: JsonMap): FieldSet {
  return withNamedFields(type, toFieldSet(type, object));
}
