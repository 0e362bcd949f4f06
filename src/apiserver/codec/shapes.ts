/** Other shapes of the same objects: tables for `kubectl get`, metadata only for controllers that need no more. */
import type { KubeObject, ListMeta } from '../../api/object.ts';
import type { PrinterColumn, Resource } from '../resource.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: ListMeta;
  columnDefinitions: PrinterColumn[];
  rows: { cells: unknown[]; object?: unknown }[];
}

export function partialMetadata(object: KubeObject, version: string): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  };
}

/** `withColumns` is false for all events of a watch but the first. */
export function tableOf(
  resource: Resource,
  objects: KubeObject[],
  metadata: ListMeta,
  options: { version: string; include: IncludeObject; now: number; withColumns?: boolean },
): Table {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.withColumns === false ? [] : resource.printer.columns.map(columnDefinition),
    rows: objects.map((object) => ({
      cells: resource.printer.cells(object, options.now),
      ...(options.include === 'None'
        ? {}
        : { object: options.include === 'Object' ? object : partialMetadata(object, options.version) }),
    })),
  };
}

function columnDefinition({ name, type, format, description, priority }: PrinterColumn): PrinterColumn {
  return { name, type, format: format ?? '', description: description ?? '', priority };
}
