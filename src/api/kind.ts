/**
 * How a kind is defined: one zod schema for spec and one for status give its TypeScript type, its
 * CustomResourceDefinition and its reference page. Importing a definition loads zod; code that only needs names
 * imports `resources.ts`.
 */
import { z } from 'zod';
import type { KubeObject } from './object.ts';

export interface ColumnDefinition {
  name: string;
  jsonPath: string;
  type?: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  description?: string;
  /** Above 0: with `-o wide` only. */
  priority?: number;
}

export interface Rule {
  rule: string;
  message: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
}

export interface KindDefinition<S extends z.ZodType = z.ZodType, T extends z.ZodType = z.ZodType> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  shortNames: string[];
  categories: string[];
  scope: 'Namespaced' | 'Cluster';
  /** One or two sentences: what it is, what happens when one is created. */
  description: string;
  spec: S;
  status: T;
  columns: ColumnDefinition[];
  /** Rules over the whole object. */
  rules?: Rule[];
  /** `/scale`, as JSON paths with a leading dot. */
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  /** Labels of the CRD itself; Cluster API finds contract versions there. */
  labels?: Record<string, string>;
  /** A complete object that is accepted as it stands; shown in the reference. */
  example: string;
}

export function defineKind<S extends z.ZodType, T extends z.ZodType>(definition: KindDefinition<S, T>) {
  return definition;
}

/** The objects of a kind, defaults filled in. */
export type ObjectOf<K extends KindDefinition> = KubeObject & {
  spec: z.output<K['spec']>;
  status?: z.output<K['status']>;
};

/** Attaches CEL rules to a schema, beside those it has. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: Rule[]): S {
  const meta = schema.meta();
  const known = (meta?.['x-kubernetes-validations'] ?? []) as Rule[];
  return schema.meta({ ...meta, 'x-kubernetes-validations': [...known, ...rules] });
}

/** A list whose entries are told apart by `keys`: patches and server-side apply merge it entry by entry. */
export function listMap<S extends z.ZodType>(item: S, ...keys: string[]): z.ZodArray<S> {
  return z.array(item).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
}

/** A list that is a set: no value twice, merged by value. */
export function listSet<S extends z.ZodType>(item: S): z.ZodArray<S> {
  return z.array(item).meta({ 'x-kubernetes-list-type': 'set' });
}

/** A field that never changes once it is set. */
export function immutable<S extends z.ZodType>(schema: S, what: string): S {
  return withRules(schema, {
    rule: 'self == oldSelf',
    message: `${what} cannot be changed`,
    reason: 'FieldValueForbidden',
  });
}
