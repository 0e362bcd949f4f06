/** metadata.managedFields, opened up: who owns which fields, by what kind of request, since when. */
import type { ManagedFieldsEntry } from '../../api/object.ts';
import { type FieldSet, isEmpty, union } from './field-set.ts';
import { parseFieldsV1, sortFieldsV1 } from './fields-v1.ts';

/** One entry. Never changed in place: changes make a new one. */
export interface Manager {
  name: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time?: string;
  set: FieldSet;
}

/** By identity (see managerId). */
export type Managers = Map<string, Manager>;

/** What makes two requests the same manager; appliers keep theirs across versions. Upstream's form, since it sorts by it. */
export function managerId(manager: Pick<Manager, 'name' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const { name, operation, apiVersion, subresource } = manager;
  const who = name ? `"manager":${JSON.stringify(name)},` : '';
  const version = operation === 'Apply' ? '' : `,"apiVersion":"${apiVersion}"`;
  return `{${who}"operation":"${operation}"${version}${subresource ? `,"subresource":"${subresource}"` : ''}}`;
}

/** Throws when an entry is malformed. `stored`: the sets are our own writing and need no second look. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined, stored: boolean): Managers {
  const managers: Managers = new Map();
  if (!entries) return managers;
  entries.forEach((entry, i) => {
    const manager = decode(entry, i, stored);
    managers.set(managerId(manager), manager);
  });
  return managers;
}

function decode(entry: ManagedFieldsEntry, index: number, stored: boolean): Manager {
  const { operation, apiVersion, fieldsType } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new Error('apiVersion must not be empty');
  if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') {
    throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  }
  return {
    name: entry.manager ?? '',
    operation,
    apiVersion,
    subresource: entry.subresource ?? '',
    time: entry.time,
    set: stored && entry.fieldsV1 ? (entry.fieldsV1 as FieldSet) : parseFieldsV1(entry.fieldsV1),
  };
}

/** Undefined when nobody owns anything. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(byAge).map(encode);
}

function encode({ name, operation, apiVersion, subresource, time, set }: Manager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = name ? { manager: name, operation, apiVersion } : { operation, apiVersion };
  if (time) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = sortFieldsV1(set);
  if (subresource) entry.subresource = subresource;
  return entry;
}

function byAge(a: Manager, b: Manager): number {
  return (
    order(a.operation, b.operation) ||
    seconds(a.time) - seconds(b.time) ||
    order(a.name, b.name) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function seconds(time: string | undefined): number {
  return time ? Math.floor(Date.parse(time) / 1000) : 0;
}

/** `2026-11-15T12:00:00Z`: Kubernetes times have no fractions. */
export function formatTime(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

const MAX_UPDATERS = 10;

/** Merges the oldest updaters of a version into one `ancient-changes`, so that writers under many names cost no space. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers].filter(([, manager]) => manager.operation === 'Update');
  let count = updaters.length;
  if (count <= MAX_UPDATERS) return;
  updaters.sort(([aId, a], [bId, b]) => seconds(a.time) - seconds(b.time) || order(aId, bId));
  const firsts = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (count <= MAX_UPDATERS) return;
    const { apiVersion } = manager;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, id);
      continue;
    }
    const ancient = { name: 'ancient-changes', operation: 'Update' as const, apiVersion, subresource: '' };
    const bucketId = managerId(ancient);
    let bucket = managers.get(bucketId);
    if (!bucket) {
      bucket = managers.get(first) as Manager;
      managers.delete(first);
    }
    managers.delete(id);
    managers.set(bucketId, { ...ancient, time: manager.time, set: union(manager.set, bucket.set) });
    count--;
  }
}

/** Replaces a manager's set, or removes a manager that is left with nothing. */
export function giveSet(managers: Managers, id: string, manager: Manager, set: FieldSet): void {
  if (isEmpty(set)) managers.delete(id);
  else if (set !== manager.set || managers.get(id) !== manager) managers.set(id, { ...manager, set });
}
