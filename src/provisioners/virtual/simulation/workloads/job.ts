/** Jobs: pods until enough of them have succeeded, or too many have failed. */
import type { KubeObject } from '../../../../api/object.ts';
import { type Controller, itself } from '../controller.ts';
import { isDeleting, isReady, PODS, type PodCondition } from '../pod.ts';
import type { World } from '../world.ts';
import { slowStart, together } from './batches.ts';
import { claimants, claimPods, selectorOf } from './claim.ts';
import { indexOf, readIndexes, writeIndexes } from './job-indexes.ts';
import { isIndexed, isRunning, jobPod, letGo, type Tally, tally } from './job-pods.ts';
import { countsByIndex, failedIndexes, failureOf, failuresByIndex, metSuccessRule } from './job-policies.ts';
import { byWorth } from './victims.ts';

export const JOBS = 'batch/jobs';
const COMPONENT = 'job-controller';
/** Pause before a failed pod is replaced, doubled each time; a tenth of upstream's, as everything here is quicker. */
const FIRST_BACKOFF_MS = 1000;
const LAST_BACKOFF_MS = 60_000;

interface Verdict {
  type: 'Complete' | 'Failed';
  reason: string;
  message: string;
}

export const jobs: Controller = {
  name: COMPONENT,
  on: { [JOBS]: itself, [PODS]: claimants(JOBS, 'Job') },
  async reconcile(world, namespace, name, again) {
    const job = world.cache.get(JOBS, namespace, name);
    if (!job) return abandon(world, namespace, name);
    const selector = selectorOf(job);
    if (!selector || (job.spec.managedBy && job.spec.managedBy !== 'kubernetes.io/job-controller')) return;
    const pods = isDeleting(job)
      ? world.cache.podsOf(job.metadata.uid as string)
      : await claimPods(world, job, selector);
    if (isDeleting(job))
      return letGo(
        world,
        pods,
        pods.map(({ metadata }) => metadata.uid as string),
      );
    if (verdictOf(job)) return finished(world, job, pods, again);
    const counted = tally(job, pods);
    const indexes = readIndexes(job.status?.completedIndexes);
    for (const index of counted.indexes) indexes.add(index);
    const active = pods.filter(isRunning);
    const failed = failedIndexes(job, pods);
    const verdict = judge(world, job, pods, counted, indexes, failed);
    const unwanted = verdict || job.spec.suspend ? active : [];
    await together(unwanted, (pod) => world.remove(PODS, pod));
    const wait = unwanted.length || verdict ? undefined : await balance(world, job, pods, counted, indexes, failed);
    await report(world, namespace, name, { counted, indexes, failed }, verdict);
    await letGo(world, pods, [...counted.uncounted.succeeded, ...counted.uncounted.failed, ...counted.ignored]);
    const deadline = deadlineIn(world, job);
    const waits = [wait, deadline].filter((ms): ms is number => ms !== undefined && ms > 0);
    if (waits.length) again(Math.min(...waits));
  },
};

/** Pods of a Job that is gone are held by nobody's promise any more. */
async function abandon(world: World, namespace: string, name: string): Promise<void> {
  const orphans = world.cache
    .list(PODS, namespace)
    .filter((pod) => pod.metadata.ownerReferences?.some((o) => o.controller && o.kind === 'Job' && o.name === name));
  await letGo(
    world,
    orphans,
    orphans.map(({ metadata }) => metadata.uid as string),
  );
}

function verdictOf(job: KubeObject): string | undefined {
  return job.status?.conditions?.find((c: PodCondition) => /^(Complete|Failed)$/.test(c.type) && c.status === 'True')
    ?.type;
}

/** After the end: let go of pods that ended later, and of the Job itself when its time is over. */
async function finished(world: World, job: KubeObject, pods: KubeObject[], again: (ms: number) => void): Promise<void> {
  await letGo(
    world,
    pods,
    pods.map(({ metadata }) => metadata.uid as string),
  );
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined) return;
  const end = job.status.conditions.find(
    (c: PodCondition) => /^(Complete|Failed)$/.test(c.type) && c.status === 'True',
  );
  const left = Date.parse(end.lastTransitionTime) + ttl * 1000 - world.now;
  if (left > 0) return again(left);
  await world.remove(JOBS, job, { propagationPolicy: 'Foreground' });
}

