/** What workloads must satisfy (pkg/apis/apps/validation and ReplicationController of core). */
import { type FieldError, field } from '../status.ts';
import {
  atMostWhole,
  immutable,
  intOrPercent,
  isEmptySelector,
  label,
  labelSelector,
  mismatch,
  nonNegative,
  selects,
} from './checks.ts';
import { type Any, clone, items, same } from './fields.ts';
import { validatePodTemplate } from './pod/validation.ts';

export {
  validateCronJob,
  validateJob,
  validateJobUpdate,
} from './job-validation.ts';

/** The selector itself, and that it picks the pods the template makes. A missing selector picks none. */
function validateSelector(spec: Any, kind: string, required: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { selector } = spec;
  if (!selector) {
    if (required) errors.push(field.required('spec.selector'));
  } else {
    errors.push(...labelSelector(selector, 'spec.selector'));
    if (isEmptySelector(selector)) {
      errors.push(field.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
    }
  }
  if (!isUsable(selector)) return errors;
  const labels = spec.template?.metadata?.labels;
  const matches = selector && (isEmptySelector(selector) || selects(selector, labels));
  if (!matches) errors.push(mismatch(labels));
  return errors;
}

/** What no selector picks. */
const NOTHING = { matchExpressions: [{ key: '', operator: 'In' }] };

/** A selector that says something impossible picks nothing, so nothing else is said of what it should pick. */
function isUsable(selector: Any): boolean {
  return labelSelector(selector, '').length === 0;
}

/** The selector and, where it can be used, the template. */
function validatePods(spec: Any, kind: string, owner: string, template: Any = spec.template): FieldError[] {
  const errors = validateSelector(spec, kind, true);
  if (isUsable(spec.selector)) return [...errors, ...validateTemplate(template, owner)];
  const text = owner === 'StatefulSet' ? '' : 'invalid label selector';
  return [...errors, field.invalid('spec.selector', spec.selector, text)];
}

function validateTemplate(template: Any, kind: string): FieldError[] {
  const errors = validatePodTemplate(template, 'spec.template');
  const policy = template?.spec?.restartPolicy;
  if (policy !== 'Always')
    errors.push(field.notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always']));
  if (template?.spec?.activeDeadlineSeconds != null) {
    const text = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(field.forbidden('spec.template.spec.activeDeadlineSeconds', text));
  }
  return errors;
}

const amount = (value: Any) => (typeof value === 'string' ? Number.parseInt(value, 10) : (value ?? 0));

function validateRollout(strategy: Any, path: string): FieldError[] {
  if (strategy.type === 'Recreate') {
    if (!strategy.rollingUpdate) return [];
    return [field.forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (strategy.type !== 'RollingUpdate') {
    const shown = { Type: strategy.type, RollingUpdate: null };
    return [field.notSupported(path, shown, ['Recreate', 'RollingUpdate'])];
  }
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {};
  const here = `${path}.rollingUpdate`;
  const errors = [
    ...intOrPercent(maxUnavailable, `${here}.maxUnavailable`),
    ...intOrPercent(maxSurge, `${here}.maxSurge`),
  ];
  if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0) {
    errors.push(field.invalid(`${here}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  errors.push(...atMostWhole(maxUnavailable, `${here}.maxUnavailable`));
  return errors;
}

export function validateDeployment({ spec }: Any): FieldError[] {
  const errors = [
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...validatePods(spec, 'deployment', 'ReplicaSet'),
    ...validateRollout(spec.strategy, 'spec.strategy'),
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  ];
  const deadline = spec.progressDeadlineSeconds;
  if (deadline != null) {
    errors.push(...nonNegative(deadline, 'spec.progressDeadlineSeconds'));
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(field.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
    }
  }
  return errors;
}

export function validateDeploymentUpdate(object: Any, old: Any): FieldError[] {
  return [...validateDeployment(object), ...immutable(object.spec.selector, old.spec?.selector, 'spec.selector')];
}

export function validateReplicaSet({ spec }: Any): FieldError[] {
  return [
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validatePods(spec, 'deployment', 'ReplicaSet'),
  ];
}

export function validateReplicaSetUpdate(object: Any, old: Any): FieldError[] {
  return [...validateReplicaSet(object), ...immutable(object.spec.selector, old.spec?.selector, 'spec.selector')];
}

export function validateReplicationController({ spec }: Any): FieldError[] {
  const errors = nonNegative(spec.minReadySeconds, 'spec.minReadySeconds');
  if (Object.keys(spec.selector ?? {}).length === 0) errors.push(field.required('spec.selector'));
  errors.push(...nonNegative(spec.replicas, 'spec.replicas'));
  if (!spec.template) return [...errors, field.required('spec.template')];
  const labels = spec.template.metadata?.labels;
  if (!selects({ matchLabels: spec.selector }, labels)) {
    errors.push(mismatch(labels));
  }
  return [...errors, ...validateTemplate(spec.template, 'ReplicationController')];
}

function validateStatefulSetStrategy(spec: Any): FieldError[] {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const path = 'spec.updateStrategy';
  if (!type) return [field.required(path)];
  if (type === 'OnDelete') {
    if (!rollingUpdate) return [];
    return [field.invalid(`${path}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: null };
    return [field.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  return nonNegative(rollingUpdate?.partition, `${path}.rollingUpdate.partition`);
}

/** Claims from templates are volumes the containers may mount, over those of the same name. */
function templateWithClaims(spec: Any): Any {
  const template = clone(spec.template);
  if (!template?.spec) return template;
  delete template.spec.subdomain;
  delete template.spec.hostname;
  const claims = items(spec.volumeClaimTemplates).map(({ metadata }) => ({
    name: metadata?.name,
    persistentVolumeClaim: { claimName: metadata?.name, readOnly: false },
  }));
  const names = new Set(claims.map((claim) => claim.name));
  template.spec.volumes = [...claims, ...items(template.spec.volumes).filter((volume) => !names.has(volume.name))];
  return template;
}

export function validateStatefulSet({ spec }: Any): FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec.podManagementPolicy;
  if (!policy) errors.push(field.required('spec.podManagementPolicy'));
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(field.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  errors.push(...validateStatefulSetStrategy(spec));
  for (const name of ['whenDeleted', 'whenScaled']) {
    const value = spec.persistentVolumeClaimRetentionPolicy?.[name];
    if (value !== undefined && value !== 'Retain' && value !== 'Delete') {
      const path = `spec.persistentVolumeClaimRetentionPolicy.${name}`;
      errors.push(field.notSupported(path, value, ['Retain', 'Delete']));
    }
  }
  errors.push(...nonNegative(spec.replicas, 'spec.replicas'));
  errors.push(...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'));
  errors.push(...nonNegative(spec.ordinals?.start, 'spec.ordinals.start'));
  if (spec.serviceName) errors.push(...label(spec.serviceName, 'spec.serviceName'));
  errors.push(...validatePods(spec, 'statefulset', 'StatefulSet', templateWithClaims(spec)));
  return errors;
}

const STATEFUL_SET_MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

export function validateStatefulSetUpdate(object: Any, old: Any): FieldError[] {
  const errors = validateStatefulSet(object);
  const fixed = (spec: Any) =>
    Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => !STATEFUL_SET_MUTABLE.includes(name)));
  if (!same(fixed(object.spec), fixed(old.spec))) {
    const text =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    errors.push(field.forbidden('spec', text));
  }
  return errors;
}

function validateDaemonSetStrategy(strategy: Any): FieldError[] {
  const path = 'spec.updateStrategy';
  if (strategy.type === 'OnDelete') return [];
  if (strategy.type !== 'RollingUpdate') {
    const shown = { Type: strategy.type, RollingUpdate: null };
    return [field.notSupported(path, shown, ['RollingUpdate', 'OnDelete'])];
  }
  const here = `${path}.rollingUpdate`;
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {};
  const errors = [
    ...intOrPercent(maxUnavailable, `${here}.maxUnavailable`),
    ...intOrPercent(maxSurge, `${here}.maxSurge`),
    ...atMostWhole(maxUnavailable, `${here}.maxUnavailable`),
    ...atMostWhole(maxSurge, `${here}.maxSurge`),
  ];
  const [unavailable, surge] = [amount(maxUnavailable) !== 0, amount(maxSurge) !== 0];
  if (unavailable && surge) {
    errors.push(field.invalid(`${here}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  } else if (!unavailable && !surge) {
    errors.push(field.required(`${here}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

export function validateDaemonSet({ spec }: Any): FieldError[] {
  const errors = labelSelector(spec.selector, 'spec.selector');
  const labels = spec.template?.metadata?.labels;
  if (isUsable(spec.selector) && !selects(spec.selector ?? NOTHING, labels)) errors.push(mismatch(labels));
  if (spec.selector && isEmptySelector(spec.selector)) {
    errors.push(field.invalid('spec.selector', spec.selector, 'empty selector is invalid for daemonset'));
  }
  errors.push(...validateTemplate(spec.template, 'DaemonSet'));
  errors.push(...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'));
  errors.push(...validateDaemonSetStrategy(spec.updateStrategy ?? {}));
  errors.push(...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'));
  return errors;
}

export function validateDaemonSetUpdate(object: Any, old: Any): FieldError[] {
  return [...immutable(object.spec.selector, old.spec?.selector, 'spec.selector'), ...validateDaemonSet(object)];
}

export function validateControllerRevision(object: Any): FieldError[] {
  const errors = nonNegative(object.revision, 'revision');
  if (object.data === undefined || object.data === null) errors.push(field.required('data', 'data is mandatory'));
  else if (typeof object.data !== 'object' || Array.isArray(object.data)) {
    errors.push(field.required('data', 'data must be a valid JSON object'));
  }
  return errors;
}

export function validateControllerRevisionUpdate(object: Any, old: Any): FieldError[] {
  return [...nonNegative(object.revision, 'revision'), ...immutable(object.data, old.data, 'data')];
}

export function validatePodTemplateObject(object: Any): FieldError[] {
  return validatePodTemplate(object.template, 'template');
}
