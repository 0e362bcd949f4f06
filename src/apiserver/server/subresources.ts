/** What lives below an object: its status, its scale, and the verbs that are not CRUD. */
import {
  formatLabelSelector,
  type LabelSelectorObject,
  matchesLabels,
  selectorFromObject,
} from '../../api/label-selector.ts';
import type { KubeObject } from '../../api/object.ts';
import { issueToken } from '../auth/token-request.ts';
import { setAt, valueAt } from '../json.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import type { Resource, ScalePaths } from '../resource.ts';
import { ApiError, badRequest, field, invalid, methodNotAllowed, tooManyRequests, unknownPath } from '../status.ts';
import { sendObject, sendValue } from './answer.ts';
import { type Call, readPatch, readWrite } from './call.ts';

export async function serveSubresource(call: Call): Promise<void> {
  const { route, resource } = call;
  const known = resource.subresources.find((s) => s.name === route.subresource);
  if (!known || !route.name) throw unknownPath();
  if (!known.verbs.includes(route.verb) && route.verb !== 'get') throw methodNotAllowed();
  switch (route.subresource) {
    case 'scale':
      return serveScale(call);
    case 'token':
      return serveToken(call);
    case 'binding':
      return serveBinding(call);
    case 'eviction':
      return serveEviction(call);
    case 'log':
    case 'exec':
    case 'attach':
    case 'portforward':
    case 'proxy':
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
      return sendObject(call, 200, operations.get(resource, namespace, name));
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

async function serveScale(call: Call): Promise<void> {
  const { cluster, route, resource } = call;
  const paths = resource.scale;
  if (!paths) throw unknownPath();
  const { operations } = cluster;
  const { namespace, name } = route;
  const live = operations.get(resource, namespace, name);
  if (route.verb === 'get') return sendScale(call, live, paths);
  const current = scaleOf(live, paths);
  let wanted: KubeObject;
  let options: Awaited<ReturnType<typeof readWrite>>['options'];
  if (route.verb === 'patch') {
    const read = await readPatch(call);
    options = read.options;
    const { type, body } = read.patch;
    wanted = (type === 'json' ? applyJsonPatch(current, body) : applyMergePatch(current, body)) as KubeObject;
  } else ({ object: wanted, options } = await readWrite(call));
  if (wanted.metadata?.name && wanted.metadata.name !== name) {
    throw badRequest(`the name of the object (${wanted.metadata.name}) does not match the name on the URL (${name})`);
  }
  const replicas = wanted.spec?.replicas ?? 0;
  if (!Number.isInteger(replicas) || replicas < 0) {
    throw invalid('autoscaling', 'Scale', name, [
      field.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  }
  // A resource version the client did not change is no precondition: it read the scale, not the object.
  const sentVersion = wanted.metadata?.resourceVersion;
  const precondition = sentVersion && sentVersion !== current.metadata.resourceVersion ? sentVersion : undefined;
  const body: Record<string, unknown> = {};
  setAt(body, paths.specReplicas, replicas);
  if (precondition) setAt(body, 'metadata.resourceVersion', precondition);
  const written = await operations.patch(resource, namespace, name, { type: 'merge', body }, options);
  return sendScale(call, written.object, paths);
}

function sendScale(call: Call, object: KubeObject, paths: ScalePaths): Promise<void> {
  return sendValue(call.exchange, 200, scaleOf(object, paths), 'json');
}

function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.selector ? selectorText(valueAt(object, paths.selector)) : undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: (valueAt(object, paths.specReplicas) as number) ?? 0 },
    status: {
      replicas: (valueAt(object, paths.statusReplicas) as number) ?? 0,
      ...(selector ? { selector } : {}),
    },
  };
}

/** A selector is an object, a map of labels (ReplicationController) or already text (custom resources). */
function selectorText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const isSelector = 'matchLabels' in value || 'matchExpressions' in value;
  const object = isSelector ? value : { matchLabels: value as Record<string, string> };
  return formatLabelSelector(selectorFromObject(object as LabelSelectorObject) ?? []);
}