function judge(
  world: World,
  job: KubeObject,
  pods: KubeObject[],
  counted: Tally,
  indexes: Set<number>,
  failedOnes: Set<number>,
): Verdict | undefined {
  const { spec } = job;
  const active = pods.filter(isRunning);
  for (const pod of spec.podFailurePolicy ? pods : []) {
    if (pod.status?.phase !== 'Failed') continue;
    const { action, message } = failureOf(job, pod);
    if (action === 'FailJob') return { type: 'Failed', reason: 'PodFailurePolicy', message };
  }
  const succeeded = isIndexed(job) ? indexes.size : counted.succeeded + counted.uncounted.succeeded.length;
  const failed = counted.failed + counted.uncounted.failed.length;
  const restarts =
    spec.template.spec?.restartPolicy === 'OnFailure' ? active.reduce((sum, pod) => sum + restartsOf(pod), 0) : 0;
  const limit = spec.backoffLimit ?? 6;
  if (failed > limit || (restarts > 0 && restarts >= Math.max(1, limit))) {
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  if (deadlineIn(world, job) === 0) {
    return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  if (spec.maxFailedIndexes != null && failedOnes.size > spec.maxFailedIndexes) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return { type: 'Failed', reason: 'MaxFailedIndexesExceeded', message };
  }
  const rule = metSuccessRule(job, indexes);
  if (rule !== undefined && !spec.suspend) {
    return { type: 'Complete', reason: 'SuccessPolicy', message: `Matched rules at index ${rule}` };
  }
  if (failedOnes.size > 0 && failedOnes.size + indexes.size >= spec.completions) {
    return { type: 'Failed', reason: 'FailedIndexes', message: 'Job has failed indexes' };
  }
  const enough = spec.completions == null ? succeeded > 0 && active.length === 0 : succeeded >= spec.completions;
  if (enough && !spec.suspend) {
    return { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
  }
  return undefined;
}

/** Milliseconds to activeDeadlineSeconds; 0 when it has passed. */
function deadlineIn(world: World, { spec, status }: KubeObject): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || spec.suspend || !status?.startTime) return undefined;
  return Math.max(0, Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000 - world.now);
}

/** Makes or removes pods; returns how long to wait before more are made after a failure. */
async function balance(
  world: World,
  job: KubeObject,
  pods: KubeObject[],
  counted: Tally,
  indexes: Set<number>,
  failedOnes: Set<number>,
): Promise<number | undefined> {
  const { spec } = job;
  const active = pods.filter(isRunning);
  if (spec.suspend) return undefined;
  const succeeded = isIndexed(job) ? indexes.size : counted.succeeded + counted.uncounted.succeeded.length;
  const most = spec.parallelism ?? 1;
  const wanted =
    spec.completions == null
      ? succeeded > 0
        ? active.length
        : most
      : Math.min(most, spec.completions - succeeded - failedOnes.size);
  if (active.length > wanted) {
    await together(byWorth(active).slice(0, active.length - wanted), (pod) => world.remove(PODS, pod));
    return undefined;
  }
  if (active.length === wanted) return undefined;
  const isCounted = countsByIndex(job);
  const wait = isCounted ? 0 : backoffLeft(world, counted.failed + counted.uncounted.failed.length, pods);
  if (wait > 0) return wait;
  let free = isIndexed(job) ? freeIndexes(job, active, indexes, failedOnes) : undefined;
  const failures = failuresByIndex(job, pods);
  // Each index pauses after its own failures, and holds up no other.
  const waits = new Map(
    (isCounted ? (free ?? []) : []).map((index) => [index, backoffLeft(world, failures.get(index) ?? 0, pods, index)]),
  );
  free = free?.filter((index) => (waits.get(index) ?? 0) <= 0);
  const pauses = [...waits.values()].filter((ms) => ms > 0);
  const pause = pauses.length ? Math.min(...pauses) : undefined;
  const count = Math.min(wanted - active.length, free?.length ?? Number.POSITIVE_INFINITY);
  const { error } = await slowStart(count, async () => {
    const index = free?.shift();
    const tries = isCounted ? (failures.get(index ?? -1) ?? 0) : undefined;
    const pod = await world.create(PODS, jobPod(job, index, tries));
    say(world, job, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
  });
  if (error) {
    say(
      world,
      job,
      'Warning',
      'FailedCreate',
      `Error creating: ${error instanceof Error ? error.message : String(error)}`,
    );
    return FIRST_BACKOFF_MS;
  }
  return pause;
}

function freeIndexes(job: KubeObject, active: KubeObject[], done: Set<number>, failed: Set<number>): number[] {
  const taken = new Set(active.map(indexOf));
  const free: number[] = [];
  for (let index = 0; index < job.spec.completions; index++)
    if (!done.has(index) && !taken.has(index) && !failed.has(index)) free.push(index);
  return free;
}

/** Of one index where one is given, else of the whole Job. */
function backoffLeft(world: World, failures: number, pods: KubeObject[], index?: number): number {
  if (failures === 0) return 0;
  let last = 0;
  for (const pod of pods) {
    const { status } = pod;
    if (status?.phase !== 'Failed' || (index !== undefined && indexOf(pod) !== index)) continue;
    for (const { state } of status.containerStatuses ?? [])
      last = Math.max(last, Date.parse(state?.terminated?.finishedAt ?? '') || 0);
  }
  return last + Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), LAST_BACKOFF_MS) - world.now;
}

