/** Recording who manages which fields, and merging what is applied: by a worker thread where there is much to do. */
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts';
import { type ApplyRequest, applyConfiguration, checkConfiguration } from '../apply/apply-configuration.ts';
import { recordUpdate, type UpdateRequest } from '../apply/record-update.ts';
import { lookupIn } from '../apply/version-terms.ts';
import { NO_SUBJECT, offload } from '../offload/offload.ts';
import type { SchemaName } from '../offload/work.ts';
import type { WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import type { Schema } from '../schema/schema.ts';
import { inVersions } from './manager-versions.ts';

/** Bytes. Below this, either takes milliseconds at most. */
const SHORT = 16 * 1024;

export function recorded(
  resource: Resource,
  request: Omit<UpdateRequest, 'schema' | 'versions'>,
  { size = 0, scope }: WriteOptions,
): Promise<ManagedFieldsEntry[] | undefined> {
  return inVersions(resource, request.live, (terms) => {
    const schema = resource.schema();
    const record = () => recordUpdate({ ...request, schema, versions: terms && lookupIn(terms) });
    if (size <= SHORT) return record();
    return offload(inOneStep(record), 'record', [...schemaOf(resource), request, terms], { scope });
  });
}

export function applied(
  resource: Resource,
  request: Omit<ApplyRequest, 'schema' | 'versions'>,
  { size = 0, scope }: WriteOptions,
): Promise<KubeObject> {
  return inVersions(resource, request.live, (terms) => {
    const schema = resource.schema();
    const apply = () => applyConfiguration({ ...request, schema, versions: terms && lookupIn(terms) });
    if (size <= SHORT) return apply();
    return offload(inOneStep(apply), 'apply', [...schemaOf(resource), request, terms], { scope });
  });
}

/** Throws where a configuration does not fit its schema. */
export async function checkApplied(resource: Resource, config: KubeObject, options: WriteOptions): Promise<void> {
  const { size = 0, scope } = options;
  const check = () => checkConfiguration(config, resource.schema());
  if (size <= SHORT) check();
  else await offload(inOneStep(check), 'checkConfiguration', [...schemaOf(resource), config], { scope });
}

/** How a worker thread gets the schema: it has those of built-in kinds, and keeps those of others. */
export function schemaOf(resource: Resource): [Schema, SchemaName | undefined] {
  if (resource.custom) return [resource.schema(), undefined];
  const { group, version, kind } = resource;
  return [NO_SUBJECT, { group, version, kind }];
}

// biome-ignore lint/correctness/useYield: what takes long is offloaded
function* inOneStep<T>(work: () => T): Generator<void, T> {
  return work();
}
