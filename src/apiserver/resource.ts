/**
 * What the server serves, as data: one `Resource` per (group, version, plural). Built-in and custom resources take
 * the same road through the handlers; they differ only in where the schema comes from and in their `Strategy`.
 */
import type { KubeObject } from '../api/object.ts';
import type { RequestScope } from './request-scope.ts';
import type { Schema } from './schema/schema.ts';
import type { FieldError } from './status.ts';

export interface Subresource {
  name: string;
  verbs: string[];
  /** The kind exchanged on it where that is not the parent's, e.g. autoscaling/v1 Scale. */
  group?: string;
  version?: string;
  kind?: string;
}

/** How `/scale` maps to fields of a kind (JSON paths without the leading dot, e.g. `spec.replicas`). */
export interface ScalePaths {
  specReplicas: string;
  statusReplicas: string;
  /** Path of a label selector: a LabelSelector object, a map, or a string in selector syntax. */
  selector?: string;
}

export interface PrinterColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  /** Columns above 0 appear with `-o wide` only. */
  priority: number;
}

/** Makes `kubectl get` output of one kind. */
export interface Printer {
  columns: PrinterColumn[];
  /** A promise where a worker thread makes them, for the request given. */
  cells(object: KubeObject, now: number, scope?: RequestScope): unknown[] | Promise<unknown[]>;
}

export interface WriteContext {
  /** Milliseconds since the epoch. */
  now: number;
  user: string;
  groups: string[];
  dryRun: boolean;
}

/** What one kind does beyond the generic road. Every hook may mutate `object` in place. */
export interface Strategy {
  /** Fills in defaults; idempotent; also run on objects after a patch. */
  defaults?(object: KubeObject): void;
  /** Sets what the system owns on create (phase, hashes, cleared status). */
  prepareCreate?(object: KubeObject, context: WriteContext): void;
  /** Keeps what a client may not change; runs before the generation is compared. */
  prepareUpdate?(object: KubeObject, old: KubeObject, context: WriteContext): void;
  /** What validation needs that may take long, in steps. */
  ready?(object: KubeObject): Generator<void, void>;
  validate?(object: KubeObject): FieldError[];
  validateUpdate?(object: KubeObject, old: KubeObject): FieldError[];
  /** Extra checks and changes for one subresource (e.g. pods `status`). */
  prepareSubresource?(subresource: string, object: KubeObject, old: KubeObject, context: WriteContext): void;
  /** Texts for `Warning:` headers. */
  warnings?(object: KubeObject, old?: KubeObject): string[];
  /** PUT to a missing name creates it. */
  createOnUpdate?: boolean;
  /** PUT without a resourceVersion is refused. */
  requireResourceVersion?: boolean;
  /** Kinds without generation (ConfigMap, Secret, Event, …). */
  noGeneration?: boolean;
  /** Seconds of grace a delete gets; pods only. */
  gracePeriod?(object: KubeObject, requested: number | undefined): number;
}

export interface Resource {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: string[];
  categories: string[];
  namespaced: boolean;
  verbs: string[];
  subresources: Subresource[];
  /** Key of the rows in the store; several served versions share one, e.g. `apps/deployments`. */
  storage: string;
  /** The version objects are stored in. */
  storageVersion: string;
  /** Group of the stored form where it is not `group` (events.k8s.io events are core events). */
  storageGroup?: string;
  /** The kind's root schema: apiVersion, kind, metadata, spec, … Loaded when first asked for. */
  schema(): Schema;
  strategy: Strategy;
  printer: Printer;
  scale?: ScalePaths;
  /** Field selectors beyond metadata.name and metadata.namespace: label → value of an object. */
  selectableFields: Record<string, (object: KubeObject) => string>;
  /** Converts between served and stored form, in place, where they differ in more than apiVersion. */
  convert?(object: KubeObject, toVersion: string): void;
  deprecationWarning?: string;
  /** Set for custom resources only. */
  custom?: CustomResource;
}

/** What a CustomResourceDefinition adds to a resource. */
export interface CustomResource {
  crdName: string;
  crdUid: string;
  hasStatus: boolean;
  /** Resource version of the definition: objects stored before it may lack its defaults, or have fields it no longer knows. */
  since: number;
  /** Removes unknown fields; returns their paths for field validation. */
  prune(object: KubeObject): string[];
  /** Schema and CEL, including ratcheting against `old`; what that forgives goes to `warnings`. */
  validate(object: KubeObject, old?: KubeObject, warnings?: string[], scope?: RequestScope): Promise<FieldError[]>;
  /** Set where a webhook converts between versions; then `convert` only holds the result to its schema. */
  conversion?: Conversion;
  /** The same resource in another version of its CRD, served or not. */
  inVersion(version: string): Resource | undefined;
}

/** Objects of one kind into another version of it. */
export interface Conversion {
  /** Converted copies in the order given. Rejects with ApiError. */
  convert(objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]>;
}

export function groupVersion(group: string, version: string): string {
  return group ? `${group}/${version}` : version;
}
