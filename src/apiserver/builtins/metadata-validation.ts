/**
 * What every object's metadata must satisfy, built-in or custom (k8s.io/apimachinery/pkg/api/validation/objectmeta.go).
 * Names are checked after generateName did its work.
 */
import type { ObjectMeta, OwnerReference } from '../../api/object.ts';
import { type FieldError, field } from '../status.ts';
import {
  byteLength,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  pathSegment,
  qualifiedName,
} from './names.ts';

export type NameKind = 'subdomain' | 'label' | 'label1035' | 'pathSegment';

const nameChecks: Record<NameKind, (name: string) => string[]> = {
  subdomain: dns1123Subdomain,
  label: dns1123Label,
  label1035: dns1035Label,
  pathSegment,
};

const ANNOTATIONS_LIMIT = 256 * 1024;

export interface MetaRules {
  namespaced: boolean;
  nameKind?: NameKind;
  /** Built-in kinds take only known or qualified finalizers. */
  builtin?: boolean;
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

export function validateObjectMeta(meta: ObjectMeta, rules: MetaRules, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  const check = nameChecks[rules.nameKind ?? 'subdomain'];
  if (meta.generateName) {
    // What generation appends makes a trailing dash harmless.
    const prefix = rules.nameKind === 'pathSegment' ? meta.generateName : maskTrailingDash(meta.generateName);
    for (const text of check(prefix)) errors.push(field.invalid(`${path}.generateName`, meta.generateName, text));
  }
  if (!meta.name) errors.push(field.required(`${path}.name`, 'name or generateName is required'));
  else for (const text of check(meta.name)) errors.push(field.invalid(`${path}.name`, meta.name, text));

  if (rules.namespaced) {
    if (!meta.namespace) errors.push(field.required(`${path}.namespace`));
    else {
      for (const text of dns1123Label(meta.namespace)) {
        errors.push(field.invalid(`${path}.namespace`, meta.namespace, text));
      }
    }
  } else if (meta.namespace) {
    errors.push(field.forbidden(`${path}.namespace`, 'not allowed on this type'));
  }
  if ((meta.generation ?? 0) < 0) {
    errors.push(field.invalid(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'));
  }
  errors.push(...validateShared(meta, path), ...validateFinalizers(meta.finalizers ?? [], `${path}.finalizers`));
  if (rules.builtin) {
    for (const [index, name] of (meta.finalizers ?? []).entries()) {
      if (name.includes('/') || STANDARD_FINALIZERS.has(name)) continue;
      const text = 'name is neither a standard finalizer name nor is it fully qualified';
      errors.push(field.invalid(`${path}.finalizers[${index}]`, name, text));
    }
  }
  return errors;
}

export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) {
    const extra = (meta.finalizers ?? []).filter((name) => !old.finalizers?.includes(name)).sort();
    if (extra.length) {
      const listed = `[]string{${extra.map((name) => JSON.stringify(name)).join(', ')}}`;
      errors.push(
        field.forbidden(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${listed}`,
        ),
      );
    }
  }
  if (!meta.resourceVersion) {
    errors.push(field.invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(field.invalid(`${path}.generation`, meta.generation ?? 0, 'must not be decremented'));
  }
  for (const name of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const) {
    if ((meta[name] ?? '') !== (old[name] ?? '')) {
      errors.push(field.invalid(`${path}.${name}`, meta[name] ?? null, 'field is immutable'));
    }
  }
  if ((meta.deletionGracePeriodSeconds ?? null) !== (old.deletionGracePeriodSeconds ?? null)) {
    const path_ = `${path}.deletionGracePeriodSeconds`;
    errors.push(field.invalid(path_, meta.deletionGracePeriodSeconds ?? null, 'field is immutable'));
  }
  errors.push(...validateShared(meta, path));
  return errors;
}

function validateShared(meta: ObjectMeta, path: string): FieldError[] {
  return [
    ...validateLabels(meta.labels ?? {}, `${path}.labels`),
    ...validateAnnotations(meta.annotations ?? {}, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences ?? [], `${path}.ownerReferences`),
  ];
}

export function validateLabels(labels: Record<string, string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const text of qualifiedName(key)) errors.push(field.invalid(path, key, text));
    for (const text of labelValue(value ?? '')) errors.push(field.invalid(path, value, text));
  }
  return errors;
}

export function validateAnnotations(annotations: Record<string, string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    size += byteLength(key) + byteLength(value ?? '');
    for (const text of qualifiedName(key.toLowerCase())) errors.push(field.invalid(path, key, text));
  }
  if (size > ANNOTATIONS_LIMIT) errors.push(field.tooLong(path, ANNOTATIONS_LIMIT));
  return errors;
}

export function validateFinalizers(finalizers: string[], path: string): FieldError[] {
  const errors = finalizers.flatMap((name) => qualifiedName(name).map((text) => field.invalid(path, name, text)));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(field.invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function validateOwnerReferences(references: OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of references) {
    const version = (reference.apiVersion ?? '').split('/').at(-1);
    if (!version) {
      errors.push(field.invalid(`${path}.apiVersion`, reference.apiVersion ?? '', 'version must not be empty'));
    }
    for (const name of ['kind', 'name', 'uid'] as const) {
      if (!reference[name]) errors.push(field.invalid(`${path}.${name}`, '', 'must not be empty'));
    }
    if (reference.apiVersion === 'v1' && reference.kind === 'Event') {
      errors.push(field.invalid(path, reference, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (!reference.controller) continue;
    const current = `${reference.kind}/${reference.name}`;
    if (controller) {
      const text = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(field.invalid(path, references, text));
    } else controller = current;
  }
  return errors;
}

function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}
