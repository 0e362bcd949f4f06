/** Entries of the legacy discovery documents. */
import { createHash } from 'node:crypto';
import { groupVersion, type Resource } from '../resource.ts';
import type { ApiGroup } from './registry.ts';

export function groupEntry(group: ApiGroup): object {
  const versions = group.versions.map((version) => ({ groupVersion: groupVersion(group.name, version), version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

/** A resource and its subresources, sorted by full name. */
export function resourceEntries(resources: readonly Resource[]): object[] {
  const entries: { name: string }[] = [];
  for (const resource of resources) {
    entries.push({
      name: resource.plural,
      ...{
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
      },
      ...(resource.shortNames.length ? { shortNames: resource.shortNames } : {}),
      ...(resource.categories.length ? { categories: resource.categories } : {}),
      ...(isStored(resource) ? { storageVersionHash: storageVersionHash(resource) } : {}),
    });
    for (const sub of resource.subresources) {
      entries.push({
        name: `${resource.plural}/${sub.name}`,
        ...{ singularName: '', namespaced: resource.namespaced },
        ...(sub.group ? { group: sub.group } : {}),
        ...(sub.version ? { version: sub.version } : {}),
        ...{ kind: sub.kind ?? resource.kind, verbs: sub.verbs },
      });
    }
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function isStored(resource: Resource): boolean {
  return resource.verbs.includes('list') && resource.verbs.includes('delete');
}

/** As the real server makes it: clients compare it, so one stored form must always give one hash. */
function storageVersionHash(resource: Resource): string {
  const stored = `${resource.storageGroup ?? resource.group}/${resource.storageVersion}/${resource.kind}`;
  return createHash('sha256').update(stored).digest().subarray(0, 8).toString('base64');
}
