/** Between the form a resource is served in and the one form it is stored in. */
import type { KubeObject } from '../../api/object.ts';
import { groupVersion, type Resource } from '../resource.ts';
import type { Key, Stored } from '../store/store.ts';

export function keyOf(resource: Resource, namespace: string, name: string): Key {
  return { resource: resource.storage, namespace: resource.namespaced ? namespace : '', name };
}

function storedApiVersion(resource: Resource): string {
  return groupVersion(resource.storageGroup ?? resource.group, resource.storageVersion);
}

export function servedApiVersion(resource: Resource): string {
  return groupVersion(resource.group, resource.version);
}

/** True where stored JSON can be sent as it is. */
export function servedAsStored(resource: Resource): boolean {
  return storedApiVersion(resource) === servedApiVersion(resource);
}

/** A fresh copy in the served version, free to change. */
export function served(resource: Resource, stored: Stored): KubeObject {
  const object = JSON.parse(stored.json) as KubeObject;
  convert(resource, object, servedApiVersion(resource));
  return object;
}

/** Read-only view in the served version; shares the parsed object where nothing has to change. */
export function viewed(resource: Resource, stored: Stored): KubeObject {
  return servedAsStored(resource) ? stored.object() : served(resource, stored);
}

/** The stored form of a served object: storage version, and the keys first that lists leave out. */
export function toStored(resource: Resource, object: KubeObject): KubeObject {
  convert(resource, object, storedApiVersion(resource));
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
