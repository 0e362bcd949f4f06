/** PATCH in its four forms. Without a resource version in the patch it is re-applied until it fits; never a 409. */
import type { KubeObject } from '../../api/object.ts';
import { resetFields } from '../apply/reset-fields.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { clone } from '../json.ts';
import { offloadNow } from '../offload/offload.ts';
import type { Patch, WriteOptions } from '../operations.ts';
import { type PatchType, patched } from '../patch/patched.ts';
import type { Resource } from '../resource.ts';
import { badRequest, field, invalid, notFound, unsupportedMediaType } from '../status.ts';
import { isLarge, yieldTurn } from '../turns.ts';
import { change } from './change.ts';
import { checkKind, conform } from './conform.ts';
import { createByChange } from './create.ts';
import { APPLIED } from './draft.ts';
import { settleName, settleNamespace, subjectOf } from './metadata.ts';
import { applied, checkApplied, schemaOf } from './ownership.ts';
import { servedApiVersion } from './stored-form.ts';

type Written = { object: KubeObject; created: boolean };

export async function patch(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  name: string,
  patch: Patch,
  options: WriteOptions,
): Promise<Written> {
  if (patch.type === 'apply') return apply(context, resource, namespace, name, patch, options);
  checkPatchType(resource, patch);
  const changed = await change(
    context,
    resource,
    namespace,
    name,
    async (live, size) => {
      const object = await withPatch(resource, live, patch, { ...options, size: Math.max(size, options.size ?? 0) });
      checkKind(resource, object);
      await yieldTurn(size, options.scope);
      await conform(resource, object, options, options.duplicates, 'patch');
      settleNamespace(resource, object, namespace);
      settleName(object, name);
      checkUid(resource, object, live);
      return { object, options };
    },
    options.scope,
  );
  if (!changed) throw notFound(subjectOf(resource, name));
  return { object: changed, created: false };
}

/** A PUT for another uid is a conflict; a patch that would change it is invalid. */
function checkUid(resource: Resource, object: KubeObject, live: KubeObject): void {
  const { uid, name = '' } = object.metadata;
  if (!uid || uid === live.metadata.uid) return;
  throw invalid(resource.group, resource.kind, name, [field.invalid('metadata.uid', uid, 'field is immutable')]);
}

/** There is no strategic merge for kinds whose merge keys nobody declared. */
function checkPatchType(resource: Resource, { type }: Patch): void {
  if (type !== 'strategic' || !resource.custom) return;
  throw unsupportedMediaType([
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
}

function withPatch(
  resource: Resource,
  live: KubeObject,
  { type, body }: Patch,
  { size, scope }: WriteOptions,
): KubeObject | Promise<KubeObject> {
  if (!isLarge(size)) return patched(type as PatchType, live, body, resource.schema());
  return offloadNow('patch', [...schemaOf(resource), type as PatchType, live, body], scope);
}

/** An applied configuration must say what it is. */
function checkType(resource: Resource, { apiVersion, kind }: KubeObject): void {
  if (apiVersion === servedApiVersion(resource) && kind === resource.kind) return;
  const type = `${apiVersion ?? ''}`;
  throw badRequest(`invalid object type: ${type.includes('/') ? type : `/${type}`}, Kind=${kind ?? ''}`);
}

async function apply(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  name: string,
  patch: Patch,
  options: WriteOptions,
): Promise<Written> {
  if (!options.fieldManager) {
    throw badRequest(
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  }
  const config = clone(patch.body) as KubeObject;
  checkType(resource, config);
  checkKind(resource, config);
  const named = config.metadata.name;
  await yieldTurn(options.size, options.scope);
  await checkApplied(resource, config, options);
  await yieldTurn(options.size, options.scope);
  await conform(resource, config, options, options.duplicates, 'apply');
  settleNamespace(resource, config, namespace);
  config.metadata.name ??= name;
  settleName(config, name);
  const merged = (live: KubeObject | undefined, stored = 0) => {
    const request = {
      live,
      config,
      manager: options.fieldManager as string,
      apiVersion: servedApiVersion(resource),
      subresource: options.subresource ?? '',
      structs: !resource.custom,
      reset: resetFields(resource, options.subresource ?? ''),
      kind: resource.kind,
      force: patch.force ?? false,
      now: context.clock.now(),
    };
    return applied(resource, request, { ...options, size: Math.max(stored, options.size ?? 0) });
  };
  const settled: WriteOptions = { ...options, fieldManager: APPLIED };
  const changed = await change(
    context,
    resource,
    namespace,
    name,
    async (live, size) => ({
      object: await merged(live, size),
      options: settled,
    }),
    options.scope,
  );
  if (changed) return { object: changed, created: false };
  if (options.subresource) throw notFound(subjectOf(resource, name));
  if (!named) settleName({ ...config, metadata: {} }, name);
  return {
    object: await createByChange(context, resource, namespace, await merged(undefined), settled),
    created: true,
  };
}
