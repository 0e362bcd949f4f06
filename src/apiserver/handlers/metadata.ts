/** The part of metadata that the system owns: set on create, kept on update, whatever the client sent. */
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { equal } from '../json.ts';
import type { Resource } from '../resource.ts';
import { ApiError, badRequest, conflict, field, invalid, type Subject } from '../status.ts';

export function subjectOf(resource: Resource, name?: string): Subject {
  return { group: resource.group, resource: resource.plural, name };
}

/** The namespace of the path wins; one in the body must agree with it. */
export function settleNamespace(resource: Resource, object: KubeObject, namespace: string): void {
  if (!resource.namespaced) {
    // Some kinds used to be sent with a namespace that means nothing; the real server drops it too.
    delete object.metadata.namespace;
    return;
  }
  if (object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  object.metadata.namespace = namespace;
}

export function settleName(object: KubeObject, name: string): void {
  if (!object.metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (object.metadata.name !== name) {
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
  }
}

/** What a client may have copied from another object means nothing for a new one. */
export function wipeSystemFields(object: KubeObject): void {
  if (object.metadata.resourceVersion) {
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  for (const name of SYSTEM_FIELDS) delete (object.metadata as Record<string, unknown>)[name];
}

const SYSTEM_FIELDS = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'resourceVersion',
  'selfLink',
];

/** After admission: nobody before the store sees who a new object is. */
export function fillSystemFields(context: ClusterContext, resource: Resource, object: KubeObject): void {
  wipeSystemFields(object);
  object.metadata = {
    ...object.metadata,
    uid: context.random.uuid(),
    creationTimestamp: rfc3339(context.clock.now()),
    ...(resource.strategy.noGeneration ? {} : { generation: 1 }),
  };
}

const NAME_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** `generateName` plus five characters that cannot form words. */
export function generatedName(context: ClusterContext, base: string): string {
  const bytes = context.random.bytes(5);
  let suffix = '';
  for (const byte of bytes) suffix += NAME_CHARACTERS[byte % NAME_CHARACTERS.length];
  return base.slice(0, 58) + suffix;
}

/** Preconditions a PUT carries: resource version and uid of the object it was made from. */
export function checkUpdatePreconditions(resource: Resource, object: KubeObject, live: KubeObject): void {
  const name = live.metadata.name ?? '';
  const { uid, resourceVersion } = object.metadata;
  if (resourceVersion && resourceVersion !== '0') {
    if (!/^\d+$/.test(resourceVersion)) {
      throw invalid(resource.group, resource.kind, name, [
        field.invalid('metadata.resourceVersion', resourceVersion, 'strconv.ParseUint: parsing: invalid syntax'),
      ]);
    }
    if (resourceVersion !== live.metadata.resourceVersion) throw conflict(subjectOf(resource, name));
  } else if (resource.custom || resource.strategy.requireResourceVersion) {
    throw invalid(resource.group, resource.kind, name, [
      field.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (uid && uid !== live.metadata.uid) {
    throw conflict(
      subjectOf(resource, name),
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
    );
  }
}

export function beforeUpdate(object: KubeObject, live: KubeObject): void {
  const meta = object.metadata;
  const old = live.metadata;
  meta.name = old.name;
  meta.uid = old.uid;
  meta.creationTimestamp = old.creationTimestamp;
  if (old.namespace) meta.namespace = old.namespace;
  copyOrDelete(meta, old, 'generation');
  copyOrDelete(meta, old, 'deletionTimestamp');
  copyOrDelete(meta, old, 'deletionGracePeriodSeconds');
  meta.resourceVersion = old.resourceVersion;
  delete (meta as { selfLink?: string }).selfLink;
}

function copyOrDelete<K extends string>(to: { [key in K]?: unknown }, from: { [key in K]?: unknown }, key: K): void {
  if (from[key] === undefined) delete to[key];
  else to[key] = from[key];
}

/** +1 when anything but metadata (and status, where it is a subresource) changed. */
export function bumpGeneration(resource: Resource, object: KubeObject, live: KubeObject): void {
  if (resource.strategy.noGeneration) return;
  const statusApart = resource.subresources.some((s) => s.name === 'status');
  if (contentDiffers(object, live, statusApart)) object.metadata.generation = (live.metadata.generation ?? 0) + 1;
}

/** Whether anything but metadata is different. */
export function contentDiffers(object: KubeObject, live: KubeObject, exceptStatus = false): boolean {
  for (const key of new Set([...Object.keys(object), ...Object.keys(live)])) {
    if (key === 'metadata' || key === 'apiVersion' || key === 'kind' || (key === 'status' && exceptStatus)) continue;
    if (!equal(object[key], live[key])) return true;
  }
  return false;
}
