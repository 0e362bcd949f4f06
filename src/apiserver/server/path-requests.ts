/** Requests for paths that are no resources: discovery, OpenAPI, health, version, token issuer documents. */

import { requireAllowed } from '../auth/denial.ts';
import type { Identity } from '../auth/identity.ts';
import { jwks, openIdConfiguration } from '../auth/service-account-key.ts';
import type { Cluster } from '../cluster.ts';
import { parseAccept } from '../codec/accept.ts';
import { aggregated, apiGroup, apiGroupList, apiResourceList, apiVersions, type Document } from '../kinds/discovery.ts';
import { openApiDocument, openApiIndex } from '../kinds/openapi-v3.ts';
import { badRequest, methodNotAllowed } from '../status.ts';
import { VERSION } from '../version.ts';
import type { Exchange } from './exchange.ts';
import { nothingAt } from './not-found.ts';
import { serveOpenApiV2 } from './openapi-v2-request.ts';

/** Answers with JSON. Only those get here whom RBAC lets use the path (`nonResourceURLs`). */
export type OwnPath = (request: { verb: string; rest: string[]; body: unknown }) => Promise<unknown>;
export type OwnPaths = Readonly<Record<string, OwnPath>>;

export interface PathRequest {
  cluster: Cluster;
  exchange: Exchange;
  identity: Identity;
  pages: Pages;
  own?: OwnPaths;
}

/** Text that the server makes. */
export interface Pages {
  metrics(): string;
  priorityLevels(): string;
}

export async function servePath({ cluster, exchange, identity, pages, own }: PathRequest): Promise<void> {
  const path = exchange.path.length > 1 ? exchange.path.replace(/\/$/, '') : exchange.path;
  const verb = exchange.method === 'HEAD' ? 'get' : exchange.method.toLowerCase();
  requireAllowed(cluster.authorizer, identity, { verb, path });
  const [, first = '', ...rest] = path.split('/');
  const answer = own && Object.hasOwn(own, first) ? own[first] : undefined;
  if (answer) return sendJson(exchange, await answer({ verb, rest, body: await bodyOf(exchange, verb) }));
  if (verb !== 'get') throw methodNotAllowed();
  switch (first) {
    case 'api':
    case 'apis':
      return serveDiscovery(cluster, exchange, first, rest);
    case 'openapi':
      return serveOpenApi(cluster, exchange, rest);
    case 'version':
      return exchange.send(200, 'application/json', `${JSON.stringify(VERSION)}\n`);
    case 'healthz':
    case 'livez':
    case 'readyz':
      return serveHealth(cluster, exchange, first);
    case 'metrics':
      return exchange.send(200, 'text/plain; version=0.0.4; charset=utf-8', pages.metrics());
    case 'debug':
      if (rest.join('/') !== 'api_priority_and_fairness/dump_priority_levels') throw nothingAt(exchange.path);
      return exchange.send(200, 'text/plain; charset=utf-8', pages.priorityLevels());
    case '.well-known':
      if (rest[0] !== 'openid-configuration') throw nothingAt(exchange.path);
      return sendJson(exchange, openIdConfiguration(cluster.tokens.issuer, `${cluster.tokens.issuer}/openid/v1/jwks`));
    case 'openid':
      if (rest.join('/') !== 'v1/jwks') throw nothingAt(exchange.path);
      return exchange.send(200, 'application/jwk-set+json', JSON.stringify(jwks(cluster.serviceAccountKeys)));
    case '':
      if (rest.length > 0) throw nothingAt(exchange.path);
      return sendJson(exchange, { paths: rootPaths(cluster) });
    default:
      throw nothingAt(exchange.path);
  }
}

async function bodyOf(exchange: Exchange, verb: string): Promise<unknown> {
  if (verb === 'get') return undefined;
  const text = (await exchange.body()).toString();
  try {
    return JSON.parse(text || '{}');
  } catch {
    throw badRequest('the body of the request is not JSON');
  }
}

