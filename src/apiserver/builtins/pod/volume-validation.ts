/** Volumes of a pod: one source each, with what that source needs. */

import { own } from '../../json.ts';
import { type FieldError, field } from '../../status.ts';
import { label } from '../checks.ts';
import { type Any, items } from '../fields.ts';
import { readQuantity } from '../resource-list.ts';
import { VOLUME_FIELDS, validateFieldRef, validateResourceFieldRef } from './env-validation.ts';

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';
const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** Order of upstream's checks: which source is named as the second depends on it. */
const SOURCES = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
];

/** Fields a source cannot do without. */
const REQUIRED: Record<string, string[]> = {
  secret: ['secretName'],
  configMap: ['name'],
  persistentVolumeClaim: ['claimName'],
  nfs: ['server', 'path'],
  csi: ['driver'],
  gitRepo: ['repository'],
  hostPath: ['path'],
  ephemeral: ['volumeClaimTemplate'],
};

function mode(value: Any, path: string): FieldError[] {
  return typeof value === 'number' && (value < 0 || value > 0o777) ? [field.invalid(path, value, MODE)] : [];
}

export function noBacksteps(value: string, path: string): FieldError[] {
  return value.split('/').includes('..') ? [field.invalid(path, value, "must not contain '..'")] : [];
}

export function descendingPath(value: string, path: string): FieldError[] {
  const absolute = value.startsWith('/') ? [field.invalid(path, value, 'must be a relative path')] : [];
  return [...absolute, ...noBacksteps(value, path)];
}

function localPath(value: string, path: string): FieldError[] {
  const errors = descendingPath(value, path);
  if (value.startsWith('..') && !value.startsWith('../')) {
    errors.push(field.invalid(path, value, "must not start with '..'"));
  }
  return errors;
}

function keyToPath(item: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!item.key) errors.push(field.required(`${path}.key`));
  if (!item.path) errors.push(field.required(`${path}.path`));
  errors.push(...localPath(item.path ?? '', `${path}.path`), ...mode(item.mode, `${path}.mode`));
  return errors;
}

function downwardFile(file: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!file.path) errors.push(field.required(`${path}.path`));
  errors.push(...localPath(file.path ?? '', `${path}.path`));
  if (file.fieldRef) {
    errors.push(...validateFieldRef(file.fieldRef, VOLUME_FIELDS, `${path}.fieldRef`));
    if (file.resourceFieldRef) {
      errors.push(field.invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    }
  } else if (file.resourceFieldRef) {
    errors.push(...validateResourceFieldRef(file.resourceFieldRef, `${path}.resourceFieldRef`, true));
  } else errors.push(field.required(path, 'one of fieldRef and resourceFieldRef is required'));
  errors.push(...mode(file.mode, `${path}.mode`));
  return errors;
}

function projected(source: Any, path: string): FieldError[] {
  const errors = mode(source.defaultMode, `${path}.defaultMode`);
  const paths = new Set<string>();
  const claim = (value: string, shown: unknown) => {
    if (!value) return;
    if (paths.has(value)) errors.push(field.invalid(path, shown, 'conflicting duplicate paths'));
    paths.add(value);
  };
  for (const [index, one] of items(source.sources).entries()) {
    const here = `${path}.sources[${index}]`;
    let count = 0;
    for (const kind of ['secret', 'configMap']) {
      if (!one[kind]) continue;
      count++;
      if (!one[kind].name) errors.push(field.required(`${here}.${kind}.name`));
      for (const [at, item] of items(one[kind].items).entries()) {
        errors.push(...keyToPath(item, `${here}.${kind}.items[${at}]`));
        claim(item.path, one[kind].name);
      }
    }
    if (one.downwardAPI) {
      count++;
      for (const file of items(one.downwardAPI.items)) {
        errors.push(...downwardFile(file, `${here}.downwardAPI`));
        claim(file.path, file.path);
      }
    }
    if (one.serviceAccountToken) {
      count++;
      const { expirationSeconds: seconds, path: target } = one.serviceAccountToken;
      const at = `${here}.serviceAccountToken.expirationSeconds`;
      if (seconds < 600) errors.push(field.invalid(at, seconds, 'may not specify a duration less than 10 minutes'));
      if (seconds > 2 ** 32) {
        errors.push(field.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
      }
      if (!target) errors.push(field.required(`${path}.path`));
    }
    if (one.clusterTrustBundle || one.podCertificate) count++;
    if (count > 1) errors.push(field.forbidden(here, 'may not specify more than 1 volume type per source'));
  }
  return errors;
}

function validateSource(name: string, source: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const required of own(REQUIRED, name) ?? [])
    if (!source[required]) errors.push(field.required(`${path}.${required}`));
  if (name === 'hostPath' && source.path) {
    errors.push(...noBacksteps(source.path, `${path}.path`));
    if (!HOST_PATH_TYPES.includes(source.type ?? '')) {
      errors.push(field.notSupported(`${path}.type`, source.type, HOST_PATH_TYPES));
    }
  }
  if (name === 'emptyDir') {
    const limit = readQuantity(source.sizeLimit);
    if (source.sizeLimit !== undefined && (!limit || limit.nano < 0n)) {
      errors.push(field.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'));
    }
  }
  if (name === 'secret' || name === 'configMap') {
    errors.push(...mode(source.defaultMode, `${path}.defaultMode`));
    for (const [at, item] of items(source.items).entries()) errors.push(...keyToPath(item, `${path}.items[${at}]`));
  }
  if (name === 'downwardAPI') {
    errors.push(...mode(source.defaultMode, `${path}.defaultMode`));
    for (const file of items(source.items)) errors.push(...downwardFile(file, path));
  }
  if (name === 'projected') errors.push(...projected(source, path));
  if (name === 'nfs' && source.path && !source.path.startsWith('/')) {
    errors.push(field.invalid(`${path}.path`, source.path, 'must be an absolute path'));
  }
  return errors;
}

/** Checks all volumes; the names of the valid ones are what mounts may refer to. */
export function validateVolumes(volumes: Any, path: string): { names: Map<string, Any>; errors: FieldError[] } {
  const names = new Map<string, Any>();
  const errors: FieldError[] = [];
  for (const [index, volume] of items(volumes).entries()) {
    const here = `${path}[${index}]`;
    const own: FieldError[] = [];
    const given = SOURCES.filter((source) => volume[source]);
    for (const [order, source] of given.entries()) {
      if (order > 0) own.push(field.forbidden(`${here}.${source}`, 'may not specify more than 1 volume type'));
      else own.push(...validateSource(source, volume[source], `${here}.${source}`));
    }
    if (given.length === 0) own.push(field.required(here, 'must specify a volume type'));
    if (!volume.name) own.push(field.required(`${here}.name`));
    else own.push(...label(volume.name, `${here}.name`));
    if (names.has(volume.name)) own.push(field.duplicate(`${here}.name`, volume.name));
    if (own.length === 0) names.set(volume.name, volume);
    errors.push(...own);
  }
  return { names, errors };
}
