/**
 * managedFields for everything but apply: whoever changes a field by create, update or patch owns it from then on.
 * On the road of every write, so it does no work for what did not change.
 */
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts';
import { equal } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { isSame } from './compare.ts';
import { type FieldSet, isEmpty, union } from './field-set.ts';
import { capUpdaters, decodeManagers, encodeManagers, formatTime, type Managers, managerId } from './managers.ts';
import { type Change, changeOf, reconcileManagers, transfer } from './ownership.ts';
import { reconcile } from './reconcile.ts';
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
  const sent = request.subresource ? undefined : object.metadata.managedFields;
  const stored = live?.metadata.managedFields;
  const keeps = sent === undefined || sent === null || equal(sent, stored);
  const change = changeBy(request, live ?? emptyObject(object), object);
  if (keeps && stored && isSame(change.comparison) && isCurrent(stored, change.versions)) return stored;
  const managers = keeps ? decodeOrNone(stored) : managersFrom(sent, stored);
  // Reset by the client, or never tracked: tracking starts with a create or the first apply only.
  if (managers.size === 0 && live?.metadata.uid) return undefined;
  recordOwner(managers, change, request.manager, request);
  capUpdaters(managers);
  return encodeManagers(managers);
}

type Terms = Pick<UpdateRequest, 'schema' | 'apiVersion' | 'structs' | 'reset' | 'versions'>;

/** The change of an object, in the terms of a request. */
export function changeBy(request: Terms, live: KubeObject, object: KubeObject): Change {
  const versions = new Versions(request.apiVersion, request.schema, { structs: request.structs }, request.versions);
  return changeOf(withoutManagedFields(live), withoutManagedFields(object), versions, request.reset);
}

/** What an object that does not exist yet is compared with. */
export function emptyObject({ apiVersion, kind }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: {} };
}

/** Gives `name` every field that was added or modified. Changes `managers`. */
export function recordOwner(
  managers: Managers,
  change: Change,
  name: string,
  { apiVersion, subresource, now }: Pick<UpdateRequest, 'apiVersion' | 'subresource' | 'now'>,
): void {
  reconcileManagers(managers, change.versions);
  transfer(managers, change, '', true);
  const taken = strip(union(change.comparison.modified, change.comparison.added));
  if (isEmpty(taken)) return;
  const self = { name: name || 'unknown', operation: 'Update' as const, apiVersion, subresource };
  const id = managerId(self);
  const previous = managers.get(id)?.set;
  managers.set(id, { ...self, time: formatTime(now), set: previous ? union(previous, taken) : taken });
}

/** Nobody owns managedFields, and comparing them would be most of the work. */
export function withoutManagedFields(object: KubeObject): JsonMap {
  if (!object.metadata?.managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The client's record if it sent a sound one (that is how it may change it), else the stored one. */
function managersFrom(sent: ManagedFieldsEntry[], stored: ManagedFieldsEntry[] | undefined): Managers {
  if (isReset(sent)) return new Map();
  try {
    const managers = decodeManagers(sent, false);
    return managers.size > 0 ? managers : decodeOrNone(stored);
  } catch {
    return decodeOrNone(stored);
  }
}

/** Whether the record is as today's schema has it; it is, unless the schema changed since. */
function isCurrent(stored: ManagedFieldsEntry[], versions: Versions): boolean {
  return stored.every(({ apiVersion, fieldsV1 }) => {
    const version = versions.at(apiVersion ?? '');
    return (
      version !== undefined && fieldsV1 !== undefined && reconcile(version.type, fieldsV1 as FieldSet) === fieldsV1
    );
  });
}

/** What is stored was checked once; if it is broken all the same, the write must not fail for it. */
function decodeOrNone(entries: ManagedFieldsEntry[] | undefined): Managers {
  try {
    return decodeManagers(entries, true);
  } catch {
    return new Map();
  }
}

function isReset(sent: ManagedFieldsEntry[]): boolean {
  return sent.length === 0 || (sent.length === 1 && Object.keys(sent[0] as object).length === 0);
}
