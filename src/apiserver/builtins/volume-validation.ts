/** PersistentVolumes and claims: what they must say, and that they stay what they were. */
import { type FieldError, field } from '../status.ts';
import { immutable, labelSelector, optionalOneOf, subdomain } from './checks.ts';
import { type Any, clone, items, same } from './fields.ts';
import { specDifference } from './pod/spec-difference.ts';
import { noBacksteps } from './pod/volume-validation.ts';
import { compareQuantity, ZERO } from './quantity.ts';
import { readQuantity, validateResourceQuantity } from './resource-list.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];
/** Fields of a PersistentVolume's spec that are no volume source. */
const PV_FIELDS = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function validateModes(modes: Any, required: FieldError): FieldError[] {
  const list = items(modes);
  if (list.length === 0) return [required];
  const path = 'spec.accessModes';
  const errors = list
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => field.notSupported(path, mode, ACCESS_MODES));
  const others = list.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (list.includes('ReadWriteOncePod') && others) {
    errors.push(field.forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

function positiveQuantity(value: Any, path: string): FieldError[] {
  const quantity = readQuantity(value);
  if (quantity && quantity.nano <= 0n) return [field.invalid(path, value, 'must be greater than zero')];
  return validateResourceQuantity('storage', value, path);
}

export function validateClaimSpec(spec: Any, path = 'spec'): FieldError[] {
  const required = field.required(`${path}.accessModes`, 'at least 1 access mode is required');
  const errors = validateModes(spec?.accessModes, required);
  errors.push(...labelSelector(spec?.selector, `${path}.selector`));
  const storage = spec?.resources?.requests?.storage;
  const here = `${path}.resources[storage]`;
  errors.push(...(storage === undefined ? [field.required(here)] : positiveQuantity(storage, here)));
  if (spec?.storageClassName) errors.push(...subdomain(spec.storageClassName, `${path}.storageClassName`));
  errors.push(...optionalOneOf(spec?.volumeMode, VOLUME_MODES, `${path}.volumeMode`));
  return errors;
}

export function validateClaim({ spec }: Any): FieldError[] {
  return validateClaimSpec(spec);
}

export function validateClaimUpdate(claim: Any, old: Any): FieldError[] {
  const errors = validateClaimSpec(claim.spec);
  const now = clone(claim.spec);
  const before = clone(old.spec ?? {});
  // A binder may fill these in once; a bound claim may grow.
  if (!before.volumeName && now.volumeName) before.volumeName = now.volumeName;
  if (before.storageClassName == null && now.storageClassName != null) before.storageClassName = now.storageClassName;
  if (claim.status?.phase === 'Bound') {
    if (now.resources?.requests) now.resources.requests.storage = before.resources?.requests?.storage;
    if (before.volumeAttributesClassName === undefined) delete now.volumeAttributesClassName;
    else now.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (!same(now, before)) {
    const text =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(field.forbidden('spec', `${text}\n${specDifference(before, now)}`));
  }
  const size = readQuantity(claim.spec?.resources?.requests?.storage) ?? ZERO;
  const oldSize = readQuantity(old.spec?.resources?.requests?.storage) ?? ZERO;
  const capacity = readQuantity(old.status?.capacity?.storage) ?? ZERO;
  if (compareQuantity(size, oldSize) < 0 && compareQuantity(size, capacity) <= 0) {
    errors.push(field.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  return [...errors, ...immutable(claim.spec?.volumeMode, old.spec?.volumeMode, 'volumeMode')];
}

const sourceOf = (spec: Any) =>
  Object.fromEntries(Object.entries(spec ?? {}).filter(([name, value]) => !PV_FIELDS.has(name) && value != null));

export function validatePersistentVolume({ spec }: Any): FieldError[] {
  const errors = validateModes(spec?.accessModes, field.required('spec.accessModes'));
  const capacity = spec?.capacity ?? {};
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(field.required('spec.capacity'));
  if (!('storage' in capacity) || names.length > 1) {
    errors.push(field.notSupported('spec.capacity', spec?.capacity ?? null, ['storage']));
  }
  for (const name of names) {
    const path = `spec.capacity[${name}]`;
    const quantity = readQuantity(capacity[name]);
    if (quantity && quantity.nano < 0n) {
      const whole = -Number(-quantity.nano / 1_000_000_000n);
      errors.push(field.invalid(path, whole, 'must be a valid resource quantity'));
    }
    errors.push(...positiveQuantity(capacity[name], path));
  }
  const policies = ['Delete', 'Recycle', 'Retain'];
  const policy = 'spec.persistentVolumeReclaimPolicy';
  if (spec?.persistentVolumeReclaimPolicy) {
    errors.push(...optionalOneOf(spec.persistentVolumeReclaimPolicy, policies, policy));
  }
  const sources = Object.entries<Any>(sourceOf(spec));
  for (const [order, [name, source]] of sources.entries()) {
    if (order > 0) {
      errors.push(field.forbidden(`spec.${name}`, 'may not specify more than 1 volume type'));
      continue;
    }
    if (name === 'hostPath') {
      if (!source.path) errors.push(field.required('spec.hostPath.path'));
      else errors.push(...noBacksteps(source.path, 'spec.hostPath.path'));
    }
    if (name === 'nfs') {
      if (!source.server) errors.push(field.required('spec.nfs.server'));
      if (!source.path) errors.push(field.required('spec.nfs.path'));
    }
    if (name === 'csi') {
      if (!source.driver) errors.push(field.required('spec.csi.driver'));
      if (!source.volumeHandle) errors.push(field.required('spec.csi.volumeHandle'));
    }
    if (name === 'local') {
      if (!source.path) errors.push(field.required('spec.local.path'));
      if (!spec.nodeAffinity?.required) {
        errors.push(field.required('spec.nodeAffinity', 'Local volume requires node affinity'));
      }
    }
  }
  if (sources.length === 0) errors.push(field.required('spec', 'must specify a volume type'));
  if (spec?.storageClassName) errors.push(...subdomain(spec.storageClassName, 'spec.storageClassName'));
  errors.push(...optionalOneOf(spec?.volumeMode, VOLUME_MODES, 'spec.volumeMode'));
  return errors;
}

export function validatePersistentVolumeUpdate(volume: Any, old: Any): FieldError[] {
  const errors = validatePersistentVolume(volume);
  const [now, before] = [sourceOf(volume.spec), sourceOf(old.spec)];
  if (!same(now, before)) {
    const text = 'spec.persistentvolumesource is immutable after creation';
    errors.push(field.forbidden('spec.persistentvolumesource', `${text}\n${specDifference(before, now)}`));
  }
  errors.push(...immutable(volume.spec?.volumeMode, old.spec?.volumeMode, 'volumeMode'));
  if (old.spec?.nodeAffinity)
    errors.push(...immutable(volume.spec?.nodeAffinity, old.spec.nodeAffinity, 'nodeAffinity'));
  return errors;
}
