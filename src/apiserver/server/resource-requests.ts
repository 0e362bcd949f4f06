/** Requests for resources: from a route to the operation that answers it, and its result to the wire. */
import type { KubeObject } from '../../api/object.ts';
import type { Cluster } from '../cluster.ts';
import { negotiate, type Shape } from '../codec/accept.ts';
import { asObject, decodeJson, decodeObject, decodeYaml, mediaType } from '../codec/body.ts';
import { type IncludeObject, partialMetadata, tableOf } from '../codec/shapes.ts';
import { requireAllowed } from '../auth/denial.ts';
import type { Identity } from '../auth/identity.ts';
import { isReview, review } from '../auth/reviews.ts';
import type { DeleteOptions, Patch, WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { badRequest, field, invalid, methodNotAllowed, type Status, unknownPath, unsupportedMediaType } from '../status.ts';
import type { Exchange } from './exchange.ts';
import { parseListOptions } from './list-options.ts';
import { readList, renderList } from './list.ts';
import type { ResourceRoute } from './route.ts';
import { serveSubresource } from './subresources.ts';
import { serveWatch } from './watch.ts';

const EVERY_SHAPE: readonly Shape[] = ['object', 'Table', 'PartialObjectMetadata'];

export interface Call {
  cluster: Cluster;
  exchange: Exchange;
  route: ResourceRoute;
  resource: Resource;
  identity: Identity;
  signal: AbortSignal;
}

export async function serveResource(
  cluster: Cluster,
  exchange: Exchange,
  route: ResourceRoute,
  identity: Identity,
  signal: AbortSignal,
): Promise<void> {
  requireAllowed(cluster.authorizer, identity, {
    verb: route.verb,
    group: route.group,
    version: route.version,
    resource: route.plural,
    subresource: route.subresource,
    namespace: route.plural === 'namespaces' && !route.group ? route.name || route.namespace : route.namespace,
    name: route.name,
  });
  const resource = cluster.registry.find(route.group, route.version, route.plural);
  if (!resource || (route.namespace && !resource.namespaced)) throw unknownPath();
  if (resource.deprecationWarning) exchange.warnings.push(resource.deprecationWarning);
  const call: Call = { cluster, exchange, route, resource, identity, signal };
  if (route.subresource) return serveSubresource(call);
  if (!resource.verbs.includes(route.verb)) throw methodNotAllowed();
  if (isReview(resource.kind)) return serveReview(call);
  if (resource.namespaced && !route.namespace && (route.name || route.verb === 'create')) throw unknownPath();
  switch (route.verb) {
    case 'get':
      return sendObject(call, 200, cluster.operations.get(resource, route.namespace, route.name));
    case 'list':
      return serveList(call);
    case 'watch':
      return serveWatchOf(call);
    case 'create': {
      const { object, options } = await readWrite(call);
      if (route.name) throw methodNotAllowed();
      return sendObject(call, 201, await cluster.operations.create(resource, route.namespace, object, options));
    }
    case 'update': {
      const { object, options } = await readWrite(call);
      const { object: result, created } = await cluster.operations.update(resource, route.namespace, route.name, object, options);
      return sendObject(call, created ? 201 : 200, result);
    }
    case 'patch':
      return servePatch(call);
    case 'delete': {
      const { deletion, options } = await readDelete(call);
      const { result } = await cluster.operations.delete(resource, route.namespace, route.name, deletion, options);
      return sendStatusOr(call, 200, result);
    }
    case 'deletecollection':
      return serveDeleteCollection(call);
    default:
      throw methodNotAllowed();
  }
}

async function serveList({ cluster, exchange, route, resource }: Call): Promise<void> {
  const accepted = negotiate(exchange.header('accept'), EVERY_SHAPE);
  const options = parseListOptions(exchange.query, resource, route);
  const listed = await readList(cluster, resource, route.namespace, options);
  const pieces = renderList(resource, listed, accepted, includeOf(exchange), cluster.clock.now());
  if (accepted.encoding === 'yaml') return sendYaml(exchange, 200, JSON.parse([...pieces].join('')));
  if (listed.items.length <= 100) {
    return exchange.send(200, 'application/json', pretty(exchange, [...pieces].join('')));
  }
  const stream = exchange.stream(200, 'application/json');
  for (const piece of pieces) {
    if (exchange.response.destroyed) return;
    await stream.write(piece);
  }
  stream.end();
}

function serveWatchOf({ cluster, exchange, route, resource, signal }: Call): Promise<void> {
  const accepted = negotiate(exchange.header('accept'), EVERY_SHAPE);
  const options = parseListOptions(exchange.query, resource, route);
  const form = { accepted, include: includeOf(exchange) };
  return serveWatch(cluster, exchange, resource, route.namespace, options, form, signal);
}

async function servePatch(call: Call): Promise<void> {
  const { cluster, exchange, route, resource } = call;
  const { patch, options } = await readPatch(call);
  const { object, created } = await cluster.operations.patch(resource, route.namespace, route.name, patch, options);
  return sendObject({ ...call, exchange }, created ? 201 : 200, object);
}

async function serveDeleteCollection(call: Call): Promise<void> {
  const { cluster, exchange, route, resource } = call;
  const { deletion, options } = await readDelete(call);
  const selection = parseListOptions(exchange.query, resource, { ...route, verb: 'list' });
  const listed = await readList(cluster, resource, route.namespace, selection);
  for (const { key } of listed.items) {
    try {
      await cluster.operations.delete(resource, key.namespace, key.name, deletion, options);
    } catch (error) {
      // Someone else was faster: it is gone, which is what was asked for.
      if ((error as { code?: number }).code !== 404) throw error;
    }
  }
  const body = [...renderList(resource, listed, negotiate(exchange.header('accept'), ['object']), 'Metadata', 0)].join('');
  return exchange.send(200, 'application/json', body);
}

async function serveReview(call: Call): Promise<void> {
  const { cluster, exchange, route, resource, identity } = call;
  const { object } = await readWrite(call);
  const answer = review(resource.kind, { ...object, apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind }, {
    identity,
    namespace: route.namespace,
    authorizer: cluster.authorizer,
    authenticator: cluster.authenticator,
    clock: cluster.clock,
  });
  // Reviews are never stored, so there is nothing a table could be made of: 406 where only that is accepted.
  negotiate(exchange.header('accept'), ['object']);
  return sendObject(call, 201, answer);
}

// ---- reading -------------------------------------------------------------------------------------------------

export async function readWrite(call: Call): Promise<{ object: KubeObject; options: WriteOptions }> {
  const { exchange } = call;
  const options = writeOptions(call);
  const { value, duplicates } = await decodeObject(await exchange.body(), exchange.header('content-type'));
  return { object: asObject(value), options: { ...options, duplicates } };
}

const PATCH_TYPES: Record<string, Patch['type']> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

export async function readPatch(call: Call): Promise<{ patch: Patch; options: WriteOptions }> {
  const { exchange } = call;
  const type = PATCH_TYPES[mediaType(exchange.header('content-type'))];
  if (!type) throw unsupportedMediaType(Object.keys(PATCH_TYPES));
  const force = exchange.query.get('force');
  if (force !== null && type !== 'apply') {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [field.forbidden('force', 'may not be specified for non-apply patch')]);
  }
  const options = writeOptions(call);
  if (type === 'apply' && !exchange.query.get('fieldManager')) {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [field.required('fieldManager', 'is required for apply patch')]);
  }
  const body = await exchange.body();
  const { value, duplicates } = type === 'apply' ? await decodeYaml(body) : decodeJson(body);
  if (type !== 'json') asObject(value);
  return { patch: { type, body: value, force: force !== null && force !== 'false' }, options: { ...options, duplicates } };
}

