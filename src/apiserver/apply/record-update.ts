/**
 * managedFields for everything but apply: whoever changes a field by create, update or patch owns it from then on.
 * On the road of every write, so it does no work for what did not change.
 */
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, isEmpty, union } from './field-set.ts';
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  formatTime,
  type Manager,
  type Managers,
  managerId,
} from './managers.ts';
import { reconcileManagers, transfer } from './ownership.ts';
import { strip } from './stripped.ts';
import type { JsonMap } from './value.ts';
import { type VersionLookup, Versions } from './versions.ts';

export interface UpdateRequest {
  /** As stored, in the request's version; undefined on create. */
  live: KubeObject | undefined;
  /** As it will be stored, in the request's version. Its managedFields are the client's. */
  object: KubeObject;
  schema: Schema;
  manager: string;
  apiVersion: string;
  /** '' for the main resource. */
  subresource: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Built-in kinds: upstream they are Go structs, whose nested structs are there even when empty. */
  structs?: boolean;
  /** Fields this request cannot change, e.g. `status` on the main resource. */
  reset?: FieldSet;
  versions?: VersionLookup;
}

/** The new managedFields; undefined where fields are not tracked (the client reset them, or they never were). */
export function recordUpdate(request: UpdateRequest): ManagedFieldsEntry[] | undefined {
  const { live, object } = request;
  const managers = managersOf(request);
  // Reset by the client, or never tracked: tracking starts with a create or the first apply only.
  if (managers.size === 0 && live?.metadata.uid) return undefined;
  const before = new Map(managers);
  recordOwner(managers, live ?? emptyObject(object), object, request.manager, request);
  capUpdaters(managers);
  const stored = live?.metadata.managedFields;
  return stored && unchanged(before, managers, stored) ? stored : encodeManagers(managers);
}

/** What an object that does not exist yet is compared with. */
export function emptyObject({ apiVersion, kind }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: {} };
}

/** Gives `name` every field that differs between the two. Changes `managers`. */
export function recordOwner(
  managers: Managers,
  live: KubeObject,
  object: KubeObject,
  name: string,
  request: Pick<UpdateRequest, 'schema' | 'apiVersion' | 'subresource' | 'now' | 'structs' | 'reset' | 'versions'>,
): void {
  const { apiVersion, subresource } = request;
  const versions = new Versions(apiVersion, request.schema, { structs: request.structs }, request.versions);
  reconcileManagers(managers, versions);
  const { comparison } = transfer(
    managers,
    withoutManagedFields(live),
    withoutManagedFields(object),
    versions,
    apiVersion,
    '',
    true,
    request.reset,
  );
  const taken = strip(union(comparison.modified, comparison.added));
  if (isEmpty(taken)) return;
  const self = { name: name || 'unknown', operation: 'Update' as const, apiVersion, subresource };
  const id = managerId(self);
  const previous = managers.get(id)?.set;
  managers.set(id, { ...self, time: formatTime(request.now), set: previous ? union(taken, previous) : taken });
}

/** Nobody owns managedFields, and comparing them would be most of the work. */
export function withoutManagedFields(object: KubeObject): JsonMap {
  if (!object.metadata?.managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The client's record if it sent a sound one (that is how it may change it), else the stored one. */
function managersOf({ live, object, subresource }: UpdateRequest): Managers {
  const sent = object.metadata.managedFields;
  const stored = live?.metadata.managedFields;
  if (subresource || !sent || sent === stored) return decodeOrNone(stored);
  if (isReset(sent)) return new Map();
  try {
    const managers = decodeManagers(sent);
    return managers.size > 0 ? managers : decodeOrNone(stored);
  } catch {
    return decodeOrNone(stored);
  }
}

/** What is stored was checked once; if it is broken all the same, the write must not fail for it. */
function decodeOrNone(entries: ManagedFieldsEntry[] | undefined): Managers {
  try {
    return decodeManagers(entries);
  } catch {
    return new Map();
  }
}

function isReset(sent: ManagedFieldsEntry[]): boolean {
  return sent.length === 0 || (sent.length === 1 && Object.keys(sent[0] as object).length === 0);
}

/** Nothing moved, and what we started from is what is stored: the stored record stands as it is. */
function unchanged(before: Managers, after: Managers, stored: ManagedFieldsEntry[]): boolean {
  if (before.size !== after.size || stored.length !== after.size) return false;
  let i = 0;
  for (const [id, manager] of after) {
    const entry = stored[i++] as ManagedFieldsEntry;
    if (before.get(id) !== manager || !isEntry(manager, entry)) return false;
  }
  return true;
}

function isEntry(manager: Manager, entry: ManagedFieldsEntry): boolean {
  return (
    manager.set === entry.fieldsV1 &&
    manager.name === entry.manager &&
    manager.time === entry.time &&
    manager.apiVersion === entry.apiVersion
  );
}
