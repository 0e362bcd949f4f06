/** Requests for resources: from a route to the operation that answers it, and its result to the wire. */

import type { KubeObject } from '../../api/object.ts';
import { requireAllowed } from '../auth/denial.ts';
import type { Identity } from '../auth/identity.ts';
import { isReview, review } from '../auth/reviews.ts';
import type { Cluster } from '../cluster.ts';
import type { Accepted } from '../codec/accept.ts';
import { selectedName } from '../field-selector.ts';
import { bind } from '../handlers/binding.ts';
import { definitionOfKind } from '../kinds/component-name.ts';
import type { WriteOptions } from '../operations.ts';
import type { RequestScope } from '../request-scope.ts';
import { badRequest, methodNotAllowed } from '../status.ts';
import { acceptedBy, includeOf, sendObject, sendStatusOr, sendValue, statusForm } from './answer.ts';
import { type Call, checkOperand, readDelete, readOperand, readPatch, readWrite } from './call.ts';
import type { Exchange } from './exchange.ts';
import { readList, waitFor } from './list.ts';
import { sendList } from './list-answer.ts';
import { parseExactVersion, parseListOptions } from './list-options.ts';
import { nothingAt } from './not-found.ts';
import type { ResourceRoute } from './route.ts';
import { CREATED, serveSubresource } from './subresources.ts';
import { serveWatch } from './watch.ts';

export async function serveResource(
  cluster: Cluster,
  exchange: Exchange,
  route: ResourceRoute,
  identity: Identity,
  signal: AbortSignal,
  scope: RequestScope,
): Promise<void> {
  requireAllowed(cluster.authorizer, identity, {
    verb: route.verb,
    group: route.group,
    version: route.version,
    resource: route.plural,
    subresource: route.subresource,
    namespace: route.plural === 'namespaces' && !route.group ? route.name || route.namespace : route.namespace,
    name: route.name || nameInSelector(route, exchange),
  });
  const resource = cluster.registry.find(route.group, route.version, route.plural);
  if (!resource || (route.namespace && !resource.namespaced)) throw nothingAt(exchange.path);
  if (exchange.method === 'HEAD') throw methodNotAllowed();
  if (resource.deprecationWarning) exchange.warnings.push(resource.deprecationWarning);
  const call: Call = { cluster, exchange, route, resource, identity, signal, scope };
  if (route.subresource) return serveSubresource(call);
  if (!resource.verbs.includes(route.verb) || !fits(route)) throw methodNotAllowed();
  // That the answer will be wanted must be known before anything is read or written for it.
  if (route.verb !== 'list' && route.verb !== 'watch') acceptedBy(call);
  if (isReview(resource.kind)) return serveReview(call);
  if (resource.namespaced && !route.namespace && (route.name || route.verb === 'create'))
    throw nothingAt(exchange.path);
  switch (route.verb) {
    case 'get': {
      const version = exchange.query.get('resourceVersion');
      if (version) await waitFor(cluster, parseExactVersion(version));
      return sendObject(call, 200, await cluster.operations.read(resource, route.namespace, route.name));
    }
    case 'list':
      return serveList(call);
    case 'watch':
      return serveWatchOf(call);
    case 'create': {
      const { object, options } = await readWrite(call);
      if (resource.storage === '/bindings') return serveBinding(call, object, options);
      return sendObject(call, 201, await cluster.operations.create(resource, route.namespace, object, options));
    }
    case 'update': {
      const { object, options } = await readWrite(call);
      const { object: result, created } = await cluster.operations.update(
        resource,
        route.namespace,
        route.name,
        object,
        options,
      );
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

/** A list of one object by its name is asked for like that object (`resourceNames` of a rule apply). */
function nameInSelector({ verb }: ResourceRoute, { query }: Exchange): string {
  if (verb !== 'list' && verb !== 'watch') return '';
  return selectedName(query.get('fieldSelector') ?? '') ?? '';
}

/** Collections are created in, objects are changed. */
function fits({ verb, name }: ResourceRoute): boolean {
  if (verb === 'create') return name === '';
  return name !== '' || (verb !== 'update' && verb !== 'patch');
}

async function serveList(call: Call): Promise<void> {
  const { cluster, exchange, route, resource } = call;
  const options = parseListOptions(exchange.query, resource, route);
  const accepted = acceptedBy(call);
  const listed = await readList(cluster, resource, route.namespace, options);
  return sendList(exchange, resource, listed, accepted, tableOptions(call, accepted));
}

function tableOptions({ cluster, exchange, scope }: Call, accepted: Accepted) {
  return { include: includeOf(exchange, accepted), now: cluster.clock.now(), scope };
}

function serveWatchOf(call: Call): Promise<void> {
  const { cluster, exchange, route, resource, signal, scope } = call;
  const options = parseListOptions(exchange.query, resource, route);
  const accepted = acceptedBy(call, { stream: true });
  const form = { accepted, include: includeOf(exchange, accepted), scope };
  return serveWatch(cluster, exchange, resource, route.namespace, options, form, signal);
}

async function servePatch(call: Call): Promise<void> {
  const { cluster, route, resource } = call;
  const { patch, options } = await readPatch(call);
  const { object, created } = await cluster.operations.patch(resource, route.namespace, route.name, patch, options);
  return sendObject(call, created ? 201 : 200, object);
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
  const accepted = acceptedBy(call);
  return sendList(exchange, resource, listed, accepted, tableOptions(call, accepted));
}

/** The old way to bind: to the collection, the pod is named in the body. */
async function serveBinding(call: Call, binding: KubeObject, options: WriteOptions): Promise<void> {
  const { cluster, exchange, route } = call;
  const pods = cluster.registry.find('', 'v1', 'pods');
  checkOperand(binding, definitionOfKind('', 'v1', 'Binding'), 'Binding');
  const name = binding.metadata?.name;
  if (!pods || !name) throw badRequest('name must be provided');
  await bind(cluster.operations, pods, route.namespace, name, binding, options, cluster.clock.now());
  return sendValue(exchange, 201, CREATED, statusForm(exchange));
}

async function serveReview(call: Call): Promise<void> {
  const { cluster, route, resource, identity } = call;
  const { object: sent, options } = await readOperand(call, resource);
  const typed = { ...sent, apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind };
  const operand = { operation: 'CREATE' as const, resource, subresource: '', namespace: route.namespace, name: '' };
  const object = await cluster.operations.admit({ ...operand, object: typed }, options);
  const answer = review(resource.kind, object, {
    identity,
    namespace: route.namespace,
    authorizer: cluster.authorizer,
    authenticator: cluster.authenticator,
    clock: cluster.clock,
  });
  // Reviews are never stored, so there is nothing a table could be made of: 406 where only that is accepted.
  acceptedBy(call, { shapes: ['object', 'PartialObjectMetadata'] });
  return sendObject(call, 201, answer);
}
