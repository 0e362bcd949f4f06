/** Entries of the aggregated discovery document (apidiscovery.k8s.io); v2 and v2beta1 have the same form. */
import type { Resource } from '../resource.ts';
import type { ApiGroup } from './registry.ts';

export type AggregatedVersion = 'v2' | 'v2beta1';

export function aggregatedGroups(
  groups: ApiGroup[],
  resourcesOf: (group: string, version: string) => readonly Resource[],
): object[] {
  return groups.map((group) => ({
    metadata: group.name ? { name: group.name } : {},
    versions: group.versions.map((version) => ({
      version,
      resources: resourcesOf(group.name, version).map(resourceEntry),
      freshness: 'Current',
    })),
  }));
}

function resourceEntry(resource: Resource): object {
  const subresources = [...resource.subresources].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    resource: resource.plural,
    // Empty group and version mean "those of this entry".
    responseKind: { group: '', version: '', kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length ? { categories: resource.categories } : {}),
    ...(subresources.length ? { subresources: subresources.map((sub) => subresourceEntry(sub, resource.kind)) } : {}),
  };
}

function subresourceEntry(sub: Resource['subresources'][number], parentKind: string): object {
  return {
    subresource: sub.name,
    responseKind: { group: sub.group ?? '', version: sub.version ?? '', kind: sub.kind ?? parentKind },
    verbs: sub.verbs,
  };
}
