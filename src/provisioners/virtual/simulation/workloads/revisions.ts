/** The ReplicaSets of a Deployment: which one is the new, which revision each is (deployment/util/deployment_util.go). */
import type { KubeObject } from '../../../../api/object.ts';
import { clone, equal } from '../../../../apiserver/json.ts';
import { hasReason } from '../../../../apiserver/loops/loop.ts';
import { controllerRef, isControlledBy, type World } from '../world.ts';
import { COMPONENT, DEPLOYMENTS, DESIRED, MAX, REPLICA_SETS, REVISION, REVISION_HISTORY } from './deployment-names.ts';
import { hashOf, type Template } from './pod-template.ts';
import { fenceposts, newReplicas } from './rollout-numbers.ts';

const HASH = 'pod-template-hash';
/** Stay with the Deployment when its annotations are copied to a ReplicaSet. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAX,
  'deprecated.deployment.rollback.to',
]);

/** An int64: larger than what a number counts exactly. */
export function revisionOf({ metadata }: KubeObject): bigint {
  const text = metadata.annotations?.[REVISION] ?? '';
  return /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}

export function byCreation(a: KubeObject, b: KubeObject): number {
  const [x, y] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (x !== y) return x < y ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

function bare(template: Template): Template {
  const copy = clone(template);
  if (copy?.metadata?.labels) delete copy.metadata.labels[HASH];
  if (copy?.metadata) delete copy.metadata.creationTimestamp;
  return copy;
}

/** The oldest that has the Deployment's template: two may, after a hash collision that was resolved twice. */
export function findNew(deployment: KubeObject, sets: KubeObject[]): KubeObject | undefined {
  const wanted = bare(deployment.spec.template);
  return [...sets].sort(byCreation).find((set) => equal(bare(set.spec.template), wanted));
}

/** The new ReplicaSet with its annotations in order, made when there is none and `make` says so. */
export async function ensureNew(
  world: World,
  deployment: KubeObject,
  sets: KubeObject[],
  make: boolean,
): Promise<KubeObject | undefined> {
  const known = findNew(deployment, sets);
  const others = sets.filter((set) => set !== known);
  let highest = 0n;
  for (const one of others.map(revisionOf)) if (one > highest) highest = one;
  const revision = highest + 1n;
  if (known) {
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
    return world.update(REPLICA_SETS, known, (draft) => {
      annotate(draft, deployment, revision, true);
      if ((draft.spec.minReadySeconds ?? 0) !== minReadySeconds) draft.spec.minReadySeconds = minReadySeconds;
    });
  }
  if (!make) return undefined;
  const hash = hashOf(bare(deployment.spec.template), deployment.status?.collisionCount ?? 0);
  const set = draftSet(deployment, sets, hash, revision);
  try {
    const made = await world.create(REPLICA_SETS, set);
    if (made.spec.replicas > 0) {
      const message = `Scaled up replica set ${made.metadata.name} from 0 to ${made.spec.replicas}`;
      const note = { type: 'Normal', reason: 'ScalingReplicaSet', message, component: COMPONENT } as const;
      world.recorder.record({ about: deployment, ...note });
    }
    return made;
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error;
    const taken = world.cache.get(REPLICA_SETS, deployment.metadata.namespace ?? '', set.metadata.name as string);
    // Ours after all; the next sync sees it.
    if (taken && isControlledBy(taken, deployment) && findNew(deployment, [taken])) throw error;
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await world.updateStatus(DEPLOYMENTS, deployment, { ...deployment.status, collisionCount });
    throw error;
  }
}

function draftSet(deployment: KubeObject, sets: KubeObject[], hash: string, revision: bigint): KubeObject {
  const { spec, metadata } = deployment;
  const template = clone(spec.template);
  template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, [HASH]: hash } };
  const selector = { ...clone(spec.selector), matchLabels: { ...spec.selector?.matchLabels, [HASH]: hash } };
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace,
      labels: { ...template.metadata.labels },
      ownerReferences: [controllerRef(deployment)],
    },
    spec: { replicas: 0, minReadySeconds: spec.minReadySeconds ?? 0, selector, template },
  };
  set.spec.replicas = newReplicas(deployment, sets, set);
  annotate(set, deployment, revision, false);
  scaleAnnotations(set, deployment, fenceposts(deployment).surge);
  return set;
}

/** Revision and the Deployment's own annotations; a ReplicaSet that comes back remembers its earlier revisions. */
function annotate(set: KubeObject, deployment: KubeObject, revision: bigint, exists: boolean): void {
  const annotations: Record<string, string> = { ...set.metadata.annotations };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!NOT_COPIED.has(name) && !(exists && annotations[name] === value)) annotations[name] = value;
  }
  const old = annotations[REVISION];
  if (revisionOf(set) < revision) {
    annotations[REVISION] = String(revision);
    if (old) {
      const history = annotations[REVISION_HISTORY];
      annotations[REVISION_HISTORY] = history ? `${history},${old}` : old;
    }
  }
  set.metadata.annotations = annotations;
}

/** By these a later sync sees that the Deployment was scaled. */
export function scaleAnnotations(set: KubeObject, deployment: KubeObject, surge: number): void {
  const wanted = deployment.spec.replicas ?? 1;
  set.metadata.annotations = {
    ...set.metadata.annotations,
    [DESIRED]: String(wanted),
    [MAX]: String(wanted + surge),
  };
}
