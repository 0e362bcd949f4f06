/** Between the form a resource is served in and the one form it is stored in. */
import type { KubeObject } from '../../api/object.ts';
import { jsonInPieces } from '../codec/json-pieces.ts';
import { clone } from '../json.ts';
import type { RequestScope } from '../request-scope.ts';
import { groupVersion, type Resource } from '../resource.ts';
import type { Key, Stored } from '../store/store.ts';
import { inTurns, isLarge } from '../turns.ts';
import { convertedForm } from './converted-forms.ts';

export function keyOf(resource: Resource, namespace: string, name: string): Key {
  return { resource: resource.storage, namespace: resource.namespaced ? namespace : '', name };
}

export function storedApiVersion(resource: Resource): string {
  return groupVersion(resource.storageGroup ?? resource.group, resource.storageVersion);
}

export function servedApiVersion(resource: Resource): string {
  return groupVersion(resource.group, resource.version);
}

/** True where new objects are stored as they are served; older ones of a custom resource may be in another version. */
export function servedAsStored(resource: Resource): boolean {
  return storedApiVersion(resource) === servedApiVersion(resource);
}

/** Whether the stored JSON of an object can be sent as it is; made once for many objects. */
export function sendsAsStored(resource: Resource): (stored: Stored) => boolean {
  if (!servedAsStored(resource)) return () => false;
  // Built-in kinds have one stored version.
  if (!resource.custom) return () => true;
  const prefix = storedPrefix(resource);
  return (stored) => stored.json.startsWith(prefix) && !isOutdated(resource, stored);
}

/** A fresh copy in the served version, free to change. What a webhook converts has to be prepared first. */
export function served(resource: Resource, stored: Stored): KubeObject {
  const apiVersion = servedApiVersion(resource);
  const converted = convertedForm(resource, stored, apiVersion);
  if (converted) return clone(converted);
  return inServedForm(resource, stored, JSON.parse(stored.json) as KubeObject);
}

function inServedForm(resource: Resource, stored: Stored, object: KubeObject): KubeObject {
  const apiVersion = servedApiVersion(resource);
  if (object.apiVersion === apiVersion && isOutdated(resource, stored)) resource.convert?.(object, apiVersion);
  else convert(resource, object, apiVersion);
  return object;
}

/** As `served`. A large object is read in several turns of the event loop. */
export async function servedInTurns(resource: Resource, stored: Stored, scope?: RequestScope): Promise<KubeObject> {
  const apiVersion = servedApiVersion(resource);
  if (!isLarge(stored.json.length) || convertedForm(resource, stored, apiVersion)) return served(resource, stored);
  const { value } = await inTurns(jsonInPieces(stored.json, Number.POSITIVE_INFINITY), scope);
  const object = inServedForm(resource, stored, value as KubeObject);
  large.add(object);
  return object;
}

const large = new WeakSet<KubeObject>();

/** Whether it was read from a large text, so that its own is large, too. */
export function isLargeObject(object: object): boolean {
  return large.has(object as KubeObject);
}

/** Stored before its definition was last changed: what the schema says now has yet to be applied to it. */
function isOutdated({ custom }: Resource, stored: Stored): boolean {
  return custom !== undefined && stored.rv < custom.since;
}

/** Read-only view in the served version; shares the parsed object where nothing has to change. */
export function viewed(resource: Resource, stored: Stored): KubeObject {
  const apiVersion = servedApiVersion(resource);
  if (servedAsStored(resource)) {
    const object = stored.object();
    if (!resource.custom || (object.apiVersion === apiVersion && !isOutdated(resource, stored))) return object;
  }
  return convertedForm(resource, stored, apiVersion) ?? served(resource, stored);
}

/** The stored form of a served object: storage version, and the keys first that lists leave out. */
export function toStored(resource: Resource, object: KubeObject): KubeObject {
  convert(resource, object, storedApiVersion(resource));
  return keysInOrder(object);
}

export function keysInOrder(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion, metadata, ...rest };
}

/** What `toStored` puts first; a list of a built-in kind drops it from each item. */
export function storedPrefix(resource: Resource): string {
  return `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(storedApiVersion(resource))},`;
}

function convert(resource: Resource, object: KubeObject, apiVersion: string): void {
  if (object.apiVersion === apiVersion) return;
  resource.convert?.(object, apiVersion);
  object.apiVersion = apiVersion;
}
