/**
 * Copies what users made in one cluster to another: read there, never changed there; made here by server-side apply, so that doing it twice is
 * doing it once. What cannot go is reported with the reason, and does not keep the rest from going.
 */
import type { KubeObject } from '../api/object.ts';
import { customResourceDefinitions } from '../api/resources.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import {
  isConditionTrue,
  isNotFound,
  isTransient,
  listAll,
  type ObjectStore,
  type ResourceRef,
  waitFor,
} from '../kube/index.ts';
import { comesByItself, systemRbac, whyNot } from './ownership.ts';
import { portable } from './portable.ts';
import { clusterRoleBindings, customResource, FOUNDATION, LEFT_BEHIND, WORKLOADS } from './portable-kinds.ts';

export interface Item {
  kind: string;
  namespace?: string;
  name: string;
  /** What to know about the copy, or why there is none. */
  note?: string;
}

export interface Plan {
  /** In the order in which they are made. */
  steps: { resource: ResourceRef; object: KubeObject; item: Item }[];
  left: Item[];
}

export interface PromotionReport {
  moved: Item[];
  left: Item[];
  failed: Item[];
}

const FIELD_MANAGER = 'rookery-promote';
const CRD_PATIENCE_MS = 30_000;
const RETRY_MS = 1000;
/** Some objects can only be made once others have been worked on: a ServiceAccount's pods, a namespace's quota. */
const ROUNDS = 3;

/** Everything of users in a cluster; `only`: namespaces to take, all when absent. */
export async function planPromotion(
  source: ObjectStore,
  only?: readonly string[],
  signal?: AbortSignal,
): Promise<Plan> {
  const plan: Plan = { steps: [], left: [] };
  const definitions = await listed(source, customResourceDefinitions, signal);
  const custom = definitions.filter((crd) => !comesByItself(crd)).flatMap((crd) => customResource(crd) ?? []);
  const rbac = systemRbac(await listed(source, clusterRoleBindings, signal));
  const isSystems = (object: KubeObject) =>
    comesByItself(object) ||
    (object.kind === 'ClusterRole' && rbac.roles.has(object.metadata.name ?? '')) ||
    (object.kind === 'ClusterRoleBinding' && rbac.bindings.has(object.metadata.name ?? ''));
  const isWanted = ({ kind, metadata }: KubeObject) =>
    !only || only.includes((kind === 'Namespace' ? metadata.name : metadata.namespace) ?? '') || isShared(kind);
  for (const resource of [...FOUNDATION, ...custom, ...WORKLOADS]) {
    for (const object of await listed(source, resource, signal)) {
      if (isSystems(object) || !isWanted(object)) continue;
      const why = whyNot(object);
      if (why) plan.left.push(itemOf(object, why));
      else plan.steps.push(stepOf(resource, object));
    }
  }
  for (const { why, ...resource } of LEFT_BEHIND) {
    for (const object of await listed(source, resource, signal)) {
      if (!comesByItself(object)) plan.left.push(itemOf(object, why));
    }
  }
  return plan;
}

/** Cluster-wide things that what is in a namespace may need. */
function isShared(kind: string): boolean {
  return ['CustomResourceDefinition', 'PriorityClass', 'ClusterRole', 'ClusterRoleBinding'].includes(kind);
}

export async function carryOut(
  plan: Plan,
  target: ObjectStore,
  options: { signal?: AbortSignal; clock?: Clock } = {},
): Promise<PromotionReport> {
  const { signal, clock = systemClock } = options;
  const moved: Item[] = [];
  let open = plan.steps;
  let failed: Item[] = [];
  for (let round = 0; open.length > 0 && round < ROUNDS; round++) {
    if (round > 0) await sleep(clock, RETRY_MS, signal);
    const again: Plan['steps'] = [];
    failed = [];
    for (const step of open) {
      const trouble = await applied(step, target, signal);
      if (trouble === undefined) moved.push(step.item);
      else {
        failed.push({ ...step.item, note: trouble });
        again.push(step);
      }
    }
    open = again;
  }
  return { moved, left: plan.left, failed };
}

/** Undefined when it is there; else what the server said. A connection that is lost ends it all. */
async function applied(
  { resource, object }: Plan['steps'][number],
  target: ObjectStore,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    await target.apply(resource, object, { fieldManager: FIELD_MANAGER, force: true, signal });
    if (resource === customResourceDefinitions) await established(target, object, signal);
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    const { name, message } = error as Error;
    if (name !== 'KubeError' && name !== 'RookeryError') throw error;
    if (isTransient(error) || !isNotFound(error)) return message;
    return `the target does not serve ${resource.kind}, or has no namespace ${object.metadata.namespace}: ${message}`;
  }
}

async function established(target: ObjectStore, crd: KubeObject, signal?: AbortSignal): Promise<void> {
  const key = { name: crd.metadata.name as string };
  const holds = (object: KubeObject | undefined) => object !== undefined && isConditionTrue(object, 'Established');
  await waitFor(target, customResourceDefinitions, key, holds, {
    timeoutMs: CRD_PATIENCE_MS,
    signal,
    what: 'it to be served',
  });
}

/** A kind that the source does not serve has no objects. */
async function listed(store: ObjectStore, resource: ResourceRef, signal?: AbortSignal): Promise<KubeObject[]> {
  try {
    return (await listAll(store, resource, { signal })).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function stepOf(resource: ResourceRef, source: KubeObject): Plan['steps'][number] {
  const { object, notes } = portable(source);
  return { resource, object, item: itemOf(source, notes.join('; ')) };
}

function itemOf({ kind, metadata }: KubeObject, note?: string): Item {
  const { name = '', namespace } = metadata;
  return { kind, ...(namespace ? { namespace } : {}), name, ...(note ? { note } : {}) };
}
