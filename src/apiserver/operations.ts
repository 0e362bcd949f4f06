/**
 * What can be done with the objects of one cluster, below HTTP and above the store: the whole road of a request
 * (defaults, admission, validation, managedFields, finalizers) without the wire. The HTTP handlers, the in-process
 * object store of the controllers and the server's own loops all use this.
 */
import type { KubeObject } from '../api/object.ts';
import type { Identity } from './auth/identity.ts';
import type { RequestScope } from './request-scope.ts';
import type { Resource } from './resource.ts';
import type { Status } from './status.ts';

export interface WriteOptions {
  identity: Identity;
  dryRun?: boolean;
  /** Default: the user agent up to the slash, or `unknown`. */
  fieldManager?: string;
  /** As the request names it, without a default; webhooks are told. */
  requestedManager?: string;
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  subresource?: string;
  /** Collects texts for `Warning:` headers. */
  warnings?: string[];
  /** Paths of keys that stood twice in the body, for field validation; of an applied configuration, sentences. */
  duplicates?: string[];
  /** The same of a YAML body, as its reader words it. */
  repetitions?: string[];
  /** Where a key stands in the body, each time it does: what is wrong is told in that order. */
  placesOf?(path: string): number[];
  /** Of the body, in bytes: a large one is worked on in several turns of the event loop. */
  size?: number;
  /** The request it is done for; none for the server's own writes. */
  scope?: RequestScope;
  /** Part of a request whose own form (a Scale, a Binding, an Eviction) webhooks and policies have seen. */
  isInner?: boolean;
}

export interface Patch {
  type: 'json' | 'merge' | 'strategic' | 'apply';
  /** Decoded: an array of operations for `json`, else an object. */
  body: unknown;
  /** Server-side apply: take ownership of conflicting fields. */
  force?: boolean;
}

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  preconditions?: { uid?: string; resourceVersion?: string };
  orphanDependents?: boolean;
}

/** The body of a request that is not the resource itself, or that is not stored. */
export interface Operand {
  operation: 'CREATE' | 'UPDATE' | 'CONNECT';
  resource: Resource;
  subresource: string;
  namespace: string;
  name: string;
  /** With its own apiVersion and kind. */
  object: KubeObject;
  old?: KubeObject;
}

/** Objects returned may be shared with the store's cache: treat as read-only. */
export interface Operations {
  /** In the resource's version. Throws ApiError 404. For kinds no webhook converts. */
  get(resource: Resource, namespace: string, name: string): KubeObject;
  /** The same for every kind: a webhook may have to convert it. */
  read(resource: Resource, namespace: string, name: string): Promise<KubeObject>;
  /** Everything, newest state, in the resource's version; for loops and small kinds (HTTP pages by itself). */
  listAll(resource: Resource, namespace?: string): KubeObject[];
  create(resource: Resource, namespace: string, object: KubeObject, options: WriteOptions): Promise<KubeObject>;
  update(
    resource: Resource,
    namespace: string,
    name: string,
    object: KubeObject,
    options: WriteOptions,
  ): Promise<{ object: KubeObject; created: boolean }>;
  patch(
    resource: Resource,
    namespace: string,
    name: string,
    patch: Patch,
    options: WriteOptions,
  ): Promise<{ object: KubeObject; created: boolean }>;
  /** Shows an operand to webhooks and policies; returns it as they left it. What follows from it is to be `isInner`. */
  admit(operand: Operand, options: WriteOptions): Promise<KubeObject>;
  /** The object when it stays (finalizers, grace), else a Status of success. */
  delete(
    resource: Resource,
    namespace: string,
    name: string,
    deletion: DeleteOptions,
    options: WriteOptions,
  ): Promise<{ gone: boolean; result: KubeObject | Status }>;
}
