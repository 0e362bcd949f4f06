/** 409: fields another manager owns, worded as upstream words it (apimachinery managedfields/internal/conflict.go). */
import { ApiError } from '../status.ts';
import { type FieldSet, paths } from './field-set.ts';
import type { Manager } from './managers.ts';
import { goQuote, showPath } from './path-element.ts';

export interface Conflict {
  manager: Manager;
  path: string[];
}

/** Upstream reports managers in no certain order; here by name. */
export function conflictsOf(sets: Map<string, FieldSet>, managers: ReadonlyMap<string, Manager>): Conflict[] {
  return [...sets.keys()]
    .sort()
    .flatMap((id) => paths(sets.get(id) as FieldSet).map((path) => ({ manager: managers.get(id) as Manager, path })));
}

export function conflictError(conflicts: Conflict[]): ApiError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${showManager(manager)}`,
    field: showPath(path),
  }));
  return new ApiError(409, 'Conflict', messageOf(conflicts), { causes });
}

function messageOf(conflicts: Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${showManager(first.manager)}: ${showPath(first.path)}`;
  }
  const lines: string[] = [];
  let current: Manager | undefined;
  for (const { manager, path } of conflicts) {
    if (manager !== current) lines.push(`conflicts with ${showManager(manager)}:`);
    current = manager;
    lines.push(`- ${showPath(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function showManager({ name, operation, apiVersion, subresource }: Manager): string {
  const who = subresource ? `${goQuote(name)} with subresource ${goQuote(subresource)}` : goQuote(name);
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}
