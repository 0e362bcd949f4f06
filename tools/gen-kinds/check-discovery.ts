/** Compares our discovery documents with those recorded from a real server, GA parts of them. */
import { isDeepStrictEqual } from 'node:util';
import * as discovery from '../../src/apiserver/kinds/discovery.ts';
import { Registry } from '../../src/apiserver/kinds/registry.ts';
import { isGa } from './modules.ts';
import { discoveryFile, readDiscovery, readGroups } from './resources.ts';

// biome-ignore lint/suspicious/noExplicitAny: raw discovery documents
type Raw = any;

/** Stored as v1beta1 upstream for the sake of a roll-back; we have only ever stored v1, so the hash differs. */
const STORED_OLDER = new Set(['volumeattributesclasses', 'customresourcedefinitions']);

export function checkDiscovery(): string[] {
  const registry = new Registry();
  const problems: string[] = [];
  const same = (what: string, ours: discovery.Document | undefined, golden: Raw) => {
    if (!isDeepStrictEqual(JSON.parse(ours?.body ?? 'null'), golden)) problems.push(`discovery: ${what} differs`);
  };
  for (const { name, versions } of readGroups()) {
    for (const version of versions) {
      const golden = readDiscovery(discoveryFile(name, version)) as Raw;
      const ours = discovery.apiResourceList(registry, name, version);
      for (const entry of golden.resources) {
        if (STORED_OLDER.has(entry.name)) entry.storageVersionHash = hashOf(ours, entry.name);
      }
      same(`${name}/${version}`, ours, golden);
    }
    if (name) same(name, discovery.apiGroup(registry, name), onlyGa(readDiscovery(`apis__${name}`)));
  }
  const groups = readDiscovery('apis') as Raw;
  groups.groups = groups.groups.map(onlyGa).filter((group: Raw) => group.versions.length > 0);
  same('/apis', discovery.apiGroupList(registry), groups);
  same('/api', discovery.apiVersions(registry, '10.10.10.10:8050'), readDiscovery('api'));
  const all = readDiscovery('aggregated_v2') as Raw;
  all.items = all.items.map(onlyGa).filter((group: Raw) => group.versions.length > 0);
  const ours = discovery.aggregated(registry, 'apis', 'v2');
  const { metadata: _, ...body } = JSON.parse(ours.body);
  const { metadata: __, ...golden } = all;
  if (!isDeepStrictEqual(body, golden)) problems.push('discovery: aggregated /apis differs');
  return problems;
}

function hashOf(document: discovery.Document | undefined, resource: string): string {
  const entries = JSON.parse(document?.body ?? '{"resources":[]}').resources;
  return entries.find((entry: Raw) => entry.name === resource)?.storageVersionHash;
}

function onlyGa(group: Raw): Raw {
  return { ...group, versions: group.versions.filter((v: Raw) => isGa(v.version)) };
}
