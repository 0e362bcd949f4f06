/** Checks of the smaller groups: autoscaling, policy, storage, scheduling, coordination, node, certificates. */
import { type FieldError, field } from '../status.ts';
import { atMostWhole, immutable, intOrPercent, label, labelSelector, optionalOneOf, qualified } from './checks.ts';
import { validateEvent } from './core-validation.ts';
import { convertEvent } from './event-conversion.ts';
import { type Any, clone, items, same } from './fields.ts';
import { pathSegment } from './names.ts';
import { readQuantity } from './resource-list.ts';

export {
  validateEndpointSlice,
  validateEndpointSliceUpdate,
  validateIngress,
  validateIngressClass,
  validateIngressClassUpdate,
  validateNetworkPolicy,
} from './networking-validation.ts';
export { validateBinding, validateBindingUpdate, validateRole } from './rbac-validation.ts';

export function validateDisruptionBudget({ spec = {} }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.minAvailable != null && spec.maxUnavailable != null) {
    const shown = {
      MinAvailable: spec.minAvailable,
      Selector: spec.selector ?? null,
      MaxUnavailable: spec.maxUnavailable,
      UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
    };
    errors.push(field.invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const name of ['minAvailable', 'maxUnavailable']) {
    errors.push(...intOrPercent(spec[name], `spec.${name}`), ...atMostWhole(spec[name], `spec.${name}`));
  }
  errors.push(...labelSelector(spec.selector, 'spec.selector'));
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  errors.push(...optionalOneOf(spec.unhealthyPodEvictionPolicy, policies, 'spec.unhealthyPodEvictionPolicy'));
  return errors;
}

const METRICS = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