export async function readDelete(call: Call): Promise<{ deletion: DeleteOptions; options: WriteOptions }> {
  const { exchange } = call;
  const options = writeOptions(call);
  const body = await exchange.body();
  const { query } = exchange;
  const deletion: DeleteOptions & { dryRun?: string[] } = {};
  if (body.length > 0) {
    const value = asObject((await decodeObject(body, exchange.header('content-type'))).value) as KubeObject & DeleteOptions;
    if (value.kind && value.kind !== 'DeleteOptions') throw badRequest(`expected DeleteOptions, got ${value.kind}`);
    Object.assign(deletion, value);
  }
  if (query.has('gracePeriodSeconds')) deletion.gracePeriodSeconds = Number(query.get('gracePeriodSeconds'));
  if (query.has('propagationPolicy')) deletion.propagationPolicy = query.get('propagationPolicy') as DeleteOptions['propagationPolicy'];
  if (query.has('orphanDependents')) deletion.orphanDependents = query.get('orphanDependents') === 'true';
  if (deletion.dryRun?.length) options.dryRun = checkDryRun(deletion.dryRun);
  return { deletion, options };
}

function writeOptions({ exchange, identity }: Call): WriteOptions {
  const { query } = exchange;
  const manager = query.get('fieldManager');
  if (manager && (manager.length > 128 || /[^\x20-\x7e]/.test(manager))) {
    throw invalid('meta.k8s.io', 'CreateOptions', '', [
      field.invalid('fieldManager', manager, 'may not be more than 128 bytes and must be printable'),
    ]);
  }
  const validation = query.get('fieldValidation') || undefined;
  if (validation && !['Ignore', 'Warn', 'Strict'].includes(validation)) {
    throw invalid('meta.k8s.io', 'CreateOptions', '', [
      field.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']),
    ]);
  }
  return {
    identity,
    dryRun: checkDryRun(query.getAll('dryRun')),
    fieldManager: manager || (exchange.header('user-agent') ?? '').split('/', 1)[0]?.slice(0, 128) || 'unknown',
    fieldValidation: validation as WriteOptions['fieldValidation'],
    warnings: exchange.warnings,
  };
}

