/** The security settings of a whole pod: who its processes are, and which kernel settings it asks for. */
import { type FieldError, field } from '../../status.ts';
import { optionalOneOf } from '../checks.ts';
import { type Any, items } from '../fields.ts';
import { byteLength, rangeText } from '../names.ts';

const MAX_ID = 2147483647;
const SYSCTL_LENGTH = 253;
const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SEGMENT}[\\./])*${SEGMENT}$`;

export function validatePodSecurityContext(context: Any, path: string): FieldError[] {
  if (!context) return [];
  const errors: FieldError[] = [];
  const checkId = (id: Any, at: string): void => {
    if (typeof id === 'number' && (id < 0 || id > MAX_ID)) errors.push(field.invalid(at, id, rangeText(0, MAX_ID)));
  };
  for (const name of ['fsGroup', 'runAsUser', 'runAsGroup']) checkId(context[name], `${path}.${name}`);
  for (const [index, id] of items(context.supplementalGroups).entries()) {
    checkId(id, `${path}.supplementalGroups[${index}]`);
  }
  errors.push(...validateSysctls(context.sysctls, `${path}.sysctls`));
  const choices = {
    fsGroupChangePolicy: ['Always', 'OnRootMismatch'],
    supplementalGroupsPolicy: ['Merge', 'Strict'],
    seLinuxChangePolicy: ['MountOption', 'Recursive'],
  };
  for (const [name, supported] of Object.entries(choices)) {
    errors.push(...optionalOneOf(context[name], supported, `${path}.${name}`));
  }
  return errors;
}

function validateSysctls(sysctls: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { name = '' }] of items(sysctls).entries()) {
    const here = `${path}[${index}].name`;
    if (!name) errors.push(field.required(here));
    else if (byteLength(name) > SYSCTL_LENGTH || !new RegExp(SYSCTL).test(name)) {
      const text = `must have at most ${SYSCTL_LENGTH} characters and match regex ${SYSCTL}`;
      errors.push(field.invalid(here, name, text));
    } else if (seen.has(name)) errors.push(field.duplicate(here, name));
    seen.add(name);
  }
  return errors;
}
