/** Who owns what after a change (structured-merge-diff merge/update.go). */
import { type Comparison, compare } from './compare.ts';
import { difference, type FieldSet, intersection, isEmpty, recursiveDifference, union } from './field-set.ts';
import { giveSet, type Managers } from './managers.ts';
import { reconcile } from './reconcile.ts';
import type { JsonMap } from './value.ts';
import type { Versions } from './versions.ts';

export interface Transfer {
  /** What changed, in the request's version. */
  comparison: Comparison;
  /** What other managers own of it, by manager. */
  conflicts: Map<string, FieldSet>;
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
 * Compares, and takes from everyone but `self` what was removed and, if `force`, what changed. Without force a conflict
 * leaves `managers` as they were. Fields of `reset` never count: the request cannot change them.
 */
export function transfer(
  managers: Managers,
  live: JsonMap,
  object: JsonMap,
  versions: Versions,
  apiVersion: string,
  self: string,
  force: boolean,
  reset: FieldSet | undefined,
): Transfer {
  const comparisons = new Map<string, Comparison>();
  const comparison = exclude(compare(versions.type, live, object), reset);
  comparisons.set(apiVersion, comparison);
  const conflicts = new Map<string, FieldSet>();
  const removals = new Map<string, FieldSet>();
  for (const [id, manager] of managers) {
    if (id === self) continue;
    let theirs = comparisons.get(manager.apiVersion);
    if (!theirs) {
      const version = versions.at(manager.apiVersion);
      if (!version) continue;
      theirs =
        version.type === versions.type
          ? comparison
          : exclude(compare(version.type, version.convert(live), version.convert(object)), reset);
      comparisons.set(manager.apiVersion, theirs);
    }
    const taken = union(intersection(manager.set, theirs.modified), intersection(manager.set, theirs.added));
    if (!isEmpty(taken)) conflicts.set(id, taken);
    if (!isEmpty(theirs.removed)) removals.set(id, theirs.removed);
  }
  if (!force && conflicts.size > 0) return { comparison, conflicts };
  for (const [id, manager] of managers) {
    const taken = conflicts.get(id);
    const removed = removals.get(id);
    let { set } = manager;
    if (taken) set = difference(set, taken);
    if (removed) set = difference(set, removed);
    giveSet(managers, id, manager, set);
  }
  return { comparison, conflicts };
}

function exclude(comparison: Comparison, reset: FieldSet | undefined): Comparison {
  if (!reset) return comparison;
  return {
    removed: recursiveDifference(comparison.removed, reset),
    modified: recursiveDifference(comparison.modified, reset),
    added: recursiveDifference(comparison.added, reset),
  };
}
