/** Other shapes of the same objects: tables for `kubectl get`, metadata only for controllers that need no more. */
import type { KubeObject, ListMeta } from '../../api/object.ts';
import type { RequestScope } from '../request-scope.ts';
import type { PrinterColumn, Resource } from '../resource.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: ListMeta;
  columnDefinitions: PrinterColumn[];
  rows: Row[];
}

export interface Row {
  cells: unknown[];
  object?: unknown;
}

export function partialMetadata(object: KubeObject, version: string): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  };
}

export interface TableOptions {
  version: string;
  include: IncludeObject;
  now: number;
  /** The request it is made for. */
  scope?: RequestScope;
}

/** `withColumns` is false for all events of a watch but the first. */
export function emptyTable(resource: Resource, metadata: ListMeta, version: string, withColumns = true): Table {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: withColumns ? resource.printer.columns.map(columnDefinition) : [],
    rows: [],
  };
}

/** A promise where a worker thread makes the cells. */
export function rowOf(resource: Resource, object: KubeObject, options: TableOptions): Row | Promise<Row> {
  const cells = resource.printer.cells(object, options.now, options.scope);
  return cells instanceof Promise ? cells.then((made) => row(made, object, options)) : row(cells, object, options);
}

function row(cells: unknown[], object: KubeObject, { version, include }: TableOptions): Row {
  if (include === 'None') return { cells };
  return { cells, object: include === 'Object' ? object : partialMetadata(object, version) };
}

function columnDefinition({ name, type, format, description, priority }: PrinterColumn): PrinterColumn {
  return { name, type, format: format ?? '', description: description ?? '', priority };
}
