/** Names of definitions in OpenAPI documents, as upstream gives them. */
import type { Resource } from '../resource.ts';
import { definitionName } from './builtin.ts';
import { resourceTable, schemaTable, splitName } from './tables.ts';

/** `io.k8s.api.apps.v1.Deployment`, or `dev.rookery.v1alpha1.ClusterJob` for a custom resource. */
export function componentName(resource: Resource): string {
  return definitionName(resource) ?? customName(resource.group, resource.version, resource.kind);
}

export function listComponentName(resource: Resource): string {
  const definition = definitionName(resource);
  return definition ? `${definition}List` : customName(resource.group, resource.version, resource.listKind);
}

function customName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

let packages: Map<string, string> | undefined;

/** The definition of a built-in kind that need not be a resource (Scale, Eviction); undefined if it has none. */
export function definitionOfKind(group: string, version: string, kind: string): string | undefined {
  packages ??= new Map(resourceTable().resources.map((r) => [`${r.group}/${r.version}`, splitName(r.definition)[0]]));
  const prefix = packages.get(`${group}/${version}`);
  return prefix && Object.hasOwn(schemaTable(prefix), kind) ? `${prefix}.${kind}` : undefined;
}
