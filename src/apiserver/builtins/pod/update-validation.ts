/** Which parts of a running pod may change: images, deadline, new tolerations, fewer gates (ValidatePodUpdate). */
import { type FieldError, field } from '../../status.ts';
import { type Any, clone, items, same } from '../fields.ts';
import { rangeText } from '../names.ts';
import { specDifference } from './spec-difference.ts';
import { validatePodOnly } from './validation.ts';

const MAX_INT32 = 2147483647;
const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function validateList(list: 'containers' | 'initContainers', pod: Any, old: Any): FieldError[] {
  const now = items(pod.spec[list]);
  if (now.length !== items(old.spec[list]).length) {
    return [field.forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
  }
  return now.flatMap((container, index) => (container.image ? [] : [field.required(`spec.${list}[${index}].image`)]));
}

function validateDeadline(now: Any, before: Any): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  if (now != null) {
    if (now < 0 || now > MAX_INT32) return [field.invalid(path, now, rangeText(0, MAX_INT32))];
    if (before != null && before < now)
      return [field.invalid(path, now, 'must be less than or equal to previous value')];
  } else if (before != null) {
    return [field.invalid(path, null, 'must not update from a positive integer to nil value')];
  }
  return [];
}

/** Existing tolerations stay (only their seconds may change), new ones may come. */
function onlyAddedTolerations(now: Any[], before: Any[]): FieldError[] {
  const bare = ({ tolerationSeconds: _, ...rest }: Any) => rest;
  const kept = before.every((old) => now.some((toleration) => same(bare(old), bare(toleration))));
  if (kept) return [];
  return [field.forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function onlyDeletedGates(now: Any[], before: Any[]): FieldError[] {
  const extra = now.filter((gate) => !before.some((old) => old.name === gate.name)).map((gate) => gate.name);
  if (extra.length === 0) return [];
  return [
    field.forbidden(
      'spec.schedulingGates',
      `only deletion is allowed, but found new scheduling gates '${extra.join(',')}'`,
    ),
  ];
}

/** The new spec with every allowed change taken back. */
function munged(pod: Any, old: Any): Any {
  const spec = clone(pod.spec);
  const before = old.spec;
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of items(spec[list]).entries()) container.image = before[list][index]?.image;
  }
  for (const name of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) {
    if (before[name] === undefined) delete spec[name];
    else spec[name] = before[name];
  }
  if (before.terminationGracePeriodSeconds < 0 && spec.terminationGracePeriodSeconds === 1) {
    spec.terminationGracePeriodSeconds = before.terminationGracePeriodSeconds;
  }
  // A pod that is still gated may get a narrower place to run.
  if (items(before.schedulingGates).length) {
    if (before.nodeSelector === undefined) delete spec.nodeSelector;
    else spec.nodeSelector = before.nodeSelector;
    if (before.affinity === undefined) delete spec.affinity;
    else spec.affinity = before.affinity;
  }
  return spec;
}

export function validatePodUpdate(pod: Any, old: Any): FieldError[] {
  const unchanged = same(pod.spec, old.spec);
  // A spec that was accepted once is not judged again.
  if (unchanged) return [];
  const errors = validatePodOnly(pod);
  for (const list of ['containers', 'initContainers'] as const) {
    const found = validateList(list, pod, old);
    errors.push(...found);
    if (found.some((error) => error.type === 'FieldValueForbidden')) return errors;
  }
  errors.push(...validateDeadline(pod.spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds));
  errors.push(...onlyAddedTolerations(items(pod.spec.tolerations), items(old.spec.tolerations)));
  errors.push(...onlyDeletedGates(items(pod.spec.schedulingGates), items(old.spec.schedulingGates)));
  const spec = munged(pod, old);
  if (!same(spec, old.spec)) {
    const text = `pod updates may not change fields other than ${UPDATABLE.join(',')}`;
    errors.push(field.forbidden('spec', `${text}\n${specDifference(old.spec, spec)}`));
  }
  return errors;
}

/** Ephemeral containers come and stay: each needs a name of its own, and none that is there may change. */
export function validateEphemeralContainersUpdate(pod: Any, old: Any): FieldError[] {
  const errors = validatePodOnly(pod);
  const path = 'spec.ephemeralContainers';
  const names = new Set([...items(pod.spec.containers), ...items(pod.spec.initContainers)].map((c) => c.name));
  const now = items(pod.spec.ephemeralContainers);
  for (const [index, container] of now.entries()) {
    if (names.has(container.name)) errors.push(field.duplicate(`${path}[${index}].name`, container.name));
    names.add(container.name);
  }
  for (const before of items(old.spec.ephemeralContainers)) {
    const after = now.find((container) => container.name === before.name);
    const name = JSON.stringify(before.name);
    if (!after) errors.push(field.forbidden(path, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!same(after, before)) {
      errors.push(field.forbidden(path, `existing ephemeral containers ${name} may not be changed\n`));
    }
  }
  return errors;
}