function serveDiscovery(cluster: Cluster, exchange: Exchange, root: 'api' | 'apis', rest: string[]): Promise<void> {
  const { registry } = cluster;
  const [first, second, ...more] = rest;
  if (more.length > 0) throw nothingAt(exchange.path);
  if (first === undefined) {
    const version = aggregatedVersion(exchange);
    if (version) return sendDocument(exchange, aggregated(registry, root, version));
    return sendDocument(
      exchange,
      root === 'api'
        ? apiVersions(registry, exchange.header('host') ?? exchange.header(':authority') ?? '')
        : apiGroupList(registry),
    );
  }
  const document =
    root === 'api'
      ? second === undefined
        ? apiResourceList(registry, '', first)
        : undefined
      : second === undefined
        ? apiGroup(registry, first)
        : apiResourceList(registry, first, second);
  if (!document) throw nothingAt(exchange.path);
  return sendDocument(exchange, document);
}

function aggregatedVersion(exchange: Exchange): 'v2' | 'v2beta1' | undefined {
  for (const { type, parameters } of parseAccept(exchange.header('accept'))) {
    if (type !== 'application/json') continue;
    const { g, v, as } = parameters;
    if (g === 'apidiscovery.k8s.io' && as === 'APIGroupDiscoveryList' && (v === 'v2' || v === 'v2beta1')) return v;
    if (!as) return undefined;
  }
  return undefined;
}

function sendDocument(exchange: Exchange, document: Document): Promise<void> {
  const headers = { etag: document.etag, vary: 'Accept' };
  if (exchange.header('if-none-match') === document.etag) return exchange.send(304, document.contentType, '', headers);
  return exchange.send(200, document.contentType, document.body, headers);
}

const YEAR_SECONDS = 31_536_000;

async function serveOpenApi(cluster: Cluster, exchange: Exchange, rest: string[]): Promise<void> {
  const [version, ...path] = rest;
  if (version === 'v2' && path.length === 0) return serveOpenApiV2(cluster.registry, exchange);
  if (version !== 'v3') throw nothingAt(exchange.path);
  if (path.length === 0) return sendJson(exchange, await openApiIndex(cluster.registry));
  const name = path.join('/');
  const document = await openApiDocument(cluster.registry, name);
  if (!document) throw nothingAt(exchange.path);
  const asked = exchange.query.get('hash');
  const headers: Record<string, string> = { etag: `"${document.hash}"`, vary: 'Accept' };
  if (asked && asked !== document.hash) {
    // Relative: the cluster's prefix, if any, stays.
    const location = `${name.split('/').pop()}?hash=${document.hash}`;
    return exchange.send(301, 'text/plain', '', { ...headers, location });
  }
  if (asked) {
    headers['cache-control'] = `public, immutable, max-age=${YEAR_SECONDS}`;
    headers.expires = new Date(cluster.clock.now() + YEAR_SECONDS * 1000).toUTCString();
  }
  if (exchange.header('if-none-match') === headers.etag) return exchange.send(304, 'application/json', '', headers);
  return exchange.send(200, 'application/json', document.body, headers);
}

function serveHealth(cluster: Cluster, exchange: Exchange, check: string): Promise<void> {
  // Reading proves that the store answers; a broken file throws here and becomes a 500.
  cluster.store.get({ resource: '/namespaces', namespace: '', name: 'default' });
  const verbose = exchange.query.has('verbose') ? `[+]ping ok\n[+]store ok\n${check} check passed\n` : 'ok';
  return exchange.send(200, 'text/plain; charset=utf-8', verbose);
}

function rootPaths(cluster: Cluster): string[] {
  const groups = cluster.registry.groups().filter((group) => group.name !== '');
  return [
    '/.well-known/openid-configuration',
    '/api',
    '/api/v1',
    '/apis',
    ...groups.flatMap((group) => [`/apis/${group.name}`, ...group.versions.map((v) => `/apis/${group.name}/${v}`)]),
    '/debug/api_priority_and_fairness/dump_priority_levels',
    '/healthz',
    '/livez',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openid/v1/jwks',
    '/readyz',
    '/version',
  ].sort();
}

function sendJson(exchange: Exchange, value: unknown): Promise<void> {
  return exchange.send(200, 'application/json', `${JSON.stringify(value)}\n`);
}
