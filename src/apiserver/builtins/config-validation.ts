/** ConfigMaps and Secrets: keys, size, what a Secret's type demands, and immutability. */

import { own } from '../json.ts';
import { type FieldError, field } from '../status.ts';
import { immutable } from './checks.ts';
import { type Any, same } from './fields.ts';
import { byteLength, configMapKey } from './names.ts';

const MAX_SIZE = 1024 * 1024;
const FROZEN = 'field is immutable when `immutable` is set';

/** The decoded size of base64 text. */
function base64Size(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

function validateKeys(map: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in map) {
    for (const text of configMapKey(key)) errors.push(field.invalid(`${path}[${key}]`, key, text));
  }
  return errors;
}

export function validateConfigMap(object: Any): FieldError[] {
  const { data = {}, binaryData = {} } = object;
  const errors = validateKeys(data, 'data');
  for (const key in binaryData) {
    if (data && Object.hasOwn(data, key)) {
      errors.push(field.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
  }
  errors.push(...validateKeys(binaryData, 'binaryData'));
  let size = 0;
  for (const key in data) size += byteLength(data[key] ?? '');
  for (const key in binaryData) size += base64Size(binaryData[key] ?? '');
  if (size > MAX_SIZE) errors.push(field.tooLong('[]', MAX_SIZE));
  return errors;
}

function frozen(object: Any, old: Any, names: string[]): FieldError[] {
  if (!old.immutable) return [];
  const errors = object.immutable ? [] : [field.forbidden('immutable', FROZEN)];
  for (const name of names) if (!same(object[name], old[name])) errors.push(field.forbidden(name, FROZEN));
  return errors;
}

export function validateConfigMapUpdate(object: Any, old: Any): FieldError[] {
  return [...frozen(object, old, ['data', 'binaryData']), ...validateConfigMap(object)];
}

/** Keys a type cannot do without. */
const REQUIRED: Record<string, string[]> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};
const ACCOUNT = 'kubernetes.io/service-account.name';

function validateType(secret: Any): FieldError[] {
  const { type, data } = secret;
  const has = (key: string) => data && Object.hasOwn(data, key);
  if (type === 'kubernetes.io/service-account-token') {
    return secret.metadata.annotations?.[ACCOUNT] ? [] : [field.required(`metadata.annotations[${ACCOUNT}]`)];
  }
  if (type === 'kubernetes.io/basic-auth') {
    const keys = ['username', 'password'];
    return keys.some(has) ? [] : keys.map((key) => field.required(`data[${key}]`));
  }
  const errors: FieldError[] = [];
  for (const key of own(REQUIRED, type) ?? []) {
    if (!has(key) || (type === 'kubernetes.io/ssh-auth' && !data[key])) errors.push(field.required(`data[${key}]`));
    else if (type.includes('docker')) errors.push(...validateJson(data[key], `data[${key}]`));
  }
  return errors;
}

function validateJson(text: string, path: string): FieldError[] {
  try {
    JSON.parse(Buffer.from(text ?? '', 'base64').toString('utf8'));
    return [];
  } catch {
    return [field.invalid(path, '<secret contents redacted>', 'invalid character in JSON')];
  }
}

export function validateSecret(object: Any): FieldError[] {
  const errors = validateKeys(object.data, 'data');
  let size = 0;
  for (const key in object.data) size += base64Size(object.data[key] ?? '');
  if (size > MAX_SIZE) errors.push(field.tooLong('data', MAX_SIZE));
  return [...errors, ...validateType(object)];
}

export function validateSecretUpdate(object: Any, old: Any): FieldError[] {
  return [...immutable(object.type, old.type, 'type'), ...frozen(object, old, ['data']), ...validateSecret(object)];
}
