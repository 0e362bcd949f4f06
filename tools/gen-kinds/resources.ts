/** Resources of the GA group-versions, from the discovery documents of a real server. */
import { readFileSync } from 'node:fs';
import { isGa, kubernetes } from './modules.ts';

interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}

export interface ResourceRow {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  definition: string;
  namespaced: boolean;
  verbs: string[];
  returnsDeleted?: true;
  shortNames?: string[];
  categories?: string[];
  subresources?: { name: string; verbs: string[]; group?: string; version?: string; kind?: string }[];
}

export interface GroupRow {
  name: string;
  versions: string[];
}

export function readDiscovery(file: string): unknown {
  return JSON.parse(readFileSync(`${kubernetes()}/api/discovery/${file}.json`, 'utf8'));
}

/** All groups in the real server's order, core first. */
export function readGroups(): GroupRow[] {
  const list = readDiscovery('apis') as { groups: { name: string; versions: { version: string }[] }[] };
  const named = list.groups.map((g) => ({ name: g.name, versions: g.versions.map((v) => v.version).filter(isGa) }));
  return [{ name: '', versions: ['v1'] }, ...named.filter((g) => g.versions.length > 0)];
}

export function discoveryFile(group: string, version: string): string {
  return group ? `apis__${group}__${version}` : `api__${version}`;
}

export function readResources(
  groups: GroupRow[],
  definitionOf: (group: string, version: string, kind: string) => string,
  returnsDeleted: Set<string>,
): ResourceRow[] {
  const rows: ResourceRow[] = [];
  for (const { name: group, versions } of groups) {
    for (const version of versions) {
      const list = readDiscovery(discoveryFile(group, version)) as { resources: ApiResource[] };
      const own = new Map<string, ResourceRow>();
      for (const entry of list.resources) {
        const [plural, subresource] = entry.name.split('/') as [string, string | undefined];
        if (subresource === undefined) {
          const row: ResourceRow = {
            group,
            version,
            plural,
            singular: entry.singularName,
            kind: entry.kind,
            definition: definitionOf(group, version, entry.kind),
            namespaced: entry.namespaced,
            verbs: entry.verbs,
          };
          if (returnsDeleted.has(`${group}/${version}/${entry.kind}`)) row.returnsDeleted = true;
          if (entry.shortNames) row.shortNames = entry.shortNames;
          if (entry.categories) row.categories = entry.categories;
          own.set(plural, row);
          rows.push(row);
          continue;
        }
        const parent = own.get(plural);
        if (!parent) throw new Error(`${group}/${version} ${entry.name}: no parent resource`);
        parent.subresources ??= [];
        parent.subresources.push({
          name: subresource,
          verbs: entry.verbs,
          ...(entry.group ? { group: entry.group } : {}),
          ...(entry.version ? { version: entry.version } : {}),
          ...(entry.kind !== parent.kind ? { kind: entry.kind } : {}),
        });
      }
    }
  }
  return rows;
}
