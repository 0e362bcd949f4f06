/** What lives below an object: its status, its scale, and the verbs that are not CRUD. */
import type { KubeObject } from '../../api/object.ts';
import { issueToken } from '../auth/token-request.ts';
import { scalePrinter } from '../builtins/scale.ts';
import { bind } from '../handlers/binding.ts';
import { evict } from '../handlers/eviction.ts';
import { readScale, writeScale } from '../handlers/scale.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import type { Subresource } from '../resource.ts';
import { ApiError, badRequest, methodNotAllowed, notFound, type Status } from '../status.ts';
import { acceptedBy, sendObject, sendValue, statusForm } from './answer.ts';
import { type Call, readOperand, readPatch, readWrite } from './call.ts';
import { nothingAt } from './not-found.ts';

export const CREATED: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

export async function serveSubresource(call: Call): Promise<void> {
  const { cluster, exchange, route, resource } = call;
  const { namespace, name } = route;
  const known = resource.subresources.find((s) => s.name === route.subresource);
  // Only a proxy has something below it.
  if (!known || !name || (route.rest && route.subresource !== 'proxy')) {
    throw resource.custom ? notFound({ group: route.group, resource: route.plural, name }) : nothingAt(exchange.path);
  }
  if (!known.verbs.includes(route.verb)) throw methodNotAllowed();
  if (route.verb !== 'get') acceptedBy(call);
  switch (route.subresource) {
    case 'scale':
      return serveScale(call, known);
    case 'token': {
      const { object: sent, options } = await readOperand(call, known);
      const typed = { ...sent, apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
      const operand = { operation: 'CREATE' as const, resource, subresource: 'token', namespace, name };
      const object = await cluster.operations.admit({ ...operand, object: typed }, options);
      return sendValue(exchange, 201, issueToken(cluster, namespace, name, object), acceptedBy(call));
    }
    case 'binding': {
      const { object, options } = await readOperand(call, known);
      await bind(cluster.operations, resource, namespace, name, object, options, cluster.clock.now());
      return sendValue(exchange, 201, CREATED, statusForm(exchange));
    }
    case 'eviction': {
      const { object, options } = await readOperand(call, known);
      await evict(cluster, resource, namespace, name, object, options);
      return sendValue(exchange, 201, CREATED, statusForm(exchange));
    }
    case 'log':
      return serveLog(call);
    case 'exec':
    case 'attach':
    case 'portforward':
    case 'proxy':
      await admitConnection(call);
      return serveStreaming(call);
    default:
      return servePart(call);
  }
}

/** `/status`, `/finalize`, `/approval`, `/resize`, …: the object itself, seen and changed in part. */
async function servePart(call: Call): Promise<void> {
  const { cluster, route, resource } = call;
  const { operations } = cluster;
  const { namespace, name, subresource } = route;
  switch (route.verb) {
    case 'get':
      return sendObject(call, 200, await operations.read(resource, namespace, name));
    case 'update': {
      const { object, options } = await readWrite(call);
      const written = await operations.update(resource, namespace, name, object, { ...options, subresource });
      return sendObject(call, 200, written.object);
    }
    case 'patch': {
      const { patch, options } = await readPatch(call);
      const written = await operations.patch(resource, namespace, name, patch, { ...options, subresource });
      return sendObject(call, written.created ? 201 : 200, written.object);
    }
    default:
      throw methodNotAllowed();
  }
}

async function serveScale(call: Call, known: Subresource): Promise<void> {
  const { cluster, route, resource } = call;
  const { namespace, name } = route;
  if (route.verb === 'get') {
    return sendScale(call, await readScale(cluster.operations, resource, namespace, name));
  }
  const { revise, options } = route.verb === 'patch' ? await patchedScale(call) : await sentScale(call, known);
  const scale = await writeScale(cluster.operations, resource, namespace, name, revise, options);
  return sendScale(call, scale);
}

/** In the shape the client accepts, like any object; only the columns are not those of what is scaled. */
function sendScale(call: Call, scale: KubeObject): Promise<void> {
  return sendObject({ ...call, resource: { ...call.resource, printer: scalePrinter } }, 200, scale);
}

async function sentScale(call: Call, known: Subresource) {
  const { object, options } = await readOperand(call, known);
  return { revise: () => object, options };
}

async function patchedScale(call: Call) {
  const { patch, options } = await readPatch(call);
  const revise = (current: KubeObject) =>
    (patch.type === 'json' ? applyJsonPatch(current, patch.body) : applyMergePatch(current, patch.body)) as KubeObject;
  return { revise, options };
}

/** A pod that no node has yet has no log; that is an answer, not an error. */
function serveLog(call: Call): Promise<void> {
  const { cluster, exchange, route, resource } = call;
  if (cluster.operations.get(resource, route.namespace, route.name).spec?.nodeName) return serveStreaming(call);
  return exchange.send(200, 'text/plain', '');
}

const CONNECT_KINDS: Record<string, string> = {
  'pods/attach': 'PodAttachOptions',
  'pods/exec': 'PodExecOptions',
  'pods/portforward': 'PodPortForwardOptions',
  'pods/proxy': 'PodProxyOptions',
  'nodes/proxy': 'NodeProxyOptions',
  'services/proxy': 'ServiceProxyOptions',
};

/** Webhooks may refuse a connection by its options, which stand in the query. */
async function admitConnection({ cluster, exchange, route, resource, identity }: Call): Promise<void> {
  const { namespace, name, subresource, rest } = route;
  const kind = CONNECT_KINDS[`${resource.plural}/${subresource}`];
  if (!kind) return;
  const object = { kind, apiVersion: 'v1', ...connectOptions(exchange.query, rest) } as KubeObject;
  await cluster.operations.admit(
    { operation: 'CONNECT', resource, subresource, namespace, name, object },
    { identity, warnings: exchange.warnings },
  );
}

function connectOptions(query: URLSearchParams, path: string): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const flag of ['stdin', 'stdout', 'stderr', 'tty']) {
    if (query.get(flag) === 'true' || query.get(flag) === '1') options[flag] = true;
  }
  if (query.has('container')) options.container = query.get('container');
  if (query.has('command')) options.command = query.getAll('command');
  if (query.has('ports')) options.ports = query.getAll('ports').map(Number);
  if (path) options.path = `/${path}`;
  return options;
}

/** There is no kubelet behind this server unless something provides one: say so instead of hanging. */
function serveStreaming({ cluster, route, resource }: Call): Promise<void> {
  const object = cluster.operations.get(resource, route.namespace, route.name);
  if (resource.kind === 'Pod' && !object.spec?.nodeName) {
    throw badRequest(`pod ${route.name} does not have a host assigned`);
  }
  throw new ApiError(
    501,
    'NotImplemented',
    `${resource.plural}/${route.subresource} needs running containers; this cluster's nodes are simulated and run none`,
  );
}
