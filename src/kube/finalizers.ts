/**
 * Finalizers: the promise that a deleted object stays until we have cleaned up. Added before anything is made outside
 * (DESIGN 5, rule 1); removed when nothing is left. Writes carry the resource version, since the list is replaced whole.
 */
import type { KubeObject } from '../api/object.ts';
import { isConflict, isNotFound } from './kube-error.ts';
import { keyOf, type ObjectStore, type ResourceRef } from './store.ts';

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return (object.metadata.finalizers ?? []).includes(finalizer);
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** The object with the finalizer stored; not added once deletion has begun, which the API server would refuse. */
export async function ensureFinalizer<T extends KubeObject>(
  store: ObjectStore,
  resource: ResourceRef,
  object: T,
  finalizer: string,
  signal?: AbortSignal,
): Promise<T> {
  if (hasFinalizer(object, finalizer) || isDeleting(object)) return object;
  return await writeFinalizers(store, resource, object, [...(object.metadata.finalizers ?? []), finalizer], signal);
}

/** The object without it, or undefined when the object is gone, be it by this. */
export async function removeFinalizer<T extends KubeObject>(
  store: ObjectStore,
  resource: ResourceRef,
  object: T,
  finalizer: string,
  signal?: AbortSignal,
): Promise<T | undefined> {
  let current = object;
  try {
    for (let attempt = 0; hasFinalizer(current, finalizer); attempt++) {
      const others = (current.metadata.finalizers ?? []).filter((other) => other !== finalizer);
      try {
        current = await writeFinalizers(store, resource, current, others, signal);
      } catch (error) {
        // Somebody wrote in between; what we have to say does not depend on it.
        if (!isConflict(error) || attempt >= 4) throw error;
        const latest = await store.get<T>(resource, keyOf(current), { signal });
        if (latest.metadata.uid !== object.metadata.uid) return undefined;
        current = latest;
      }
    }
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  return isDeleting(current) && (current.metadata.finalizers ?? []).length === 0 ? undefined : current;
}

function writeFinalizers<T extends KubeObject>(
  store: ObjectStore,
  resource: ResourceRef,
  object: T,
  finalizers: string[],
  signal?: AbortSignal,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { finalizers, uid, resourceVersion } };
  return store.patch<T>(resource, keyOf(object), { type: 'merge', body }, { signal });
}
