/** PATCH in its four forms. Without a resource version in the patch it is re-applied until it fits; never a 409. */
import type { KubeObject } from '../../api/object.ts';
import { applyConfiguration, checkConfiguration } from '../apply/apply-configuration.ts';
import { resetFields } from '../apply/reset-fields.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { clone } from '../json.ts';
import type { Patch, WriteOptions } from '../operations.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicPatch } from '../patch/strategic.ts';
import type { Resource } from '../resource.ts';
import { badRequest, field, invalid, notFound, unsupportedMediaType } from '../status.ts';
import { change } from './change.ts';
import { checkKind, conform } from './conform.ts';
import { createByChange } from './create.ts';
import { APPLIED } from './draft.ts';
import { inVersions } from './manager-versions.ts';
import { settleName, settleNamespace, subjectOf } from './metadata.ts';
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
  const changed = await change(context, resource, namespace, name, (live) => {
    const object = patched(resource, live, patch);
    checkKind(resource, object);
    conform(resource, object, options, options.duplicates, 'patch');
    settleNamespace(resource, object, namespace);
    settleName(object, name);
    checkUid(resource, object, live);
    return { object, options };
  });
  if (!changed) throw notFound(subjectOf(resource, name));
  return { object: changed, created: false };
}

/** A PUT for another uid is a conflict; a patch that would change it is invalid. */
function checkUid(resource: Resource, object: KubeObject, live: KubeObject): void {
  const { uid, name = '' } = object.metadata;
  if (!uid || uid === live.metadata.uid) return;
  throw invalid(resource.group, resource.kind, name, [field.invalid('metadata.uid', uid, 'field is immutable')]);
}

function patched(resource: Resource, live: KubeObject, patch: Patch): KubeObject {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(live, patch.body) as KubeObject;
    case 'merge':
      return applyMergePatch(live, patch.body) as KubeObject;
    default:
      if (resource.custom) {
        throw unsupportedMediaType([
          'application/json-patch+json',
          'application/merge-patch+json',
          'application/apply-patch+yaml',
        ]);
      }
      return applyStrategicPatch(live, patch.body, resource.schema()) as KubeObject;
  }
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
  checkConfiguration(config, resource.schema());
  conform(resource, config, options, options.duplicates, 'apply');
  settleNamespace(resource, config, namespace);
  config.metadata.name ??= name;
  settleName(config, name);
  const merged = (live: KubeObject | undefined) =>
    inVersions(resource, live, (versions) =>
      applyConfiguration({
        live,
        config,
        schema: resource.schema(),
        manager: options.fieldManager as string,
        apiVersion: servedApiVersion(resource),
        subresource: options.subresource ?? '',
        structs: !resource.custom,
        reset: resetFields(resource, options.subresource ?? ''),
        kind: resource.kind,
        force: patch.force ?? false,
        now: context.clock.now(),
        versions,
      }),
    );
  const settled: WriteOptions = { ...options, fieldManager: APPLIED };
  const changed = await change(context, resource, namespace, name, async (live) => ({
    object: await merged(live),
    options: settled,
  }));
  if (changed) return { object: changed, created: false };
  if (options.subresource) throw notFound(subjectOf(resource, name));
  if (!named) settleName({ ...config, metadata: {} }, name);
  return {
    object: await createByChange(context, resource, namespace, await merged(undefined), settled),
    created: true,
  };
}
