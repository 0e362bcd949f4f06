/** What a job makes of pods that fail (batch/validation: validatePodFailurePolicy). */
import { type FieldError, field } from '../status.ts';
import { qualified } from './checks.ts';
import { type Any, items } from './fields.ts';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MOST_RULES = 20;
const MOST_EXIT_CODES = 255;
const MOST_CONDITIONS = 20;

export function validateFailurePolicy(spec: Any, path: string): FieldError[] {
  const rules = items(spec.podFailurePolicy.rules);
  const errors = atMost(rules, MOST_RULES, `${path}.rules`);
  const pod = spec.template?.spec ?? {};
  const names = [...items(pod.containers), ...items(pod.initContainers)].map((container) => container.name);
  for (const [index, rule] of rules.entries())
    errors.push(...validateRule(spec, rule, names, `${path}.rules[${index}]`));
  return errors;
}

function validateRule(spec: Any, rule: Any, names: string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (rule.action === 'FailIndex') {
    if (spec.backoffLimitPerIndex == null) {
      errors.push(field.invalid(`${path}.action`, rule.action, 'requires the backoffLimitPerIndex to be set'));
    }
  } else errors.push(...chosen(rule.action, ACTIONS, `${path}.action`));
  const conditions = items(rule.onPodConditions);
  if (rule.onExitCodes) errors.push(...validateExitCodes(rule.onExitCodes, names, `${path}.onExitCodes`));
  errors.push(...atMost(conditions, MOST_CONDITIONS, `${path}.onPodConditions`));
  for (const [index, { type, status }] of conditions.entries()) {
    const here = `${path}.onPodConditions[${index}]`;
    errors.push(...qualified(type ?? '', `${here}.type`), ...chosen(status, STATUSES, `${here}.status`));
  }
  if (rule.onExitCodes && conditions.length > 0) {
    errors.push(field.invalidAsIs(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!rule.onExitCodes && conditions.length === 0) {
    errors.push(field.invalidAsIs(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
}

function validateExitCodes({ operator, containerName, values }: Any, names: string[], path: string): FieldError[] {
  const errors = chosen(operator, OPERATORS, `${path}.operator`);
  if (containerName != null && !names.includes(containerName)) {
    const text = 'must be one of the container or initContainer names in the pod template';
    errors.push(field.invalid(`${path}.containerName`, containerName, text));
  }
  const codes: number[] = items(values);
  if (codes.length === 0)
    errors.push(field.invalid(`${path}.values`, values ?? null, 'at least one value is required'));
  errors.push(...atMost(codes, MOST_EXIT_CODES, `${path}.values`));
  for (const [index, code] of codes.entries()) {
    const here = `${path}.values[${index}]`;
    if (operator === 'In' && code === 0) errors.push(field.invalid(here, code, 'must not be 0 for the In operator'));
    if (codes.indexOf(code) < index) errors.push(field.duplicate(here, code));
  }
  if (codes.some((code, index) => index > 0 && (codes[index - 1] as number) > code)) {
    errors.push(field.invalid(`${path}.values`, codes, 'must be ordered'));
  }
  return errors;
}

function chosen(value: Any, supported: string[], path: string): FieldError[] {
  if (!value) {
    const quoted = supported.map((one) => JSON.stringify(one)).join(' ');
    return [field.required(path, `valid values: [${quoted}]`)];
  }
  return supported.includes(value) ? [] : [field.notSupported(path, value, supported)];
}

function atMost(list: unknown[], most: number, path: string): FieldError[] {
  return list.length > most ? [field.tooMany(path, list.length, most)] : [];
}
