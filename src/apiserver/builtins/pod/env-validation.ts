/** Environment of a container, and the references both env and volumes make to the pod's own fields. */
import { type FieldError, field } from '../../status.ts';
import { qualified, subdomain } from '../checks.ts';
import { type Any, items } from '../fields.ts';
import { configMapKey, envVarName } from '../names.ts';

export const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
export const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
/** Known to the pod but not to every user of the check: the error then is "not supported", not "not converted". */
const KNOWN_FIELDS = new Set([...ENV_FIELDS, ...VOLUME_FIELDS, 'spec.restartPolicy', 'status.phase']);

export function validateFieldRef(ref: Any, allowed: string[], path: string): FieldError[] {
  if (!ref.apiVersion) return [field.required(`${path}.apiVersion`)];
  if (!ref.fieldPath) return [field.required(`${path}.fieldPath`)];
  const subscript = /^(.*)\['(.*)'\]$/.exec(ref.fieldPath);
  if (subscript) {
    const [, base = '', key = ''] = subscript;
    if (base === 'metadata.annotations') return qualified(key.toLowerCase(), path);
    if (base === 'metadata.labels') return qualified(key, path);
    return [
      field.invalid(
        `${path}.fieldPath`,
        ref.fieldPath,
        `error converting fieldPath: field label does not support subscript: ${ref.fieldPath}`,
      ),
    ];
  }
  if (!KNOWN_FIELDS.has(ref.fieldPath)) {
    const text = `error converting fieldPath: field label not supported: ${ref.fieldPath}`;
    return [field.invalid(`${path}.fieldPath`, ref.fieldPath, text)];
  }
  return allowed.includes(ref.fieldPath) ? [] : [field.notSupported(`${path}.fieldPath`, ref.fieldPath, allowed)];
}

export function validateResourceFieldRef(ref: Any, path: string, volume: boolean): FieldError[] {
  if (volume && !ref.containerName) return [field.required(`${path}.containerName`)];
  if (!ref.resource) return [field.required(`${path}.resource`)];
  const hugepages = /^(limits|requests)\.hugepages-/.test(ref.resource);
  if (RESOURCE_FIELDS.includes(ref.resource) || hugepages) return [];
  return [field.notSupported(`${path}.resource`, ref.resource, RESOURCE_FIELDS)];
}

function validateKeyRef(ref: Any, path: string): FieldError[] {
  const errors = subdomain(ref.name ?? '', `${path}.name`);
  if (!ref.key) errors.push(field.required(`${path}.key`));
  else for (const text of configMapKey(ref.key)) errors.push(field.invalid(`${path}.key`, ref.key, text));
  return errors;
}

function validateValueFrom(env: Any, path: string): FieldError[] {
  const from = env.valueFrom;
  if (!from) return [];
  const errors: FieldError[] = [];
  if (from.fieldRef) errors.push(...validateFieldRef(from.fieldRef, ENV_FIELDS, `${path}.fieldRef`));
  if (from.resourceFieldRef) {
    errors.push(...validateResourceFieldRef(from.resourceFieldRef, `${path}.resourceFieldRef`, false));
  }
  if (from.configMapKeyRef) errors.push(...validateKeyRef(from.configMapKeyRef, `${path}.configMapKeyRef`));
  if (from.secretKeyRef) errors.push(...validateKeyRef(from.secretKeyRef, `${path}.secretKeyRef`));
  const count = Object.values(from).filter(Boolean).length;
  if (count === 0) {
    const text =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.push(field.invalid(path, '', text));
  } else if (env.value) errors.push(field.invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) errors.push(field.invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}

export function validateEnv(container: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, env] of items(container.env).entries()) {
    const here = `${path}.env[${index}]`;
    if (!env.name) errors.push(field.required(`${here}.name`));
    else for (const text of envVarName(env.name)) errors.push(field.invalid(`${here}.name`, env.name, text));
    errors.push(...validateValueFrom(env, `${here}.valueFrom`));
  }
  for (const [index, source] of items(container.envFrom).entries()) {
    const here = `${path}.envFrom[${index}]`;
    if (source.prefix) {
      for (const text of envVarName(source.prefix)) errors.push(field.invalid(`${here}.prefix`, source.prefix, text));
    }
    const refs = ['configMapRef', 'secretRef'].filter((name) => source[name]);
    for (const name of refs) {
      if (!source[name].name) errors.push(field.required(`${here}.${name}.name`));
      else errors.push(...subdomain(source[name].name, `${here}.${name}.name`));
    }
    if (refs.length === 0) {
      errors.push(field.invalid(`${path}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (refs.length > 1) {
      errors.push(field.invalid(`${path}.envFrom`, '', 'may not have more than one field specified at a time'));
    }
  }
  return errors;
}