async function report(
  world: World,
  namespace: string,
  name: string,
  { counted, indexes, failed: failedOnes }: { counted: Tally; indexes: Set<number>; failed: Set<number> },
  verdict: Verdict | undefined,
) {
  const job = world.cache.get(JOBS, namespace, name);
  if (!job) return;
  const pods = world.cache.podsOf(job.metadata.uid as string);
  const active = pods.filter(isRunning);
  const { uncounted } = counted;
  // Counting ends with the verdict: what is still named is counted along.
  const rest = verdict
    ? { succeeded: uncounted.succeeded.length, failed: uncounted.failed.length }
    : { succeeded: 0, failed: 0 };
  const succeeded = counted.succeeded + rest.succeeded;
  const failed = counted.failed + rest.failed;
  const now = world.timestamp;
  const { suspend } = job.spec;
  const status = {
    ...(succeeded ? { succeeded } : {}),
    ...(failed ? { failed } : {}),
    ...(active.length ? { active: active.length } : {}),
    ready: active.filter(isReady).length,
    terminating: pods.filter((pod) => isDeleting(pod) && !isRunning(pod)).length,
    uncountedTerminatedPods: verdict ? {} : listed(uncounted),
    ...(isIndexed(job) && indexes.size ? { completedIndexes: writeIndexes(indexes) } : {}),
    ...(countsByIndex(job) ? { failedIndexes: writeIndexes(failedOnes) } : {}),
    ...(suspend ? {} : { startTime: job.status?.startTime ?? now }),
    ...(verdict?.type === 'Complete' ? { completionTime: now } : {}),
    conditions: conditionsOf(job, verdict, now),
  };
  if (!status.conditions.length) delete (status as Partial<typeof status>).conditions;
  await world.updateStatus(JOBS, job, status);
  if (verdict?.type === 'Complete') say(world, job, 'Normal', 'Completed', 'Job completed');
  else if (verdict) say(world, job, 'Warning', verdict.reason, verdict.message);
  const was = job.status?.conditions?.find((c: PodCondition) => c.type === 'Suspended')?.status === 'True';
  if (suspend && !was) say(world, job, 'Normal', 'Suspended', 'Job suspended');
  if (!suspend && was) say(world, job, 'Normal', 'Resumed', 'Job resumed');
}

function listed({ succeeded, failed }: Tally['uncounted']) {
  return { ...(succeeded.length ? { succeeded } : {}), ...(failed.length ? { failed } : {}) };
}

function conditionsOf(job: KubeObject, verdict: Verdict | undefined, now: string): PodCondition[] {
  const known: PodCondition[] = job.status?.conditions ?? [];
  const conditions = [...known];
  const times = { lastProbeTime: now, lastTransitionTime: now };
  const set = (type: string, status: string, reason: string, message: string) => {
    const at = conditions.findIndex((c) => c.type === type);
    if (conditions[at]?.status === status) return;
    if (at >= 0) conditions.splice(at, 1);
    conditions.push({ type, status, ...times, reason, message });
  };
  const suspended = known.some((c) => c.type === 'Suspended');
  if (job.spec.suspend) set('Suspended', 'True', 'JobSuspended', 'Job suspended');
  else if (suspended) set('Suspended', 'False', 'JobResumed', 'Job resumed');
  if (verdict) {
    set(verdict.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', 'True', verdict.reason, verdict.message);
    set(verdict.type, 'True', verdict.reason, verdict.message);
  }
  return conditions;
}

function restartsOf({ status }: KubeObject): number {
  return (status?.containerStatuses ?? []).reduce(
    (sum: number, c: { restartCount?: number }) => sum + (c.restartCount ?? 0),
    0,
  );
}

function say(world: World, about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
  world.recorder.record({ about, type, reason, message, component: COMPONENT });
}
