/**
 * The one way to reach Kubernetes objects, whether the API server is in this process or behind HTTPS.
 * Promises: every object that comes back carries apiVersion and kind; every refusal is a `KubeError` and a broken
 * connection a `ConnectionError`; an aborted call rejects with the signal's reason. Objects that come back may be
 * shared with a cache: treat them as read-only, clone before changing. Objects handed in are not changed, and a field
 * that is `undefined` is absent. `test/conformance/object-store` is this contract as tests.
 */
import type { KubeList, KubeObject } from '../api/object.ts';

export interface ResourceRef {
  /** Empty for the core group. */
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
}

export interface ObjectKey {
  /** Absent or empty for cluster-scoped objects. */
  namespace?: string;
  name: string;
}

export interface GetOptions {
  resourceVersion?: string;
  signal?: AbortSignal;
}

export interface Selection {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ListOptions extends Selection {
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  signal?: AbortSignal;
}

export interface WatchOptions extends Selection {
  /** Events strictly after it. Absent: first an ADDED for every object there is. */
  resourceVersion?: string;
  /** Ask for BOOKMARK events, which carry nothing but a resource version to resume from. Default true. */
  bookmarks?: boolean;
  /** The server ends the watch after that long. */
  timeoutSeconds?: number;
  signal?: AbortSignal;
}

export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

export interface WriteOptions {
  dryRun?: boolean;
  fieldManager?: string;
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** `status`, `scale`, … On create it is the subresource of the object named in `metadata.name` (e.g. `token`). */
  subresource?: string;
  signal?: AbortSignal;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  /** Take ownership of fields that another manager set to another value. */
  force?: boolean;
}

export type Patch =
  | { type: 'json'; body: JsonPatchOperation[] }
  | { type: 'merge'; body: Record<string, unknown> }
  /** Built-in kinds only. */
  | { type: 'strategic'; body: Record<string, unknown> };

export interface JsonPatchOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: unknown;
}

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** Refused with a conflict when the stored object differs. */
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
  signal?: AbortSignal;
}

export interface ObjectStore {
  get<T extends KubeObject = KubeObject>(resource: ResourceRef, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** One page when `limit` is given, see `listAll` for the rest. */
  list<T extends KubeObject = KubeObject>(resource: ResourceRef, options?: ListOptions): Promise<KubeList<T>>;
  /** Ends when the server ends it; throws `KubeError` on an ERROR event (410 Expired among them). */
  watch<T extends KubeObject = KubeObject>(resource: ResourceRef, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject = KubeObject>(resource: ResourceRef, object: T, options?: WriteOptions): Promise<T>;
  /** Conflicts when `metadata.resourceVersion` is given and not the stored one. */
  update<T extends KubeObject = KubeObject>(resource: ResourceRef, object: T, options?: WriteOptions): Promise<T>;
  updateStatus<T extends KubeObject = KubeObject>(resource: ResourceRef, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply; `object` holds only the fields the manager has an opinion about. */
  apply<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    object: KubeObject,
    options: ApplyOptions,
  ): Promise<T>;
  /** The object when it stays for now (finalizers, grace period), undefined when it is gone. */
  delete<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | undefined>;
}

export function apiVersionOf(resource: Pick<ResourceRef, 'group' | 'version'>): string {
  return resource.group ? `${resource.group}/${resource.version}` : resource.version;
}

export function keyOf(object: KubeObject): ObjectKey {
  const { namespace, name = '' } = object.metadata;
  return namespace ? { namespace, name } : { name };
}

/** `namespace/name`, or `name` for cluster-scoped objects; the form of queue keys and log lines. */
export function keyText(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name;
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
