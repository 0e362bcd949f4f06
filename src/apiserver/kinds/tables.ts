/**
 * The facts about built-in kinds, as `tools/gen-kinds` took them from the published Kubernetes modules. Files are read
 * when first asked for and stay: every tenant shares them. Nothing here interprets them.
 */
import { readFileSync } from 'node:fs';

export interface ResourceRow {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  /** Name of the OpenAPI definition, e.g. `io.k8s.api.core.v1.Pod`. */
  definition: string;
  namespaced: boolean;
  verbs: string[];
  /** DELETE answers with the object that was removed, not with a Status. */
  returnsDeleted?: true;
  shortNames?: string[];
  categories?: string[];
  subresources?: { name: string; verbs: string[]; group?: string; version?: string; kind?: string }[];
}

export interface ResourceTable {
  /** In the real server's order of priority; versions likewise. */
  groups: { name: string; versions: string[] }[];
  resources: ResourceRow[];
}

/** A definition as written down: like OpenAPI, but references are bare definition names. */
export interface RawSchema {
  $ref?: string;
  /** [group, version, kind] of definitions that are kinds. */
  gvk?: [string, string, string];
  properties?: Record<string, RawSchema>;
  items?: RawSchema;
  additionalProperties?: RawSchema;
  required?: string[];
  [keyword: string]: unknown;
}

/** [number, JSON name, type, flags]; flags: r repeated, m map, z dropped when zero, i inlined into the parent, u the message is this list. */
export type FieldRow = [number, string, string, string];

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./tables/${name}.json`, import.meta.url), 'utf8'));
}

let resources: ResourceTable | undefined;
const schemas = new Map<string, Record<string, RawSchema>>();
const messages = new Map<string, Record<string, FieldRow[]>>();

export function resourceTable(): ResourceTable {
  resources ??= read('resources') as ResourceTable;
  return resources;
}

/** Definitions of one package (`io.k8s.api.apps.v1`) by short name. */
export function schemaTable(prefix: string): Record<string, RawSchema> {
  let table = schemas.get(prefix);
  if (!table) {
    table = read(`${prefix}.schemas`) as Record<string, RawSchema>;
    schemas.set(prefix, table);
  }
  return table;
}

/** Protobuf messages of one package by short name. */
export function messageTable(prefix: string): Record<string, FieldRow[]> {
  let table = messages.get(prefix);
  if (!table) {
    table = read(`${prefix}.messages`) as Record<string, FieldRow[]>;
    messages.set(prefix, table);
  }
  return table;
}

/** `io.k8s.api.core.v1.Pod` → [`io.k8s.api.core.v1`, `Pod`]. */
export function splitName(name: string): [prefix: string, short: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

export function rawDefinition(name: string): RawSchema {
  const [prefix, short] = splitName(name);
  const raw = schemaTable(prefix)[short];
  if (!raw) throw new Error(`no definition ${name}`);
  return raw;
}
