/** The pods of a Job: how they are made, and how those that ended are counted exactly once. */
import type { KubeObject } from '../../../../api/object.ts';
import { isDeleting, isFinished, PODS } from '../pod.ts';
import type { World } from '../world.ts';
import { together } from './batches.ts';
import { INDEX, indexOf } from './job-indexes.ts';
import { FAILURES, failureOf } from './job-policies.ts';
import { podFrom } from './pod-template.ts';

export const TRACKING = 'batch.kubernetes.io/job-tracking';

export interface Tally {
  succeeded: number;
  failed: number;
  uncounted: { succeeded: string[]; failed: string[] };
  /** Indexes of pods counted as succeeded in this step. */
  indexes: number[];
  /** Failed pods that the Job's policy does not count. */
  ignored: string[];
}

export function isIndexed({ spec }: KubeObject): boolean {
  return spec.completionMode === 'Indexed';
}

/** Ended well, badly, or (undefined) not at all. */
export function endOf(pod: KubeObject): 'succeeded' | 'failed' | undefined {
  if (pod.status?.phase === 'Succeeded') return 'succeeded';
  if (pod.status?.phase === 'Failed') return 'failed';
  // Deleted before any node had it: nobody will ever report its end.
  return isDeleting(pod) && !pod.spec.nodeName ? 'failed' : undefined;
}

/**
 * A pod is named in the status first, then let go, then counted: a crash between any two steps neither loses nor
 * repeats it.
 */
export function tally(job: KubeObject, pods: KubeObject[]): Tally {
  const status = job.status ?? {};
  const held = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid as string, pod]));
  const result: Tally = {
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    uncounted: { succeeded: [], failed: [] },
    indexes: [],
    ignored: [],
  };
  const named = new Set<string>();
  for (const end of ['succeeded', 'failed'] as const) {
    for (const uid of status.uncountedTerminatedPods?.[end] ?? []) {
      named.add(uid);
      if (held.has(uid)) result.uncounted[end].push(uid);
      else result[end] += 1;
    }
  }
  for (const [uid, pod] of held) {
    const end = endOf(pod);
    if (!end || named.has(uid)) continue;
    if (end === 'failed' && failureOf(job, pod).action === 'Ignore') {
      result.ignored.push(uid);
      continue;
    }
    result.uncounted[end].push(uid);
    if (end === 'succeeded' && isIndexed(job)) result.indexes.push(indexOf(pod));
  }
  return result;
}

export async function letGo(world: World, pods: KubeObject[], uids: string[]): Promise<void> {
  const named = new Set(uids);
  const mine = pods.filter((pod) => isTracked(pod) && named.has(pod.metadata.uid as string));
  await together(mine, (pod) =>
    world.update(PODS, pod, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== TRACKING);
      if (!metadata.finalizers?.length) delete metadata.finalizers;
    }),
  );
}

export function isTracked({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(TRACKING) ?? false;
}

export function isRunning(pod: KubeObject): boolean {
  return !isFinished(pod) && !isDeleting(pod);
}

/** `failures`: how often its index has failed, where that is counted. */
export function jobPod(job: KubeObject, index?: number, failures?: number): KubeObject {
  const { name } = job.metadata;
  const generateName = index === undefined ? `${name}-` : `${name}-${index}-`;
  const pod = podFrom(job.spec.template, job, { generateName });
  pod.metadata.finalizers = [...(pod.metadata.finalizers ?? []), TRACKING];
  if (index === undefined) return pod;
  const counted: Record<string, string> = failures === undefined ? {} : { [FAILURES]: String(failures) };
  pod.metadata.annotations = { ...pod.metadata.annotations, [INDEX]: String(index), ...counted };
  pod.metadata.labels = { ...pod.metadata.labels, [INDEX]: String(index) };
  pod.spec.hostname ??= `${name}-${index}`;
  const variable = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${INDEX}']` } },
  };
  for (const container of [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])]) {
    container.env = [...(container.env ?? []), variable];
  }
  return pod;
}
