/** How objects of the kind CustomResourceDefinition itself are written. */
import type { KubeObject } from '../../api/object.ts';
import { compileSteps } from '../cel/rules.ts';
import type { Strategy } from '../resource.ts';
import { someSchema } from '../schema/children.ts';
import { formatCheck } from '../schema/formats.ts';
import { CLEANUP_FINALIZER, type Crd } from './crd.ts';
import { validateCrd } from './validate.ts';

export const crdStrategy: Strategy = {
  requireResourceVersion: true,
  defaults(object) {
    const spec = (object as Crd).spec;
    if (!spec) return;
    const names = spec.names;
    if (names) {
      if (!names.singular) names.singular = (names.kind ?? '').toLowerCase();
      if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
    }
    spec.conversion ??= { strategy: 'None' };
    const service = spec.conversion.webhook?.clientConfig?.service;
    if (service) service.port ??= 443;
  },
  prepareCreate(object) {
    object.status = { storedVersions: [] };
    addStorageVersion(object as Crd);
    holdForCleanup(object);
  },
  prepareUpdate(object, old) {
    if (old.status) object.status = structuredClone(old.status);
    else delete object.status;
    addStorageVersion(object as Crd);
    if (!old.metadata.deletionTimestamp) holdForCleanup(object);
  },
  prepareSubresource(_subresource, object, old) {
    object.spec = structuredClone(old.spec);
  },
  *ready(object) {
    // Compiling takes a fraction of a millisecond per rule, and there may be thousands.
    for (const { schema } of (object as Crd).spec?.versions ?? []) {
      if (schema?.openAPIV3Schema) yield* compileSteps(schema.openAPIV3Schema);
    }
  },
  validate: (object) => validateCrd(object as Crd),
  validateUpdate: (object, old) => validateCrd(object as Crd, old as Crd),
  warnings(object, old) {
    const known = new Set(old ? unknownFormats(old as Crd) : []);
    return unknownFormats(object as Crd)
      .filter((format) => !known.has(format))
      .map((format) => `unrecognized format ${JSON.stringify(format)}`);
  },
};

/** Versions objects may be stored in are remembered until someone migrated them away. */
function addStorageVersion(crd: Crd): void {
  const storage = crd.spec?.versions?.find((v) => v.storage)?.name;
  if (storage === undefined) return;
  crd.status ??= {};
  crd.status.storedVersions ??= [];
  if (!crd.status.storedVersions.includes(storage)) crd.status.storedVersions.push(storage);
}

/** Upstream adds this finalizer when deletion starts; there is no such moment here, so it is there from the start. */
function holdForCleanup(object: KubeObject): void {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) object.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
}

function unknownFormats(crd: Crd): string[] {
  const found: string[] = [];
  for (const version of crd.spec?.versions ?? []) {
    const schema = version.schema?.openAPIV3Schema;
    if (!schema) continue;
    someSchema(schema, (s) => {
      if (s.format && s.type === 'string' && !formatCheck(s.format)) found.push(s.format);
      return false;
    });
  }
  return found;
}