function validateTarget(target: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!target.type) errors.push(field.required(`${path}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(target.type)) {
    errors.push(field.invalid(`${path}.type`, target.type ?? '', 'must be either Utilization, Value, or AverageValue'));
  }
  for (const name of ['value', 'averageValue']) {
    const quantity = readQuantity(target[name]);
    if (quantity && quantity.nano <= 0n)
      errors.push(field.invalid(`${path}.${name}`, target[name], 'must be positive'));
  }
  if (target.averageUtilization < 1) {
    errors.push(field.invalid(`${path}.averageUtilization`, target.averageUtilization, 'must be greater than 0'));
  }
  return errors;
}

function validateMetric(metric: Any, path: string): FieldError[] {
  const type: string = metric.type ?? '';
  if (!METRICS.includes(type)) {
    const required = type ? [] : [field.required(`${path}.type`, 'must specify a metric source type')];
    // Upstream says it twice, once for the name and once for want of a source.
    const unknown = field.notSupported(`${path}.type`, type, METRICS);
    return [...required, unknown, unknown];
  }
  const name = type.charAt(0).toLowerCase() + type.slice(1);
  const source = metric[name];
  if (!source) return [field.required(`${path}.${name}`, 'must populate information for the given metric source')];
  const here = `${path}.${name}`;
  const errors: FieldError[] = [];
  if (name === 'resource' || name === 'containerResource') {
    if (!source.name) errors.push(field.required(`${here}.name`, 'must specify a resource name'));
    const { averageUtilization: share, averageValue: value } = source.target ?? {};
    if (share == null && value == null) {
      const text = 'must set either a target raw value or a target utilization';
      errors.push(field.required(`${here}.target.averageUtilization`, text));
    } else if (share != null && value != null) {
      const text = 'may not set both a target raw value and a target utilization';
      errors.push(field.forbidden(`${here}.target.averageValue`, text));
    }
  }
  return [...errors, ...validateTarget(source.target ?? {}, `${here}.target`)];
}

const LONGEST_WINDOW_SECONDS = 3600;
const LONGEST_PERIOD_SECONDS = 1800;

function validateScalingRules(rules: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { stabilizationWindowSeconds: window, selectPolicy, policies } = rules;
  const at = `${path}.stabilizationWindowSeconds`;
  if (window < 0) errors.push(field.invalid(at, window, 'must be greater than or equal to zero'));
  if (window > LONGEST_WINDOW_SECONDS) {
    errors.push(field.invalid(at, window, `must be less than or equal to ${LONGEST_WINDOW_SECONDS}`));
  }
  errors.push(...optionalOneOf(selectPolicy, ['Disabled', 'Max', 'Min'], `${path}.selectPolicy`));
  if (items(policies).length === 0) errors.push(field.required(`${path}.policies`, 'must specify at least one Policy'));
  for (const [index, { type, value = 0, periodSeconds = 0 }] of items(policies).entries()) {
    const here = `${path}.policies[${index}]`;
    if (type !== 'Pods' && type !== 'Percent') {
      errors.push(field.notSupported(`${here}.type`, type ?? '', ['Percent', 'Pods']));
    }
    if (value <= 0) errors.push(field.invalid(`${here}.value`, value, 'must be greater than zero'));
    const period = `${here}.periodSeconds`;
    if (periodSeconds <= 0) errors.push(field.invalid(period, periodSeconds, 'must be greater than zero'));
    if (periodSeconds > LONGEST_PERIOD_SECONDS) {
      errors.push(field.invalid(period, periodSeconds, `must be less than or equal to ${LONGEST_PERIOD_SECONDS}`));
    }
  }
  return errors;
}

export function validateAutoscaler({ spec = {} }: Any): FieldError[] {
  const errors: FieldError[] = [];
  const { minReplicas: min, maxReplicas: max = 0, scaleTargetRef: ref = {} } = spec;
  if (min != null && min < 1) errors.push(field.invalid('spec.minReplicas', min, 'must be greater than or equal to 1'));
  if (max < 1) errors.push(field.invalid('spec.maxReplicas', max, 'must be greater than 0'));
  if (min != null && max < min) {
    errors.push(field.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  }
  for (const name of ['kind', 'name']) {
    const path = `spec.scaleTargetRef.${name}`;
    if (!ref[name]) errors.push(field.required(path));
    else for (const text of pathSegment(ref[name])) errors.push(field.invalid(path, ref[name], text));
  }
  if (!String(ref.apiVersion ?? '').includes('/')) {
    errors.push(
      field.invalid('spec.scaleTargetRef.apiVersion', ref.apiVersion ?? '', 'apiVersion must specify API group'),
    );
  }
  for (const [index, metric] of items(spec.metrics).entries()) {
    errors.push(...validateMetric(metric, `spec.metrics[${index}]`));
  }
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = spec.behavior?.[direction];
    if (rules) errors.push(...validateScalingRules(rules, `spec.behavior.${direction}`));
  }
  if (min === 0 && !items(spec.metrics).some(({ type }) => type === 'Object' || type === 'External')) {
    const text = 'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.push(field.forbidden('spec.metrics', text));
  }
  return errors;
}

function validateDriver(name: Any, path: string): FieldError[] {
  return name ? qualified(name.toLowerCase(), path) : [field.required(path)];
}

export function validateStorageClass(object: Any): FieldError[] {
  return [
    ...validateDriver(object.provisioner, 'provisioner'),
    ...optionalOneOf(object.reclaimPolicy, ['Delete', 'Retain'], 'reclaimPolicy'),
    ...optionalOneOf(object.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer'], 'volumeBindingMode'),
  ];
}

function forbiddenChanges(object: Any, old: Any, names: string[]): FieldError[] {
  return names
    .filter((name) => !same(object[name], old[name]))
    .map((name) => field.forbidden(name, `updates to ${name} are forbidden.`));
}

export function validateStorageClassUpdate(object: Any, old: Any): FieldError[] {
  return [
    ...forbiddenChanges(object, old, ['parameters', 'provisioner', 'reclaimPolicy']),
    ...immutable(object.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'),
  ];
}

export function validateVolumeAttributesClass(object: Any): FieldError[] {
  return validateDriver(object.driverName, 'driverName');
}

export function validateVolumeAttributesClassUpdate(object: Any, old: Any): FieldError[] {
  return [...forbiddenChanges(object, old, ['driverName', 'parameters']), ...validateVolumeAttributesClass(object)];
}

const SYSTEM_CLASSES: Record<string, number> = {
  'system-node-critical': 2000001000,
  'system-cluster-critical': 2000000000,
};
const HIGHEST_USER_PRIORITY = 1000000000;

export function validatePriorityClass({ metadata, value = 0, preemptionPolicy }: Any): FieldError[] {
  const errors: FieldError[] = [];
  const { name = '' } = metadata;
  if (name.startsWith('system-')) {
    if (SYSTEM_CLASSES[name] !== value) {
      const text = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      errors.push(field.forbidden('metadata.name', text));
    }
  } else if (value > HIGHEST_USER_PRIORITY) {
    const text = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`;
    errors.push(field.forbidden('value', text));
  }
  return [...errors, ...optionalOneOf(preemptionPolicy, ['PreemptLowerPriority', 'Never'], 'preemptionPolicy')];
}

