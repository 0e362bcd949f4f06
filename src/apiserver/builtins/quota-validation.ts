/** ResourceQuota and LimitRange: which names they may count, and numbers that make sense together. */
import { type FieldError, field } from '../status.ts';
import { qualified } from './checks.ts';
import { type Any, items } from './fields.ts';
import { compareQuantity, formatQuantity, type Quantity, wholeQuantity } from './quantity.ts';
import {
  readQuantity,
  validateContainerResourceName,
  validateResourceName,
  validateResourceQuantity,
} from './resource-list.ts';

const QUOTA_NAMES = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);
const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const COMPUTE = /^((requests|limits)\.)?(cpu|memory|ephemeral-storage)$/;
const LIMIT_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

function scopeFits(scope: string, name: string): boolean {
  if (scope === 'BestEffort') return name === 'pods';
  if (SCOPES.includes(scope)) return name === 'pods' || COMPUTE.test(name) || name.includes('hugepages-');
  return true;
}

function validateScopes(spec: Any): FieldError[] {
  const scopes = items(spec.scopes);
  const errors: FieldError[] = [];
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) errors.push(field.invalid('spec.scopes', scopes, 'unsupported scope'));
    for (const name of Object.keys(spec.hard ?? {}).sort()) {
      if (QUOTA_NAMES.has(name) && !scopeFits(scope, name)) {
        errors.push(field.invalid('spec.scopes', scopes, 'unsupported scope applied to resource'));
      }
    }
  }
  for (const pair of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ]) {
    if (pair.every((scope) => scopes.includes(scope))) {
      errors.push(field.invalid('spec.scopes', scopes, 'conflicting scopes'));
    }
  }
  return errors;
}

export function validateResourceQuota({ spec }: Any): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(spec?.hard ?? {})) {
    const here = `spec.hard[${name}]`;
    errors.push(...validateResourceName(name, here));
    const known = QUOTA_NAMES.has(name) || /^(requests\.)?hugepages-/.test(name);
    if (!name.includes('/') && !known) {
      errors.push(field.invalid(here, name, 'must be a standard resource for quota'));
    }
    errors.push(...validateResourceQuantity(name, value, here));
  }
  return [...errors, ...validateScopes(spec ?? {})];
}

export function validateResourceQuotaUpdate(object: Any, old: Any): FieldError[] {
  const errors = validateResourceQuota(object);
  const [now, before] = [items(object.spec?.scopes), items(old.spec?.scopes)];
  if ([...now].sort().join() !== [...before].sort().join()) {
    errors.push(field.invalid('spec.scopes', now, 'field is immutable'));
  }
  return errors;
}

/** Pairs of lists where the first may not be above the second, and how that is said. */
const ORDER: Array<{
  low: string;
  high: string;
  at: string;
  shown: string;
  text: (low: string, high: string) => string;
}> = [
  { low: 'min', high: 'max', at: 'min', shown: 'min', text: (a, b) => `min value ${a} is greater than max value ${b}` },
  {
    low: 'min',
    high: 'defaultRequest',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    text: (a, b) => `min value ${a} is greater than default request value ${b}`,
  },
  {
    low: 'defaultRequest',
    high: 'max',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    text: (a, b) => `default request value ${a} is greater than max value ${b}`,
  },
  {
    low: 'defaultRequest',
    high: 'default',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    text: (a, b) => `default request value ${a} is greater than default limit value ${b}`,
  },
  {
    low: 'min',
    high: 'default',
    at: 'default',
    shown: 'min',
    text: (a, b) => `min value ${a} is greater than default value ${b}`,
  },
  {
    low: 'default',
    high: 'max',
    at: 'default',
    shown: 'max',
    text: (a, b) => `default value ${a} is greater than max value ${b}`,
  },
];

function validateLimitName(type: string, name: string, path: string): FieldError[] {
  return type === 'PersistentVolumeClaim'
    ? validateResourceName(name, path)
    : validateContainerResourceName(name, path);
}

function validateLimit(limit: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];
  const names = new Set<string>();
  for (const list of lists) {
    if (limit.type === 'Pod' && list.startsWith('default')) {
      if (Object.keys(limit[list] ?? {}).length) {
        errors.push(field.forbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'"));
      }
      continue;
    }
    for (const name of Object.keys(limit[list] ?? {})) {
      errors.push(...validateLimitName(limit.type, name, `${path}.${list}[${name}]`));
      names.add(name);
    }
  }
  if (limit.type === 'PersistentVolumeClaim' && !limit.min?.storage && !limit.max?.storage) {
    const text = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(field.required(`${path}.limits`, text));
  }
  for (const name of names) {
    const value = (list: string): Quantity | undefined => readQuantity(limit[list]?.[name]);
    for (const rule of ORDER) {
      const [low, high, shown] = [value(rule.low), value(rule.high), value(rule.shown)];
      if (!low || !high || !shown || compareQuantity(low, high) <= 0) continue;
      const text = rule.text(formatQuantity(low), formatQuantity(high));
      errors.push(field.invalid(`${path}.${rule.at}[${name}]`, formatQuantity(shown), text));
    }
    const ratio = value('maxLimitRequestRatio');
    if (ratio && compareQuantity(ratio, wholeQuantity(1)) < 0) {
      const text = formatQuantity(ratio);
      errors.push(field.invalid(`${path}.maxLimitRequestRatio[${name}]`, text, `ratio ${text} is less than 1`));
    }
  }
  return errors;
}

export function validateLimitRange({ spec }: Any): FieldError[] {
  const errors: FieldError[] = [];
  const types = new Set<string>();
  for (const [index, limit] of items(spec?.limits).entries()) {
    const here = `spec.limits[${index}]`;
    const type = limit.type ?? '';
    const problems = qualified(type, `${here}.type`);
    errors.push(...problems);
    if (problems.length === 0 && !type.includes('/') && !LIMIT_TYPES.includes(type)) {
      errors.push(field.invalid(`${here}.type`, type, 'must be a standard limit type or fully qualified'));
    }
    if (types.has(type)) errors.push(field.duplicate(`${here}.type`, type));
    types.add(type);
    errors.push(...validateLimit(limit, here));
  }
  return errors;
}
