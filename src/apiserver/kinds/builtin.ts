/** The built-in resources of Kubernetes 1.35, GA versions only. Made once, shared by all tenants. */

import { convertOf, printerOf, scaleOf, selectableFieldsOf, strategyOf } from '../builtins/index.ts';
import type { Resource } from '../resource.ts';
import { definition } from './definition.ts';
import { type ResourceRow, resourceTable } from './tables.ts';

/** Resources that are another view of rows some other resource stores. */
const STORED_AS: Record<string, { storage: string; group?: string; version: string }> = {
  'events.k8s.io/events': { storage: '/events', group: '', version: 'v1' },
  'autoscaling/horizontalpodautoscalers': { storage: 'autoscaling/horizontalpodautoscalers', version: 'v2' },
};

const DEPRECATED: Record<string, string> = {
  '/ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
  '/Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

let resources: Resource[] | undefined;

export function builtinResources(): Resource[] {
  resources ??= resourceTable().resources.map(toResource);
  return resources;
}

/** What the tables say of a resource; nothing for custom ones. */
const rows = new WeakMap<Resource, ResourceRow>();

export function isBuiltin(resource: Resource): boolean {
  return rows.has(resource);
}

/** Name of the OpenAPI definition of a built-in kind. */
export function definitionName(resource: Resource): string | undefined {
  return rows.get(resource)?.definition;
}

/** Whether DELETE answers with the object that was removed (pods, services, …) where others get a Status. */
export function returnsDeleted(resource: Resource): boolean {
  return rows.get(resource)?.returnsDeleted === true;
}

function toResource(row: ResourceRow): Resource {
  const { group, version, kind, plural } = row;
  const stored = STORED_AS[`${group}/${plural}`];
  const resource: Resource = {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: row.singular,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    namespaced: row.namespaced,
    verbs: row.verbs,
    subresources: row.subresources ?? [],
    storage: stored?.storage ?? `${group}/${plural}`,
    storageVersion: stored?.version ?? version,
    schema: () => definition(row.definition),
    strategy: strategyOf(group, kind),
    printer: printerOf(group, kind),
    scale: scaleOf(group, kind),
    selectableFields: selectableFieldsOf(group, kind),
    convert: convertOf(group, kind),
    deprecationWarning: DEPRECATED[`${group}/${kind}`],
  };
  if (stored?.group !== undefined) resource.storageGroup = stored.group;
  rows.set(resource, row);
  return resource;
}
