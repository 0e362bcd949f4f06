/**
 * Empties a node: cordons it, then evicts its pods through the eviction API, so that disruption budgets are kept. One
 * call is one pass; it says what is left, and is called again until nothing is.
 */
import type { KubeObject } from '../../../../api/object.ts';
import { type Clock, rfc3339 } from '../../../../clock.ts';
import { isNotFound, isTooManyRequests, KubeError, type ObjectStore } from '../../../../kube/index.ts';
import { listed } from '../../conditions.ts';
import { nodeResource } from '../../workload/workload-connection.ts';
import { conditionOf } from '../node-conditions.ts';
import { podName, pods, podsOnNode } from './pods-to-drain.ts';

/** One pass holds a worker at most so long; what it did not get to comes next time. */
const PASS_MS = 10_000;
/** A kubelet that does not answer will not end pods any more. */
const UNREACHABLE_GRACE_SECONDS = 1;

export interface DrainOptions {
  api: ObjectStore;
  node: KubeObject;
  clock: Clock;
  /** When the first pass was. */
  startedAt: number;
  signal?: AbortSignal;
}

/** Undefined when the node is empty; otherwise what is waited for, for people. */
export async function drainNode(options: DrainOptions): Promise<string | undefined> {
  const { api, node, clock, signal } = options;
  const name = node.metadata.name as string;
  await cordon(api, node, signal);
  const unreachable = isUnreachable(node);
  const ignoreDeletedBefore = unreachable ? clock.now() - UNREACHABLE_GRACE_SECONDS * 1000 : undefined;
  const left = (await podsOnNode({ api, node: name, ignoreDeletedBefore, signal })).filter(
    ({ treatment }) => treatment !== 'ignore',
  );
  const waiting = left.filter(({ treatment }) => treatment === 'wait').map(({ pod }) => podName(pod));
  const toEvict = left.filter(({ treatment }) => treatment === 'evict').map(({ pod }) => pod);
  const going: string[] = [];
  const failed = new Map<string, string[]>();
  const limit = timeLimit(clock, signal);
  try {
    for (const pod of toEvict) {
      if (pod.metadata.deletionTimestamp) {
        going.push(podName(pod));
        continue;
      }
      const problem = await evict(api, pod, unreachable, limit.signal);
      if (problem === undefined) going.push(podName(pod));
      else if (problem) failed.set(problem, [...(failed.get(problem) ?? []), podName(pod)]);
    }
  } finally {
    limit.release();
  }
  if (going.length + failed.size + waiting.length === 0) return undefined;
  return message(options.startedAt, going, failed, waiting);
}

export function isUnreachable(node: KubeObject): boolean {
  return conditionOf(node, 'Ready')?.status === 'Unknown';
}

async function cordon(api: ObjectStore, node: KubeObject, signal?: AbortSignal): Promise<void> {
  if (node.spec?.unschedulable) return;
  const body = { spec: { unschedulable: true } };
  await api.patch(nodeResource, { name: node.metadata.name as string }, { type: 'merge', body }, { signal });
}

/** Undefined: on its way out. Empty: gone already. Otherwise why not. */
async function evict(
  api: ObjectStore,
  pod: KubeObject,
  unreachable: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name, namespace, uid } = pod.metadata;
  const eviction: KubeObject = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: {
      preconditions: { uid },
      ...(unreachable ? { gracePeriodSeconds: UNREACHABLE_GRACE_SECONDS } : {}),
    },
  };
  try {
    if (signal.aborted) return OUT_OF_TIME;
    await api.create(pods, eviction, { subresource: 'eviction', signal });
    return undefined;
  } catch (error) {
    if (isNotFound(error)) return '';
    if (signal.aborted) return OUT_OF_TIME;
    if (!(error instanceof KubeError)) throw error;
    const causes = (error.details.causes ?? []).map((cause) => cause.message).join(',');
    const text = `${error.message} ${causes}`.trim();
    if (isTooManyRequests(error)) return text.charAt(0).toLowerCase() + text.slice(1);
    return `failed to evict Pod, ${text}`;
  }
}

const OUT_OF_TIME = 'failed to evict Pod, no answer within 10 s, it is tried again';

function timeLimit(clock: Clock, signal: AbortSignal | undefined) {
  const limit = new AbortController();
  const release = clock.after(PASS_MS, () => limit.abort(new Error(OUT_OF_TIME)));
  return { signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal, release };
}

function message(startedAt: number, going: string[], failed: Map<string, string[]>, waiting: string[]): string {
  const about = (names: string[], what: string) => `* ${names.length > 1 ? 'Pods' : 'Pod'} ${listed(names)}: ${what}`;
  const lines = [`Drain not completed yet (started at ${rfc3339(startedAt)}):`];
  if (going.length > 0) lines.push(about(going, 'deletionTimestamp set, but still not removed from the Node'));
  const problems = [...failed].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [problem, names] of problems.slice(0, 5)) lines.push(about(names, problem));
  const others = problems.slice(5).flatMap(([, names]) => names).length;
  if (others > 0) lines.push(`* ${others} Pod${others > 1 ? 's' : ''} with other issues`);
  if (waiting.length > 0) lines.push(about(waiting, 'waiting for completion'));
  return lines.join('\n');
}
