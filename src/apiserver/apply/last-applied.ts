/**
 * Moving from client-side to server-side apply. `kubectl apply --server-side` (manager `kubectl`) does not conflict on
 * fields client-side apply set and nobody changed since, and keeps the annotation of client-side apply up to date
 * (apimachinery managedfields/internal/lastappliedmanager.go, lastappliedupdater.go).
 */
import type { KubeObject } from '../../api/object.ts';
import { clone } from '../json.ts';
import { compare } from './compare.ts';
import type { Conflict } from './conflict.ts';
import { difference, type FieldSet, has } from './field-set.ts';
import { goScalar } from './path-element.ts';
import { withoutManagedFields } from './record-update.ts';
import { toFieldSet } from './to-field-set.ts';
import type { Type } from './type.ts';
import { typeProblems } from './validate.ts';
import { isMap, type JsonMap } from './value.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const KUBECTL = 'kubectl';
const MAX_ANNOTATIONS = 256 * 1024;

/** The conflicts that stand although the fields came from client-side apply. */
export function remainingConflicts(conflicts: Conflict[], live: KubeObject, type: Type, manager: string): Conflict[] {
  if (manager !== KUBECTL) return conflicts;
  const allowed = clientSideFields(live, type);
  return allowed ? conflicts.filter(({ path }) => !has(allowed, path)) : conflicts;
}

/** Fields of the last client-side apply that still have the value it gave them. */
function clientSideFields(live: KubeObject, type: Type): FieldSet | undefined {
  const text = live.metadata.annotations?.[ANNOTATION];
  if (!text || typeProblems(type, live).length > 0) return undefined;
  const applied = parse(text);
  if (!applied || applied.apiVersion !== live.apiVersion || typeProblems(type, applied).length > 0) return undefined;
  const { modified, added, removed } = compare(type, applied, withoutManagedFields(live));
  return [modified, added, removed].reduce(difference, toFieldSet(type, applied));
}

function parse(text: string): JsonMap | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) && value.kind ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Rewrites the annotation on the result, in place, where there is one. */
export function updateLastApplied(result: KubeObject, config: KubeObject, manager: string): void {
  const annotations = result.metadata.annotations;
  if (manager !== KUBECTL || !annotations?.[ANNOTATION]) return;
  const applied = clone(config);
  delete applied.metadata?.annotations?.[ANNOTATION];
  annotations[ANNOTATION] = `${goMarshal(applied)}\n`;
  let size = 0;
  for (const key of Object.keys(annotations))
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '');
  if (size > MAX_ANNOTATIONS) delete annotations[ANNOTATION];
}

/** JSON as Go writes it: keys sorted, HTML characters escaped. */
function goMarshal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMarshal).join(',')}]`;
  if (!isMap(value)) return goScalar(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${goScalar(key)}:${goMarshal(value[key])}`).join(',')}}`;
}
