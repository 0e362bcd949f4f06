/** What Jobs and CronJobs must satisfy (pkg/apis/batch/validation). */
import { type FieldError, field } from '../status.ts';
import { immutable, labelSelector, mismatch, nonNegative, oneOf, selects } from './checks.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { type Any, clone, items } from './fields.ts';
import { validateFailurePolicy } from './job-failure-policy.ts';
import { byteLength, dns1123Label } from './names.ts';
import { validatePodTemplate } from './pod/validation.ts';

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
const UID_LABEL = 'batch.kubernetes.io/controller-uid';
const MAX_PARALLELISM = 100_000;

function validateIndexed(spec: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { completionMode: mode, completions, parallelism, maxFailedIndexes } = spec;
  if (maxFailedIndexes != null && spec.backoffLimitPerIndex == null) {
    errors.push(field.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (mode != null && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(field.notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  }
  if (mode === 'Indexed') {
    if (completions == null) errors.push(field.required(`${path}.completions`, 'when completion mode is Indexed'));
    if (parallelism > MAX_PARALLELISM) {
      const text = `must be less than or equal to ${MAX_PARALLELISM} when completion mode is Indexed`;
      errors.push(field.invalid(`${path}.parallelism`, parallelism, text));
    }
    if (completions != null && maxFailedIndexes > completions) {
      errors.push(
        field.invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, 'must be less than or equal to completions'),
      );
    }
    return errors;
  }
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']) {
    if (spec[name] != null)
      errors.push(field.invalid(`${path}.${name}`, spec[name], 'requires indexed completion mode'));
  }
  return errors;
}

function validateRestartPolicy(spec: Any, path: string): FieldError[] {
  const here = `${path}.template.spec.restartPolicy`;
  const policy = spec.template?.spec?.restartPolicy;
  if (!policy || policy === 'Always') return [field.required(here, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [field.notSupported(here, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy && policy !== 'Never') {
    return [field.invalid(here, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}

/** A job's spec without its selector, as it stands in a CronJob. */
function validateJobSpec(spec: Any, path: string): FieldError[] {
  const errors = COUNTS.flatMap((name) => nonNegative(spec[name], `${path}.${name}`));
  errors.push(...validateIndexed(spec, path));
  if (spec.podFailurePolicy) errors.push(...validateFailurePolicy(spec, `${path}.podFailurePolicy`));
  const replacement = spec.podReplacementPolicy;
  if (replacement != null) {
    const supported = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
    if (!supported.includes(replacement)) {
      errors.push(field.notSupported(`${path}.podReplacementPolicy`, replacement, supported));
    }
  }
  errors.push(...validatePodTemplate(spec.template, `${path}.template`));
  errors.push(...validateRestartPolicy(spec, path));
  return errors;
}

/** Unless the user minds the selector, it must be the generated one. */
function validateGenerated({ metadata, spec }: Any): FieldError[] {
  if (spec.manualSelector === true) return [];
  if (!spec.selector) return [];
  const errors: FieldError[] = [];
  const labels = spec.template?.metadata?.labels ?? {};
  for (const name of ['controller-uid', UID_LABEL]) {
    if (labels[name] !== undefined && labels[name] !== metadata.uid) {
      errors.push(field.invalid('spec.template.metadata.labels', labels, `must be '${metadata.uid}'`));
    }
  }
  for (const name of ['job-name', 'batch.kubernetes.io/job-name']) {
    if (labels[name] !== undefined && labels[name] !== metadata.name) {
      errors.push(field.invalid('spec.template.metadata.labels', labels, `must be '${metadata.name}'`));
    }
  }
  const expected = { matchLabels: { [UID_LABEL]: metadata.uid } };
  const given = Object.keys(spec.selector.matchLabels ?? {});
  if (
    given.some((key) => key !== UID_LABEL && key !== 'controller-uid') ||
    items(spec.selector.matchExpressions).length
  ) {
    errors.push(field.invalid('spec.selector', spec.selector, '`selector` not auto-generated'));
  } else if (!selects(expected, spec.selector.matchLabels) && !spec.selector.matchLabels?.['controller-uid']) {
    errors.push(field.invalid('spec.selector', spec.selector, '`selector` not auto-generated'));
  }
  return errors;
}

export function validateJob(job: Any): FieldError[] {
  const { spec, metadata } = job;
  const errors = [...validateGenerated(job), ...validateJobSpec(spec, 'spec')];
  if (!spec.selector) errors.push(field.required('spec.selector'));
  else errors.push(...labelSelector(spec.selector, 'spec.selector'));
  const labels = spec.template?.metadata?.labels;
  if (!spec.selector || !selects(spec.selector, labels)) errors.push(mismatch(labels));
  if (spec.completionMode === 'Indexed' && spec.completions > 0) {
    const last = `${metadata.name}-${spec.completions - 1}`;
    if (dns1123Label(last).length) {
      const text = `will not able to create pod with invalid DNS label: ${last}`;
      errors.push(field.invalid('metadata.name', metadata.name, text));
    }
  }
  return errors;
}

/** A job that is suspended and never ran may still be told where to run. */
function templateToCompare(job: Any, old: Any): Any {
  const template = clone(old.spec.template);
  const movable = old.spec.suspend === true && !old.status?.startTime;
  if (!movable) return template;
  const now = job.spec.template;
  template.spec = { ...template.spec };
  for (const name of ['nodeSelector', 'tolerations', 'schedulingGates']) {
    if (now?.spec?.[name] === undefined) delete template.spec[name];
    else template.spec[name] = now.spec[name];
  }
  const affinity = { ...template.spec.affinity };
  if (now?.spec?.affinity?.nodeAffinity) affinity.nodeAffinity = now.spec.affinity.nodeAffinity;
  else delete affinity.nodeAffinity;
  if (Object.keys(affinity).length) template.spec.affinity = affinity;
  else delete template.spec.affinity;
  template.metadata = { ...template.metadata, labels: now?.metadata?.labels, annotations: now?.metadata?.annotations };
  return template;
}

export function validateJobUpdate(job: Any, old: Any): FieldError[] {
  const errors = validateJob(job).filter((error) => error.field !== 'metadata.name');
  const { spec } = job;
  const elastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!elastic) errors.push(...immutable(spec.completions, old.spec.completions, 'spec.completions'));
  errors.push(...immutable(spec.selector, old.spec.selector, 'spec.selector'));
  errors.push(...immutable(spec.template, templateToCompare(job, old), 'spec.template'));
  for (const name of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']) {
    errors.push(...immutable(spec[name], old.spec[name], `spec.${name}`));
  }
  return errors;
}

function validateTimeZone(zone: Any, path: string): FieldError[] {
  if (zone === undefined || zone === null) return [];
  if (zone === '') return [field.invalid(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.toLowerCase() === 'local') {
    return [
      field.invalid(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'),
    ];
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return [];
  } catch {
    return [field.invalid(path, zone, `unknown time zone ${zone}`)];
  }
}

export function validateCronJob({ metadata, spec }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec.schedule) errors.push(field.required('spec.schedule'));
  else {
    const problem = scheduleProblem(spec.schedule);
    if (problem) errors.push(field.invalid('spec.schedule', spec.schedule, problem));
    if (spec.schedule.includes('TZ')) {
      const text = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
      errors.push(field.invalid('spec.schedule', spec.schedule, text));
    }
  }
  errors.push(...nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'));
  errors.push(...validateTimeZone(spec.timeZone, 'spec.timeZone'));
  errors.push(...oneOf(spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], 'spec.concurrencyPolicy'));
  const job = spec.jobTemplate?.spec ?? {};
  errors.push(...validateJobSpec(job, 'spec.jobTemplate.spec'));
  if (job.manualSelector) {
    const supported = ['nil', 'false'];
    errors.push(field.notSupported('spec.jobTemplate.spec.manualSelector', job.manualSelector, supported));
  }
  errors.push(...nonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'));
  errors.push(...nonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'));
  if (byteLength(metadata.name ?? '') > 52) {
    errors.push(field.invalid('metadata.name', metadata.name, 'must be no more than 52 characters'));
  }
  return errors;
}
