/** What a Deployment says about itself (deployment/progress.go, sync.go). */
import type { KubeObject } from '../../../../api/object.ts';
import type { PodCondition } from '../pod.ts';
import type { World } from '../world.ts';
import { fenceposts, replicasOf, total, totalStatus } from './rollout-numbers.ts';

/** "No deadline", as the API spells it. */
const NO_DEADLINE = 2147483647;

interface Counts {
  replicas: number;
  updatedReplicas: number;
  readyReplicas: number;
  availableReplicas: number;
  unavailableReplicas: number;
}

export interface Progress {
  world: World;
  deployment: KubeObject;
  /** All of them, the new one included. */
  sets: KubeObject[];
  fresh?: KubeObject;
  /** The new ReplicaSet was made in this very sync. */
  made?: boolean;
}

/** The status it should have, and after how long it has to be looked at again. */
export function deploymentStatus(progress: Progress): { status: object; waitMs?: number } {
  const { world, deployment, sets, fresh } = progress;
  const counts: Counts = {
    replicas: totalStatus(sets, 'replicas'),
    updatedReplicas: fresh?.status?.replicas ?? 0,
    readyReplicas: totalStatus(sets, 'readyReplicas'),
    availableReplicas: totalStatus(sets, 'availableReplicas'),
    unavailableReplicas: 0,
  };
  counts.unavailableReplicas = Math.max(0, total(sets) - counts.availableReplicas);
  const conditions = new Conditions(world, deployment);
  const enough = counts.availableReplicas >= replicasOf(deployment) - fenceposts(deployment).unavailable;
  if (enough) conditions.set('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.');
  else {
    const message = 'Deployment does not have minimum availability.';
    conditions.set('Available', 'False', 'MinimumReplicasUnavailable', message);
  }
  const waitMs = deployment.spec.paused ? pausedCondition(conditions) : progressing(progress, counts, conditions);
  failing(progress, conditions);
  const { collisionCount } = deployment.status ?? {};
  const status = {
    observedGeneration: deployment.metadata.generation,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    conditions: conditions.list,
    ...(collisionCount ? { collisionCount } : {}),
  };
  return { status, waitMs };
}

export function isComplete(deployment: KubeObject, sets: KubeObject[], fresh: KubeObject | undefined): boolean {
  const wanted = replicasOf(deployment);
  return (
    (fresh?.status?.replicas ?? 0) === wanted &&
    totalStatus(sets, 'replicas') === wanted &&
    totalStatus(sets, 'availableReplicas') === wanted
  );
}

function pausedCondition(conditions: Conditions): undefined {
  const known = conditions.get('Progressing');
  if (known?.reason !== 'ProgressDeadlineExceeded' && known?.reason !== 'DeploymentPaused') {
    conditions.set('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
}

function progressing({ world, deployment, sets, fresh, made }: Progress, counts: Counts, conditions: Conditions) {
  const seconds = deployment.spec.progressDeadlineSeconds ?? 600;
  if (seconds === NO_DEADLINE) return conditions.drop('Progressing');
  if (conditions.get('Progressing')?.reason === 'DeploymentPaused') {
    conditions.set('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed');
  }
  const subject = fresh ? `ReplicaSet "${fresh.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const known = conditions.get('Progressing');
  if (made && fresh) {
    const message = `Created new replica set "${fresh.metadata.name}"`;
    conditions.set('Progressing', 'True', 'NewReplicaSetCreated', message);
  } else if (fresh && !known) {
    conditions.set('Progressing', 'True', 'FoundNewReplicaSet', `Found new replica set "${fresh.metadata.name}"`);
  }
  const sitting =
    totalStatus(sets, 'replicas') === counts.updatedReplicas && known?.reason === 'NewReplicaSetAvailable';
  if (isComplete(deployment, sets, fresh)) {
    conditions.set('Progressing', 'True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`);
    return undefined;
  }
  if (sitting) return undefined;
  const before = deployment.status ?? {};
  const moved =
    counts.updatedReplicas > (before.updatedReplicas ?? 0) ||
    counts.readyReplicas > (before.readyReplicas ?? 0) ||
    counts.availableReplicas > (before.availableReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < (before.replicas ?? 0) - (before.updatedReplicas ?? 0);
  if (moved) conditions.touch('Progressing', 'ReplicaSetUpdated', `${subject} is progressing.`);
  const current = conditions.get('Progressing');
  if (!current || current.reason === 'ProgressDeadlineExceeded') return undefined;
  const since = Date.parse(conditions.updated('Progressing') ?? world.timestamp);
  const left = since + seconds * 1000 - world.now;
  if (left > 0) return left;
  conditions.set('Progressing', 'False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`);
  return undefined;
}

/** A ReplicaSet that cannot make its pods speaks through its Deployment. */
function failing({ sets, fresh }: Progress, conditions: Conditions): void {
  const failure = [fresh, ...sets]
    .flatMap((set) => set?.status?.conditions ?? [])
    .find((c: PodCondition) => c.type === 'ReplicaFailure');
  if (failure) conditions.set('ReplicaFailure', failure.status, failure.reason, failure.message);
  else conditions.drop('ReplicaFailure');
}

type Listed = PodCondition & { lastUpdateTime?: string };

/** Conditions of apps/v1 carry two times: of the last change of status, and of the last word. */
class Conditions {
  list: Listed[];
  readonly #now: string;

  constructor(world: World, deployment: KubeObject) {
    this.list = [...(deployment.status?.conditions ?? [])];
    this.#now = world.timestamp;
  }

  get(type: string): Listed | undefined {
    return this.list.find((c) => c.type === type);
  }

  updated(type: string): string | undefined {
    return this.get(type)?.lastUpdateTime;
  }

  set(type: string, status: string, reason: string, message: string): void {
    const known = this.get(type);
    if (known?.status === status && known.reason === reason) return;
    this.#write(type, status, reason, message, known);
  }

  /** Progress: said again, later. */
  touch(type: string, reason: string, message: string): void {
    this.#write(type, 'True', reason, message, this.get(type));
  }

  drop(type: string): undefined {
    this.list = this.list.filter((c) => c.type !== type);
  }

  #write(type: string, status: string, reason: string, message: string, known: Listed | undefined): void {
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : this.#now;
    this.drop(type);
    this.list.push({ type, status, lastUpdateTime: this.#now, lastTransitionTime, reason, message });
  }
}
