/** Defaults and upkeep of what runs pods: apps, batch, ReplicationController, PodTemplate. */
import { type Any, defaultEmpty, defaultTo, ensure, items, same } from './fields.ts';
import type { KindRules } from './kind.ts';
import { defaultClaimSpec, defaultPodTemplate } from './pod/defaults.ts';
import * as check from './workload-validation.ts';

/** Counts a Deployment leaves out while they are zero, and other kinds do not. */
function omitZeroCounts(status: Any): void {
  for (const name of ['replicas', 'availableReplicas', 'observedGeneration'])
    if (status?.[name] === 0) delete status[name];
}

function defaultDeployment(object: Any): void {
  omitZeroCounts(object.status);
  const spec = ensure(object, 'spec');
  defaultTo(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const rollout = ensure(spec, 'strategy');
  defaultEmpty(rollout, { type: 'RollingUpdate' });
  if (rollout.type === 'RollingUpdate') {
    defaultTo(ensure(rollout, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
  }
  defaultPodTemplate(ensure(spec, 'template'));
}

function defaultReplicaSet(object: Any): void {
  const spec = ensure(object, 'spec');
  defaultTo(spec, { replicas: 1 });
  defaultPodTemplate(ensure(spec, 'template'));
}

function defaultReplicationController(object: Any): void {
  const spec = ensure(object, 'spec');
  const labels = spec.template?.metadata?.labels;
  if (labels && Object.keys(labels).length) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
  }
  defaultTo(spec, { replicas: 1 });
  if (spec.template) defaultPodTemplate(spec.template);
}

function defaultDaemonSet(object: Any): void {
  const spec = ensure(object, 'spec');
  const update = ensure(spec, 'updateStrategy');
  defaultEmpty(update, { type: 'RollingUpdate' });
  if (update.type === 'RollingUpdate') defaultTo(ensure(update, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
  defaultTo(spec, { revisionHistoryLimit: 10 });
  defaultPodTemplate(ensure(spec, 'template'));
}

function defaultStatefulSet(object: Any): void {
  const spec = ensure(object, 'spec');
  defaultEmpty(spec, { podManagementPolicy: 'OrderedReady' });
  const update = ensure(spec, 'updateStrategy');
  if (!update.type) {
    update.type = 'RollingUpdate';
    ensure(update, 'rollingUpdate');
  }
  if (update.type === 'RollingUpdate' && update.rollingUpdate) defaultTo(update.rollingUpdate, { partition: 0 });
  defaultEmpty(ensure(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  defaultTo(spec, { replicas: 1, revisionHistoryLimit: 10 });
  defaultPodTemplate(ensure(spec, 'template'));
  for (const claim of items(spec.volumeClaimTemplates)) {
    // Claims in templates are whole objects to upstream: they come back with kind, version and phase.
    defaultEmpty(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    ensure(claim, 'metadata');
    defaultClaimSpec(ensure(claim, 'spec'));
    defaultEmpty(ensure(claim, 'status'), { phase: 'Pending' });
  }
}

/** Everything of a Job but what needs its uid; a CronJob's template gets no more than the pod template's defaults. */
function defaultJob(object: Any): void {
  const spec = ensure(object, 'spec');
  if (spec.completions == null && spec.parallelism == null) spec.completions = 1;
  defaultTo(spec, {
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex != null ? 2147483647 : 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
    manualSelector: false,
  });
  const template = ensure(spec, 'template');
  const labels = template.metadata?.labels;
  if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
  for (const rule of items(spec.podFailurePolicy?.rules)) {
    for (const pattern of items(rule.onPodConditions)) defaultEmpty(pattern, { status: 'True' });
  }
  nameGenerated(object);
  defaultPodTemplate(template);
}

/** A generated name comes after the uid did its work: the labels that carry it are completed here. */
function nameGenerated({ metadata, spec }: Any): void {
  for (const labels of [spec.template.metadata?.labels, metadata.labels]) {
    if (!metadata.name || !metadata.uid || labels?.[JOB_UID_LABELS[0] as string] !== metadata.uid) continue;
    for (const name of JOB_NAME_LABELS) defaultTo(labels, { [name]: metadata.name });
  }
}

function defaultCronJob(object: Any): void {
  const spec = ensure(object, 'spec');
  defaultEmpty(spec, { concurrencyPolicy: 'Allow' });
  defaultTo(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  const template = ensure(spec, 'jobTemplate');
  ensure(template, 'metadata');
  defaultPodTemplate(ensure(ensure(template, 'spec'), 'template'));
}

const JOB_UID_LABELS = ['batch.kubernetes.io/controller-uid', 'controller-uid'];
const JOB_NAME_LABELS = ['batch.kubernetes.io/job-name', 'job-name'];

/** A Job's pods are found by its uid, unless the user takes care of the selector (pkg/registry/batch/job). */
function prepareJob(job: Any): void {
  const { spec, metadata } = job;
  if (spec.manualSelector === true) return;
  const labels = ensure(ensure(spec.template, 'metadata'), 'labels');
  // Upstream's defaults let a job without labels share its template's, so the generated ones show on both.
  const shared = same(metadata.labels, labels);
  if (metadata.name) for (const name of JOB_NAME_LABELS) defaultTo(labels, { [name]: metadata.name });
  for (const name of JOB_UID_LABELS) defaultTo(labels, { [name]: metadata.uid });
  if (shared) metadata.labels = { ...labels };
  const matchLabels = ensure(ensure(spec, 'selector'), 'matchLabels');
  defaultTo(matchLabels, { 'batch.kubernetes.io/controller-uid': metadata.uid });
}

/** Old DaemonSets count template changes in a field; clients still see it as an annotation. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function prepareDaemonSet(object: Any, old?: Any): void {
  const annotations = ensure(object.metadata, 'annotations');
  if (!old) {
    annotations[TEMPLATE_GENERATION] = '1';
    return;
  }
  const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  annotations[TEMPLATE_GENERATION] = String(same(object.spec?.template, old.spec?.template) ? before : before + 1);
}

/** Of all kinds, Deployments count changed annotations as a new generation too. */
function countAnnotations({ metadata }: Any, old: Any): void {
  if (!same(metadata.annotations ?? {}, old.metadata.annotations ?? {})) {
    metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
}

export const workloadKinds: Record<string, Record<string, KindRules>> = {
  apps: {
    Deployment: {
      generation: true,
      status: {},
      statusKeeps: ['labels'],
      defaults: defaultDeployment,
      prepareUpdate: countAnnotations,
      validate: check.validateDeployment,
      validateUpdate: check.validateDeploymentUpdate,
    },
    ReplicaSet: {
      generation: true,
      status: { replicas: 0 },
      defaults: defaultReplicaSet,
      validate: check.validateReplicaSet,
      validateUpdate: check.validateReplicaSetUpdate,
    },
    StatefulSet: {
      generation: true,
      status: { replicas: 0, availableReplicas: 0 },
      defaults: defaultStatefulSet,
      validate: check.validateStatefulSet,
      validateUpdate: check.validateStatefulSetUpdate,
    },
    DaemonSet: {
      generation: true,
      status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
      defaults: defaultDaemonSet,
      prepareCreate: (o) => prepareDaemonSet(o),
      prepareUpdate: (o, old) => prepareDaemonSet(o, old),
      validate: check.validateDaemonSet,
      validateUpdate: check.validateDaemonSetUpdate,
    },
    ControllerRevision: {
      raw: true,
      validate: check.validateControllerRevision,
      validateUpdate: check.validateControllerRevisionUpdate,
    },
  },
  batch: {
    Job: {
      generation: true,
      status: {},
      defaults: defaultJob,
      prepareCreate: prepareJob,
      validate: check.validateJob,
      validateUpdate: check.validateJobUpdate,
    },
    CronJob: {
      generation: true,
      status: {},
      defaults: defaultCronJob,
      validate: check.validateCronJob,
      validateUpdate: (o) => check.validateCronJob(o),
    },
  },
  '': {
    ReplicationController: {
      generation: true,
      status: { replicas: 0 },
      defaults: defaultReplicationController,
      validate: check.validateReplicationController,
      validateUpdate: (o) => check.validateReplicationController(o),
    },
    PodTemplate: {
      generation: true,
      defaults: (o) => defaultPodTemplate(ensure(o, 'template')),
      validate: check.validatePodTemplateObject,
      validateUpdate: check.validatePodTemplateObject,
    },
  },
};
