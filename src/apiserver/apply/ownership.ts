/** Who owns what after a change (structured-merge-diff merge/update.go). */
import { type Comparison, compare } from './compare.ts';
import { difference, type FieldSet, intersection, isEmpty, recursiveDifference, union } from './field-set.ts';
import { giveSet, type Managers } from './managers.ts';
import { reconcile } from './reconcile.ts';
import type { JsonMap } from './value.ts';
import type { Versions } from './versions.ts';

/** A change of an object, in the version and under the limits of one request. */
export interface Change {
  live: JsonMap;
  object: JsonMap;
  versions: Versions;
  /** Fields that do not count, since the request cannot change them. */
  reset: FieldSet | undefined;
  /** What changed, in the request's version. */
  comparison: Comparison;
}

export function changeOf(live: JsonMap, object: JsonMap, versions: Versions, reset: FieldSet | undefined): Change {
  return { live, object, versions, reset, comparison: exclude(compare(versions.type, live, object), reset) };
}

/** Sets as they are under today's schema. Managers of versions no longer served are dropped. Changes `managers`. */
export function reconcileManagers(managers: Managers, versions: Versions): void {
  for (const [id, manager] of managers) {
    const version = versions.at(manager.apiVersion);
    if (!version) managers.delete(id);
    else giveSet(managers, id, manager, reconcile(version.type, manager.set));
  }
}

/**
 * Takes from everyone but `self` what was removed and, if `force`, what changed; returns what others owned of that, by
 * manager. Without force a conflict leaves `managers` as they were.
 */
export function transfer(managers: Managers, change: Change, self: string, force: boolean): Map<string, FieldSet> {
  const { versions } = change;
  const comparisons = new Map<string, Comparison>([[versions.apiVersion, change.comparison]]);
  const conflicts = new Map<string, FieldSet>();
  const removals = new Map<string, FieldSet>();
  for (const [id, manager] of managers) {
    if (id === self) continue;
    let theirs = comparisons.get(manager.apiVersion);
    if (!theirs) {
      theirs = comparedAt(manager.apiVersion, change);
      comparisons.set(manager.apiVersion, theirs);
    }
    const taken = union(intersection(theirs.modified, manager.set), intersection(theirs.added, manager.set));
    if (!isEmpty(taken)) conflicts.set(id, taken);
    if (!isEmpty(theirs.removed)) removals.set(id, theirs.removed);
  }
  if (!force && conflicts.size > 0) return conflicts;
  for (const [id, manager] of managers) {
    const taken = conflicts.get(id);
    const removed = removals.get(id);
    let { set } = manager;
    if (taken) set = difference(set, taken);
    if (removed) set = difference(set, removed);
    giveSet(managers, id, manager, set);
  }
  return conflicts;
}

function comparedAt(apiVersion: string, { live, object, versions, reset, comparison }: Change): Comparison {
  const version = versions.at(apiVersion);
  if (!version || version.type === versions.type) return comparison;
  return exclude(compare(version.type, version.convert(live), version.convert(object)), reset);
}

function exclude(comparison: Comparison, reset: FieldSet | undefined): Comparison {
  if (!reset) return comparison;
  return {
    removed: recursiveDifference(comparison.removed, reset),
    modified: recursiveDifference(comparison.modified, reset),
    added: recursiveDifference(comparison.added, reset),
  };
}
