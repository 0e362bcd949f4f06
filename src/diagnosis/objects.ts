/** How an object stands, read from its conditions, history and events; and what it stands on, read from its references. */
import type { Condition, KubeObject } from '../api/object.ts';
import { clusters, workspaceInstances, workspaceTemplates } from '../api/resources.ts';
import { STALLED } from '../controllers/progress-status.ts';
import { SHARED_NAMESPACE } from '../controllers/workspace/shared-cluster.ts';
import {
  apiVersionOf,
  events,
  getCondition,
  getConditions,
  ignoreNotFound,
  isDeleting,
  keyText,
  listAll,
  type ObjectKey,
  type ObjectStore,
  type ResourceRef,
} from '../kube/index.ts';
import type { Availability } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import type { Finding, Link, LinkState, Look } from './chain.ts';
import { readExplanation } from './explanation.ts';

export interface World {
  store: ObjectStore;
  /** Whether a way can be used on the machine the control plane runs on. */
  probe(way: ClusterWay): Promise<Availability>;
  /** A kind that a reference names; undefined when nobody knows it. */
  resource(kind: string): ResourceRef | undefined;
}

const RECENT = 3;
/** The condition that sums an object up, by preference. */
const SUMMARIES = ['Ready', 'Available'];

export function lookAt(world: World, resource: ResourceRef, key: ObjectKey): Look {
  return async () => {
    const subject = `${resource.kind} ${keyText(key)}`;
    const object = await world.store.get(resource, key).catch(ignoreNotFound);
    if (!object) return { link: missing(subject), causes: [] };
    const link = await linkOf(world.store, subject, object);
    return { link, causes: [...causesOf(world, object), ...(await nestedOf(world, object))] };
  };
}

async function linkOf(store: ObjectStore, subject: string, object: KubeObject): Promise<Link> {
  const condition = decisive(object);
  const { what, since, usualSeconds, output, next } = readExplanation(condition?.message ?? '');
  const state = stateOf(object, condition);
  return {
    subject,
    state,
    reason: condition?.reason,
    what: what || fallback(object, state),
    since: since ?? condition?.lastTransitionTime,
    usualSeconds,
    output,
    next,
    recent: state === 'ok' ? [] : await recentOf(store, object),
  };
}

/** What is in the way comes before what sums it up. */
function decisive(object: KubeObject): Condition | undefined {
  if (isDeleting(object)) return getCondition(object, 'Deleting') ?? getCondition(object, 'Ready');
  const paused = getCondition(object, 'Paused');
  if (paused?.status === 'True') return paused;
  const summary = SUMMARIES.map((type) => getCondition(object, type)).find(Boolean);
  if (summary?.status === 'True') {
    const outdated = getCondition(object, 'UpToDate');
    return outdated?.status === 'False' ? outdated : summary;
  }
  return summary ?? getConditions(object).find((condition) => condition.status !== 'True');
}

function stateOf(object: KubeObject, condition: Condition | undefined): LinkState {
  if (!condition) return 'unknown';
  if (isDeleting(object) || condition.type === 'Paused') return 'working';
  if (condition.status === 'True') return 'ok';
  const { failureMessage, phase } = object.status ?? {};
  const isStuck =
    getCondition(object, STALLED)?.status === 'True' || failureMessage !== undefined || phase === 'Failed';
  return isStuck ? 'blocked' : 'working';
}

function fallback(object: KubeObject, state: LinkState): string {
  if (isDeleting(object)) return `it is being deleted; it waits for ${(object.metadata.finalizers ?? []).join(', ')}`;
  if (state === 'ok') return 'it is well';
  if (state === 'unknown') return 'nobody has reported on it yet: no controller may be looking after it';
  return 'it does not say what it is waiting for';
}

async function recentOf(store: ObjectStore, object: KubeObject): Promise<string[]> {
  const history: { timestamp: string; reason: string; message?: string }[] = object.status?.history ?? [];
  const told = history.map(({ timestamp, reason, message }) => ({
    at: timestamp,
    text: message?.split('\n')[0] || reason,
  }));
  const { uid, namespace } = object.metadata;
  const { items } = await listAll(store, events, { namespace, fieldSelector: `involvedObject.uid=${uid}` });
  const warned = items
    .filter((event) => event.type === 'Warning')
    .map((event) => ({ at: event.lastTimestamp ?? event.eventTime ?? '', text: `${event.reason}: ${event.message}` }));
  return [...told, ...warned]
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(-RECENT)
    .map(({ at, text }) => `${at} ${text}`);
}

/** References by kind and name first, then the cluster it lives in, then the tool that makes it. */
function causesOf(world: World, object: KubeObject): Look[] {
  const { namespace } = object.metadata;
  const causes: Look[] = [];
  const follow = (resource: ResourceRef | undefined, name: string | undefined) => {
    if (resource && name) causes.push(lookAt(world, resource, resource.namespaced ? { namespace, name } : { name }));
  };
  for (const [field, value] of Object.entries(object.spec ?? {}) as [string, { kind?: string; name?: string }][]) {
    if (field.endsWith('Ref') && value?.kind) follow(world.resource(value.kind), value.name);
  }
  // A template that something else is wrong with does not keep a workspace from running.
  if (object.kind === workspaceInstances.kind && getCondition(object, 'TemplateResolved')?.status !== 'True') {
    follow(workspaceTemplates, object.spec?.templateRef?.name);
  }
  const way = clusterWays.find(
    ({ resource }) => resource.kind === object.kind && apiVersionOf(resource) === object.apiVersion,
  );
  if (!way) return causes;
  follow(clusters, object.spec?.host?.cluster);
  return [...causes, lookAtTool(world, way)];
}

/** The cluster that a workspace waits for: its own, or the one it shares. */
async function nestedOf(world: World, object: KubeObject): Promise<Look[]> {
  if (object.kind !== workspaceInstances.kind || getCondition(object, 'ClusterReady')?.status !== 'False') return [];
  // It rests because the workspace does, not the other way round.
  if (object.status?.phase === 'Suspended') return [];
  const own = { namespace: object.metadata.namespace, name: object.metadata.name as string };
  const shared = { namespace: SHARED_NAMESPACE, name: object.spec?.templateRef?.name as string };
  for (const key of [own, shared]) {
    if (await world.store.get(clusters, key).catch(ignoreNotFound)) return [lookAt(world, clusters, key)];
  }
  return [];
}

export function lookAtTool(world: World, way: ClusterWay): Look {
  return async (): Promise<Finding> => {
    const probe = await world.probe(way);
    const common = { subject: `tool ${way.name}`, output: [], recent: [] };
    if (probe.isUsable) return { link: { ...common, state: 'ok', what: probe.detail }, causes: [] };
    return {
      link: { ...common, state: 'blocked', reason: 'ToolMissing', what: probe.why, next: probe.fix },
      causes: [],
    };
  };
}

function missing(subject: string): Link {
  return {
    subject,
    state: 'missing',
    reason: 'NotFound',
    what: 'it does not exist',
    next: 'make it, or take the reference to it away',
    output: [],
    recent: [],
  };
}
