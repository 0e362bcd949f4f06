/**
 * Discovery documents: what the server tells clients it serves. Legacy form (one document per path) and aggregated
 * form (everything at `/api` and `/apis`). Keys in the order of the Go structs and no spaces: kubectl's own tests
 * compare the text. Documents are kept per registry revision; clusters without CRDs share one set.
 */
import { createHash } from 'node:crypto';
import { groupVersion } from '../resource.ts';
import { type AggregatedVersion, aggregatedGroups } from './discovery-aggregated.ts';
import { groupEntry, resourceEntries } from './discovery-legacy.ts';
import type { Registry } from './registry.ts';
import { RevisionCache } from './revision-cache.ts';

export interface Document {
  body: string;
  contentType: string;
  /** With quotes, ready for the header. */
  etag: string;
}

const cache = new RevisionCache<Document>();

function cached(registry: Registry, name: string, make: () => unknown, contentType = 'application/json'): Document {
  return cache.get(registry, name, () => toDocument(make(), contentType));
}

function toDocument(content: unknown, contentType: string): Document {
  const body = `${JSON.stringify(content)}\n`;
  // The real server's form: upper-case SHA-512.
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  return { body, contentType, etag };
}

/** `/api`. The address is what the client reached us at; not kept, since every client may name another. */
export function apiVersions(_registry: Registry, serverAddress: string): Document {
  return toDocument(
    {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
    },
    'application/json',
  );
}

/** `/apis`. */
export function apiGroupList(registry: Registry): Document {
  return cached(registry, 'apis', () => ({
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: registry
      .groups()
      .filter((group) => group.name !== '')
      .map(groupEntry),
  }));
}

/** `/apis/<group>`; undefined for a group that is not served. */
export function apiGroup(registry: Registry, name: string): Document | undefined {
  const group = name === '' ? undefined : registry.groups().find((g) => g.name === name);
  if (!group) return undefined;
  return cached(registry, `apis/${name}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) }));
}

/** `/api/v1` (group '') and `/apis/<group>/<version>`; undefined for what is not served. */
export function apiResourceList(registry: Registry, group: string, version: string): Document | undefined {
  const served = registry.groups().some((g) => g.name === group && g.versions.includes(version));
  if (!served) return undefined;
  return cached(registry, `resources ${group}/${version}`, () => ({
    kind: 'APIResourceList',
    // The core list has had none since v1.0.
    ...(group ? { apiVersion: 'v1' } : {}),
    groupVersion: groupVersion(group, version),
    resources: resourceEntries(registry.resourcesOf(group, version)),
  }));
}

/** `/api` or `/apis` when the client asked for `as=APIGroupDiscoveryList`. */
export function aggregated(registry: Registry, root: 'api' | 'apis', version: AggregatedVersion): Document {
  const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  return cached(
    registry,
    `aggregated ${root} ${version}`,
    () => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: aggregatedGroups(
        registry.groups().filter((group) => (group.name === '') === (root === 'api')),
        (group, v) => registry.resourcesOf(group, v),
      ),
    }),
    contentType,
  );
}
