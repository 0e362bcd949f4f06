/** CronJobs: a Job whenever the schedule says so. A tenant that slept through several makes the last one only. */
import type { KubeObject } from '../../../../api/object.ts';
import { clone } from '../../../../apiserver/json.ts';
import { hasReason } from '../../../../apiserver/loops/loop.ts';
import { rfc3339 } from '../../../../clock.ts';
import { type Controller, itself, ownerOf } from '../controller.ts';
import { isDeleting, type PodCondition } from '../pod.ts';
import { controllerRef, isControlledBy, type World } from '../world.ts';
import { JOBS } from './job.ts';
import { parseSchedule } from './schedule.ts';

const CRON_JOBS = 'batch/cronjobs';
const COMPONENT = 'cronjob-controller';

export const cronJobs: Controller = {
  name: COMPONENT,
  on: { [CRON_JOBS]: itself, [JOBS]: ownerOf('CronJob') },
  async reconcile(world, namespace, name, again) {
    const cron = world.cache.get(CRON_JOBS, namespace, name);
    if (!cron || isDeleting(cron)) return;
    const own = world.cache.list(JOBS, namespace).filter((job) => isControlledBy(job, cron));
    await tidy(world, cron, own);
    const status = followed(world, cron, own);
    if (cron.spec.suspend) return void (await world.updateStatus(CRON_JOBS, cron, status));
    const schedule = parseSchedule(cron.spec.schedule, cron.spec.timeZone);
    const due = lastDue(world, cron, schedule);
    if (due !== undefined) await start(world, cron, own, due, status);
    const newest = world.cache.get(CRON_JOBS, namespace, name);
    if (newest) await world.updateStatus(CRON_JOBS, newest, status);
    const next = schedule.next(world.now);
    if (next !== undefined) again(next - world.now);
  },
};

type Status = KubeObject['status'];

/** Active Jobs that ended leave the list; the last success is remembered. */
function followed(world: World, cron: KubeObject, own: KubeObject[]): Status {
  const status: Status = clone(cron.status ?? {});
  const active = [];
  for (const reference of status.active ?? []) {
    const job = own.find(({ metadata }) => metadata.uid === reference.uid);
    if (!job) continue;
    const end = endOf(job);
    if (!end) active.push(reference);
    else say(world, cron, 'Normal', 'SawCompletedJob', `Saw completed job: ${job.metadata.name}, condition: ${end}`);
  }
  if (active.length) status.active = active;
  else delete status.active;
  for (const { status: done } of own) {
    const time = done?.completionTime;
    if (time && (!status.lastSuccessfulTime || time > status.lastSuccessfulTime)) status.lastSuccessfulTime = time;
  }
  return status;
}

/** The last time due since the last one that was used, when that is not too long ago. */
function lastDue(
  world: World,
  cron: KubeObject,
  schedule: { next(after: number): number | undefined },
): number | undefined {
  const { spec, status, metadata } = cron;
  let from = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  if (spec.startingDeadlineSeconds !== undefined)
    from = Math.max(from, world.now - spec.startingDeadlineSeconds * 1000);
  let due: number | undefined;
  for (let next = schedule.next(from), steps = 0; next !== undefined && next <= world.now && steps < 10_000; steps++) {
    due = next;
    next = schedule.next(next);
  }
  return due;
}

async function start(world: World, cron: KubeObject, own: KubeObject[], due: number, status: Status): Promise<void> {
  const { spec, metadata } = cron;
  const active: KubeObject[] = own.filter(
    (job) => !endOf(job) && status.active?.some((r: { uid: string }) => r.uid === job.metadata.uid),
  );
  if (spec.concurrencyPolicy === 'Forbid' && active.length) {
    return say(
      world,
      cron,
      'Normal',
      'JobAlreadyActive',
      'Not starting job because prior execution is running and concurrency policy is Forbid',
    );
  }
  if (spec.concurrencyPolicy === 'Replace') {
    for (const job of active) {
      await world.remove(JOBS, job, { propagationPolicy: 'Background' });
      say(world, cron, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    }
    if (active.length) delete status.active;
  }
  const { labels, annotations } = clone(spec.jobTemplate.metadata ?? {});
  const name = `${metadata.name}-${Math.floor(due / 60_000)}`;
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      // The same moment gives the same name: it cannot be made twice.
      name: spec.schedule.startsWith('@every') ? `${metadata.name}-${Math.floor(due / 1000)}` : name,
      namespace: metadata.namespace,
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': rfc3339(due) },
      ownerReferences: [controllerRef(cron)],
    },
    spec: clone(spec.jobTemplate.spec),
  };
  try {
    const made = await world.create(JOBS, job);
    say(world, cron, 'Normal', 'SuccessfulCreate', `Created job ${made.metadata.name}`);
    const { name: jobName, namespace, uid, resourceVersion } = made.metadata;
    const reference = { apiVersion: 'batch/v1', kind: 'Job', name: jobName, namespace, uid, resourceVersion };
    status.active = [...(status.active ?? []), reference];
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error;
  }
  status.lastScheduleTime = rfc3339(due);
}

/** Old Jobs beyond the history limits. */
async function tidy(world: World, cron: KubeObject, own: KubeObject[]): Promise<void> {
  for (const [end, limit] of [
    ['Complete', cron.spec.successfulJobsHistoryLimit ?? 3] as const,
    ['Failed', cron.spec.failedJobsHistoryLimit ?? 1] as const,
  ]) {
    const ended = own
      .filter((job) => endOf(job) === end && !isDeleting(job))
      .sort((a, b) => ((a.status?.startTime ?? '') < (b.status?.startTime ?? '') ? -1 : 1));
    for (const job of ended.slice(0, Math.max(0, ended.length - limit))) {
      await world.remove(JOBS, job, { propagationPolicy: 'Background' });
      say(world, cron, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    }
  }
}

function endOf(job: KubeObject): string | undefined {
  return job.status?.conditions?.find((c: PodCondition) => /^(Complete|Failed)$/.test(c.type) && c.status === 'True')
    ?.type;
}

function say(world: World, about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
  world.recorder.record({ about, type, reason, message, component: COMPONENT });
}