async function serveToken(call: Call): Promise<void> {
  const { cluster, route } = call;
  const { object } = await readWrite(call);
  const context = { store: cluster.store, clock: cluster.clock, tokens: cluster.tokens };
  return sendValue(call.exchange, 201, issueToken(context, route.namespace, route.name, object), 'json');
}

/** The scheduler's word: this pod runs on that node. */
async function serveBinding(call: Call): Promise<void> {
  const { cluster, route, resource } = call;
  const { object: binding, options } = await readWrite(call);
  const node = binding.target?.name;
  const subject = { group: '', resource: 'pods/binding', name: route.name };
  if (!node) {
    throw invalid('', 'Binding', route.name, [field.required('target.name')]);
  }
  const pod = cluster.operations.get(resource, route.namespace, route.name);
  if (pod.metadata.deletionTimestamp)
    throw conflictOn(subject, `pod ${route.name} is being deleted, cannot be assigned to a host`);
  if (pod.spec?.nodeName) {
    throw conflictOn(subject, `pod ${route.name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  }
  await cluster.operations.patch(
    resource,
    route.namespace,
    route.name,
    { type: 'merge', body: { spec: { nodeName: node }, metadata: { annotations: binding.metadata?.annotations } } },
    { ...options, subresource: 'binding' },
  );
  return sendValue(
    call.exchange,
    201,
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
    'json',
  );
}

function conflictOn(subject: { group: string; resource: string; name: string }, text: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${subject.resource} ${JSON.stringify(subject.name)}: ${text}`,
    {
      name: subject.name,
      kind: subject.resource,
    },
  );
}

/** Deletes the pod if every disruption budget that covers it can spare one. */
async function serveEviction(call: Call): Promise<void> {
  const { cluster, route, resource } = call;
  const { object: eviction, options } = await readWrite(call);
  const pod = cluster.operations.get(resource, route.namespace, route.name);
  const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  if (!finished && !pod.metadata.deletionTimestamp) await spendBudget(call, pod, options.dryRun ?? false);
  const deletion = eviction.deleteOptions ?? {};
  await cluster.operations.delete(resource, route.namespace, route.name, deletion, options);
  return sendValue(
    call.exchange,
    201,
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
    'json',
  );
}

async function spendBudget({ cluster, route }: Call, pod: KubeObject, dryRun: boolean): Promise<void> {
  const budgets = cluster.registry.find('policy', 'v1', 'poddisruptionbudgets') as Resource;
  const covering = cluster.operations.listAll(budgets, route.namespace).filter((budget) => {
    const selector = selectorFromObject(budget.spec?.selector);
    return selector !== undefined && matchesLabels(selector, pod.metadata.labels);
  });
  if (covering.length > 1) {
    throw new ApiError(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const budget = covering[0];
  if (!budget) return;
  const allowed = budget.status?.disruptionsAllowed ?? 0;
  if (allowed < 1) {
    const detail =
      budget.status?.observedGeneration === undefined
        ? `The disruption budget ${budget.metadata.name} is still being processed by the server.`
        : `The disruption budget ${budget.metadata.name} needs ${budget.status?.desiredHealthy ?? 0} healthy pods and has ${budget.status?.currentHealthy ?? 0} currently`;
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0, [
      { reason: 'DisruptionBudget', message: detail },
    ]);
  }
  const disrupted = {
    ...budget.status?.disruptedPods,
    [pod.metadata.name as string]: new Date(cluster.clock.now()).toISOString(),
  };
  await cluster.operations.update(
    budgets,
    route.namespace,
    budget.metadata.name as string,
    {
      ...structuredClone(budget),
      status: { ...budget.status, disruptionsAllowed: allowed - 1, disruptedPods: disrupted },
    },
    { identity: cluster.loopback, fieldManager: 'eviction', subresource: 'status', dryRun },
  );
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