export function validatePriorityClassUpdate(object: Any, old: Any): FieldError[] {
  const changed = (object.value ?? 0) !== (old.value ?? 0);
  return [
    ...(changed ? [field.forbidden('value', 'may not be changed in an update.')] : []),
    ...immutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
  ];
}

export function validateLease({ spec = {} }: Any): FieldError[] {
  const errors: FieldError[] = [];
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec;
  if (duration != null && duration <= 0) {
    errors.push(field.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  if (transitions != null && transitions < 0) {
    errors.push(field.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  if (spec.preferredHolder && !spec.strategy) {
    errors.push(field.forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return errors;
}

export function validateRuntimeClass({ handler = '' }: Any): FieldError[] {
  return label(handler, 'handler');
}

export function validateRuntimeClassUpdate(object: Any, old: Any): FieldError[] {
  return immutable(object.handler, old.handler, 'handler');
}

export function validateCertificateRequest({ spec = {} }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (!/BEGIN CERTIFICATE REQUEST/.test(Buffer.from(spec.request ?? '', 'base64').toString('latin1'))) {
    errors.push(field.invalid('spec.request', spec.request ?? null, 'PEM block type must be CERTIFICATE REQUEST'));
  }
  const usages = items(spec.usages);
  if (usages.length === 0) errors.push(field.required('spec.usages'));
  for (const [index, usage] of usages.entries()) {
    if (usages.indexOf(usage) !== index) errors.push(field.duplicate(`spec.usages[${index}]`, usage));
  }
  if (!spec.signerName) errors.push(field.required('spec.signerName'));
  else if (!/^[^/]+\.[^/]+\/.+$/.test(spec.signerName)) {
    const text = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    errors.push(field.invalid('spec.signerName', spec.signerName, text));
  }
  if (spec.expirationSeconds != null && spec.expirationSeconds < 600) {
    const text = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(field.invalid('spec.expirationSeconds', spec.expirationSeconds, text));
  }
  return errors;
}

export function validateCertificateRequestUpdate(object: Any, old: Any): FieldError[] {
  const types = items(object.status?.conditions).map((c) => c.type);
  const errors: FieldError[] = [];
  if (types.includes('Approved') && types.includes('Denied')) {
    errors.push(field.invalid('status.conditions', 'Denied', 'Approved and Denied conditions are mutually exclusive'));
  }
  for (const type of ['Approved', 'Denied', 'Failed']) {
    const had = items(old.status?.conditions).some((c) => c.type === type);
    if (had && !types.includes(type)) {
      errors.push(
        field.forbidden('status.conditions', `updates may not remove a condition of type ${JSON.stringify(type)}`),
      );
    }
  }
  return errors;
}

/** The newer events must say who reports what about which object, and leave the old fields alone. */
export function validateNewEvent(event: Any): FieldError[] {
  const core = clone(event);
  convertEvent(core, 'v1');
  const errors = validateEvent(core).map((error) => ({
    ...error,
    field: error.field === 'reportingComponent' ? 'reportingController' : error.field,
  }));
  if (!core.eventTime) errors.push(field.required('eventTime'));
  if (core.type !== 'Normal' && core.type !== 'Warning') {
    errors.push(field.invalid('type', '', `has invalid value: ${core.type ?? ''}`));
  }
  for (const name of ['firstTimestamp', 'lastTimestamp', 'count']) {
    if (core[name]) errors.push(field.invalid(name, '', 'needs to be unset'));
  }
  if (core.source?.component || core.source?.host) errors.push(field.invalid('source', '', 'needs to be unset'));
  return errors;
}