function checkDryRun(values: string[]): boolean {
  const wanted = values.filter((value) => value !== '');
  for (const value of wanted) {
    if (value !== 'All') throw invalid('meta.k8s.io', 'CreateOptions', '', [field.notSupported('dryRun', value, ['All'])]);
  }
  return wanted.length > 0;
}

// ---- answering -----------------------------------------------------------------------------------------------

export function includeOf(exchange: Exchange): IncludeObject {
  const value = exchange.query.get('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

export async function sendObject(call: Call, status: number, object: KubeObject): Promise<void> {
  const { cluster, exchange, resource } = call;
  const accepted = negotiate(exchange.header('accept'), EVERY_SHAPE);
  let shaped: unknown = object;
  if (accepted.shape === 'Table') {
    const meta = { resourceVersion: object.metadata.resourceVersion };
    shaped = tableOf(resource, [object], meta, {
      version: accepted.version,
      include: includeOf(exchange),
      now: cluster.clock.now(),
    });
  } else if (accepted.shape === 'PartialObjectMetadata') shaped = partialMetadata(object, accepted.version);
  return sendValue(exchange, status, shaped, accepted.encoding);
}

export function sendValue(exchange: Exchange, status: number, value: unknown, encoding: 'json' | 'yaml'): Promise<void> {
  if (encoding === 'yaml') return sendYaml(exchange, status, value);
  return exchange.send(status, 'application/json', pretty(exchange, `${JSON.stringify(value)}\n`));
}

async function sendYaml(exchange: Exchange, status: number, value: unknown): Promise<void> {
  const { stringify } = await import('yaml');
  return exchange.send(status, 'application/yaml', stringify(value, { aliasDuplicateObjects: false }));
}

/** A Status has no table; an object kept by finalizers has. */
function sendStatusOr(call: Call, status: number, result: KubeObject | Status): Promise<void> {
  if (result.kind !== 'Status' || result.apiVersion !== 'v1') return sendObject(call, status, result as KubeObject);
  const { encoding } = negotiate(call.exchange.header('accept'), EVERY_SHAPE);
  return sendValue(call.exchange, status, result, encoding);
}

function pretty(exchange: Exchange, json: string): string {
  const wanted = exchange.query.get('pretty');
  return wanted === 'true' || wanted === '1' ? `${JSON.stringify(JSON.parse(json), null, 2)}\n` : json;
}
