/** Owner references: who made an object, and therefore takes it along when deleted. All functions return new objects. */
import type { KubeObject, OwnerReference } from '../api/object.ts';

/** The owner that manages the object, if any; there is at most one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

export function isOwnedBy(object: KubeObject, owner: KubeObject): boolean {
  return (object.metadata.ownerReferences ?? []).some((reference) => reference.uid === owner.metadata.uid);
}

export function ownerReference(
  owner: KubeObject,
  options: { controller?: boolean; blockOwnerDeletion?: boolean } = {},
): OwnerReference {
  const { name, uid } = owner.metadata;
  if (!name || !uid) throw new Error('An owner must exist: it has no name or uid yet');
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, ...options };
}

/** Adds or replaces the reference to `owner`; a reference to the same object by another version is the same one. */
export function withOwner<T extends KubeObject>(object: T, owner: OwnerReference): T {
  const controller = controllerOf(object);
  if (owner.controller && controller && !sameOwner(controller, owner)) {
    throw new Error(
      `${object.kind} ${object.metadata.name} is already controlled by ${controller.kind} ${controller.name}`,
    );
  }
  const references = object.metadata.ownerReferences ?? [];
  const index = references.findIndex((reference) => sameOwner(reference, owner));
  const ownerReferences = index < 0 ? [...references, owner] : references.with(index, owner);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** Makes `owner` the controller of `object`. */
export function withController<T extends KubeObject>(object: T, owner: KubeObject): T {
  const { namespace } = owner.metadata;
  // The garbage collector takes an owner in another namespace for a missing one, and deletes.
  if (namespace && namespace !== object.metadata.namespace) {
    throw new Error(`${owner.kind} ${namespace}/${owner.metadata.name} cannot own an object outside its namespace`);
  }
  return withOwner(object, ownerReference(owner, { controller: true, blockOwnerDeletion: true }));
}

export function withoutOwner<T extends KubeObject>(object: T, owner: Pick<OwnerReference, 'uid'>): T {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== owner.uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  const group = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '');
  return group(a.apiVersion) === group(b.apiVersion) && a.kind === b.kind && a.name === b.name;
}
