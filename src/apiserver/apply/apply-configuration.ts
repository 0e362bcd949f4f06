/**
 * Server-side apply: what a manager wants of an object, merged into it. Fields it wanted before and no longer mentions
 * go if nobody else owns them; fields others own and it wants otherwise are conflicts, unless forced.
 */
import type { KubeObject } from '../../api/object.ts';
import { clone, equal } from '../json.ts';
import { ApiError, badRequest } from '../status.ts';
import { type Conflict, conflictError, conflictsOf } from './conflict.ts';
import { recursiveDifference } from './field-set.ts';
import { remainingConflicts, updateLastApplied } from './last-applied.ts';
import {
  decodeManagers,
  encodeManagers,
  formatTime,
  giveSet,
  type Manager,
  type Managers,
  managerId,
} from './managers.ts';
import { merge } from './merge.ts';
import { changeOf, reconcileManagers, transfer } from './ownership.ts';
import { prune } from './prune.ts';
import { changeBy, emptyObject, recordOwner, type UpdateRequest, withoutManagedFields } from './record-update.ts';
import { strip } from './stripped.ts';
import { dropNulls, fillStructs } from './structs.ts';
import { toFieldSet } from './to-field-set.ts';
import { type Type, typeOf } from './type.ts';
import { showProblems, typeProblems } from './validate.ts';
import type { JsonMap } from './value.ts';
import { Versions } from './versions.ts';

export interface ApplyRequest extends Omit<UpdateRequest, 'object'> {
  /** What the manager wants; its apiVersion must be the request's. */
  config: KubeObject;
  /** Take fields from others instead of failing. */
  force: boolean;
  /** The kind of the resource, if the configuration's is to be checked against it. */
  kind?: string;
}

/** The object to store, with its managedFields; shares nothing with the inputs but sets of fields. Throws ApiError. */
export function applyConfiguration(request: ApplyRequest): KubeObject {
  const { config, manager } = request;
  checkConfig(request);
  const stored = request.live ?? emptyObject(config);
  const live = withoutManagedFields(stored) as KubeObject;
  const managers = storedManagers(stored);
  if (managers.size === 0) {
    recordOwner(managers, changeBy(request, emptyObject(config), live), 'before-first-apply', request);
  }
  const versions = new Versions(request.apiVersion, request.schema, {}, request.versions);
  checkTypes(config, versions.type);

  let attempt = tryApply(live, managers, versions, request, request.force);
  if (attempt.conflicts.length > 0) {
    const remaining = remainingConflicts(attempt.conflicts, stored, versions.type, manager);
    if (remaining.length > 0) throw conflictError(remaining);
    attempt = tryApply(live, managers, versions, request, true);
  }
  const result = clone(attempt.object) as KubeObject;
  if (request.structs) dropNulls(versions.type, result);
  updateLastApplied(result, config, manager);
  const managedFields = encodeManagers(attempt.managers);
  if (managedFields) result.metadata.managedFields = managedFields;
  return result;
}

interface Attempt {
  object: JsonMap;
  managers: Managers;
  conflicts: Conflict[];
}

function tryApply(
  live: KubeObject,
  before: Managers,
  versions: Versions,
  request: ApplyRequest,
  force: boolean,
): Attempt {
  const { config, apiVersion, subresource, reset } = request;
  const managers: Managers = new Map(before);
  reconcileManagers(managers, versions);
  const self = { name: request.manager || 'unknown', operation: 'Apply' as const, apiVersion, subresource };
  const id = managerId(self);
  const last = managers.get(id);
  const mentioned = toFieldSet(versions.type, config);
  const set = reset ? recursiveDifference(mentioned, reset) : mentioned;
  const now: Manager = { ...self, time: last?.time, set };
  managers.set(id, now);
  const apply = (base: JsonMap) => prune(merge(versions.type, base, config) as JsonMap, managers, last, now, versions);
  const object = apply(live);
  // The stored object counts with its empty structs, the configuration without: it is not decoded into any.
  const basis = request.structs ? (fillStructs(typeOf(request.schema, { structs: true }), live) as JsonMap) : live;
  const target = basis === live ? object : apply(basis);
  const conflicts = transfer(managers, changeOf(basis, target, versions, reset), id, force);
  if (conflicts.size > 0 && !force) return { object, managers, conflicts: conflictsOf(conflicts, managers) };
  const applied = managers.get(id);
  if (applied) {
    // Applying what is there already is no event.
    const time = equal(basis, target) ? applied.time : formatTime(request.now);
    giveSet(managers, id, { ...applied, time }, strip(applied.set));
  }
  return { object, managers, conflicts: [] };
}

function checkConfig({ config, apiVersion, kind }: ApplyRequest): void {
  if (config.apiVersion !== apiVersion || (kind !== undefined && config.kind !== kind)) {
    throw badRequest(`invalid object type: ${showKind(config)}`);
  }
  if (Array.isArray(config.metadata?.managedFields)) throw badRequest('metadata.managedFields must be nil');
}

function storedManagers(live: KubeObject): Managers {
  try {
    return decodeManagers(live.metadata.managedFields, true);
  } catch (error) {
    throw plainError(`failed to decode managed fields: ${(error as Error).message}`);
  }
}

/** Whether a configuration fits its schema: a field that is not in it can be owned by nobody, so it is not just left out. */
export function checkConfiguration(config: KubeObject, schema: ApplyRequest['schema']): void {
  checkTypes(config, typeOf(schema, {}));
}

function checkTypes(config: KubeObject, type: Type): void {
  const problems = typeProblems(type, config);
  if (problems.length === 0) return;
  const { name = '', namespace = '' } = config.metadata ?? {};
  const what = `${namespace}/${name}; ${showKind(config)}`;
  throw plainError(`failed to create typed patch object (${what}): ${showProblems(problems)}`);
}

/** `apps/v1, Kind=Deployment`; the core group is the empty string before the slash. */
function showKind({ apiVersion, kind }: KubeObject): string {
  const version = apiVersion ?? '';
  return `${version.includes('/') ? version : `/${version}`}, Kind=${kind ?? ''}`;
}

/** What the real server answers for errors it has no better word for: 500 without a reason. */
function plainError(message: string): ApiError {
  return new ApiError(500, '', message);
}
