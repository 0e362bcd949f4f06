/**
 * OpenAPI v3: an index of group-versions, and one document for each with its real paths and definitions. kubectl
 * reads them to decide who validates fields, to explain, and to merge patches. Documents are made when first asked
 * for, one per turn of the event loop; those of built-in group-versions are shared by all clusters, those of CRDs are
 * made again only when the resources of that group-version change.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Resource } from '../resource.ts';
import { Turns } from '../turns.ts';
import { isBuiltin } from './builtin.ts';
import { addComponents, type Components } from './openapi-components.ts';
import { addCustomComponents } from './openapi-custom.ts';
import { resourcePaths } from './openapi-paths.ts';
import type { Registry } from './registry.ts';

export interface OpenApiDocument {
  body: string;
  /** Part of the document's URL, so that clients may keep it for ever. */
  hash: string;
}

export interface OpenApiIndex {
  paths: Record<string, { serverRelativeURL: string }>;
}

interface Entry {
  resources: readonly Resource[];
  document: Promise<OpenApiDocument>;
}

const shared = new Map<string, Entry>();
const own = new WeakMap<Registry, Map<string, Entry>>();

/**
 * `/openapi/v3`. `prefix` is what stands before `/openapi` in URLs of this cluster, and may be left empty: since 1.27
 * client-go puts the path of its server address before `/openapi/v3…` itself, and takes such a prefix off before
 * (openapi/client.go). Only older clients use the URL as it is. An empty one also survives proxies with paths of
 * their own, so it is the better default.
 */
export async function openApiIndex(registry: Registry, prefix = ''): Promise<OpenApiIndex> {
  const paths: OpenApiIndex['paths'] = {};
  for (const { name, versions } of registry.groups()) {
    for (const version of versions) {
      const path = pathOf(name, version);
      const { hash } = await documentOf(registry, name, version);
      paths[path] = { serverRelativeURL: `${prefix}/openapi/v3/${path}?hash=${hash}` };
    }
  }
  return { paths };
}

/** `/openapi/v3/<path>` with a path like `api/v1` or `apis/apps/v1`; undefined for what is not served. */
export async function openApiDocument(registry: Registry, path: string): Promise<OpenApiDocument | undefined> {
  const [root, ...rest] = path.split('/');
  const [group, version] = root === 'api' ? ['', rest[0]] : rest;
  if (group === undefined || version === undefined || path !== pathOf(group, version)) return undefined;
  if (registry.resourcesOf(group, version).length === 0) return undefined;
  return documentOf(registry, group, version);
}

function pathOf(group: string, version: string): string {
  return group ? `apis/${group}/${version}` : `api/${version}`;
}

function documentOf(registry: Registry, group: string, version: string): Promise<OpenApiDocument> {
  const resources = registry.resourcesOf(group, version);
  const cache = resources.every(isBuiltin) ? shared : cacheOf(registry);
  const name = pathOf(group, version);
  const known = cache.get(name);
  if (known && sameItems(known.resources, resources)) return known.document;
  const document = make(group, version, resources);
  cache.set(name, { resources, document });
  // A failure is told to those who wait for it and not kept.
  document.catch(() => cache.delete(name));
  return document;
}

function cacheOf(registry: Registry): Map<string, Entry> {
  let cache = own.get(registry);
  if (!cache) {
    cache = new Map();
    own.set(registry, cache);
  }
  return cache;
}

function sameItems(a: readonly Resource[], b: readonly Resource[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

async function make(group: string, version: string, resources: readonly Resource[]): Promise<OpenApiDocument> {
  await nextTurn();
  const turns = new Turns();
  const paths: Record<string, object> = {};
  const components: Components = {};
  for (const resource of resources) {
    Object.assign(paths, resourcePaths(resource));
    if (isBuiltin(resource)) addComponents(components, resource);
    else addCustomComponents(components, resource);
    await turns.pause();
  }
  const info = { title: group ? `${group}/${version}` : version, version: 'unversioned' };
  const securitySchemes = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };
  const pieces = [
    `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":`,
    ...(await jsonPieces(paths, turns)),
    ',"components":{"schemas":',
    ...(await jsonPieces(components, turns)),
    `,"securitySchemes":${JSON.stringify(securitySchemes)}}}`,
  ];
  const hash = createHash('sha256');
  for (const piece of pieces) {
    hash.update(piece);
    await turns.pause();
  }
  return { body: pieces.join(''), hash: hash.digest('hex').toUpperCase() };
}

/** The JSON of an object in pieces: a group may have a thousand kinds. */
async function jsonPieces(object: Record<string, unknown>, turns: Turns): Promise<string[]> {
  const pieces: string[] = [];
  for (const [key, value] of Object.entries(object)) {
    const text = JSON.stringify(value);
    if (text === undefined) continue;
    pieces.push(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:${text}`);
    await turns.pause();
  }
  return pieces.length === 0 ? ['{}'] : [...pieces, '}'];
}
