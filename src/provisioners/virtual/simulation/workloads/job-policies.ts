/** What a Job says about failures and success beyond plain counting: podFailurePolicy, backoffLimitPerIndex, successPolicy. */
import type { KubeObject } from '../../../../api/object.ts';
import { conditionOf } from '../pod.ts';
import { indexOf, readIndexes } from './job-indexes.ts';

/** On a pod of an index: how often the index had failed when the pod was made. */
export const FAILURES = 'batch.kubernetes.io/job-index-failure-count';

type Action = 'Count' | 'Ignore' | 'FailIndex' | 'FailJob';

interface Rule {
  action: Action;
  onExitCodes?: { containerName?: string; operator: 'In' | 'NotIn'; values: number[] };
  onPodConditions?: { type: string; status?: string }[];
}

interface Terminated {
  name: string;
  state?: { terminated?: { exitCode: number } };
}

/** What the first rule that fits a failed pod wants done, and why. */
export function failureOf(job: KubeObject, pod: KubeObject): { action: Action; message: string } {
  const rules: Rule[] = job.spec.podFailurePolicy?.rules ?? [];
  const who = `${pod.metadata.namespace}/${pod.metadata.name}`;
  for (const [index, rule] of rules.entries()) {
    const ending = `matching ${rule.action} rule at index ${index}`;
    const container = containerThatFits(rule, pod);
    if (container) {
      const code = container.state?.terminated?.exitCode;
      const message = `Container ${container.name} for pod ${who} failed with exit code ${code} ${ending}`;
      return { action: rule.action, message };
    }
    const condition = rule.onPodConditions?.find(
      ({ type, status = 'True' }) => conditionOf(pod, type)?.status === status,
    );
    if (condition) return { action: rule.action, message: `Pod ${who} has condition ${condition.type} ${ending}` };
  }
  return { action: 'Count', message: '' };
}

function containerThatFits({ onExitCodes: wanted }: Rule, { status }: KubeObject): Terminated | undefined {
  if (!wanted) return undefined;
  const all: Terminated[] = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.find(({ name, state }) => {
    const code = state?.terminated?.exitCode;
    if (!code || (wanted.containerName && wanted.containerName !== name)) return false;
    return wanted.values.includes(code) === (wanted.operator === 'In');
  });
}

/** Whether every index is given its own number of attempts. */
export function countsByIndex({ spec }: KubeObject): boolean {
  return spec.backoffLimitPerIndex != null;
}

/** How often each index has failed; a pod that was removed since is remembered by the one that took its place. */
export function failuresByIndex(job: KubeObject, pods: readonly KubeObject[]): Map<number, number> {
  const failures = new Map<number, number>();
  if (!countsByIndex(job)) return failures;
  for (const pod of pods) {
    const before = Number(pod.metadata.annotations?.[FAILURES] ?? 0);
    const counts = pod.status?.phase === 'Failed' && failureOf(job, pod).action !== 'Ignore';
    const index = indexOf(pod);
    failures.set(index, Math.max(failures.get(index) ?? 0, before + (counts ? 1 : 0)));
  }
  return failures;
}

/** Indexes that are given up: those of the status, and those that failed for the last time. */
export function failedIndexes(job: KubeObject, pods: readonly KubeObject[]): Set<number> {
  const failed = readIndexes(job.status?.failedIndexes);
  for (const [index, failures] of failuresByIndex(job, pods)) {
    if (failures > job.spec.backoffLimitPerIndex) failed.add(index);
  }
  for (const pod of job.spec.podFailurePolicy ? pods : []) {
    if (pod.status?.phase === 'Failed' && failureOf(job, pod).action === 'FailIndex') failed.add(indexOf(pod));
  }
  return failed;
}

/** The rule of the successPolicy that the finished indexes meet. */
export function metSuccessRule({ spec }: KubeObject, done: ReadonlySet<number>): number | undefined {
  const rules: { succeededIndexes?: string; succeededCount?: number }[] = spec.successPolicy?.rules ?? [];
  const met = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return done.size >= (succeededCount ?? Number.POSITIVE_INFINITY);
    const named = [...readIndexes(succeededIndexes)];
    return named.filter((index) => done.has(index)).length >= (succeededCount ?? named.length);
  });
  return met < 0 ? undefined : met;
}
