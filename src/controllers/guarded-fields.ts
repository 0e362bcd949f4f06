/**
 * Fields that take more than the right to write their object. Our finalizer on an object that stands for a cluster: without it the object goes and the
 * cluster stays, with no object that tells of it and no quota that counts it. Revoked links of a workspace: a student may write the workspace and must
 * not bring a revoked link back. Both rights are subresources, so that RBAC can give them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { type AdmissionAttributes, type AdmissionPlugin, type Authorizer, refuse } from '../apiserver/index.ts';
import { clusterWays } from '../provisioners/registry.ts';

interface Guard {
  /** The subresource whose update is needed. */
  subresource: string;
  isTouched(object: KubeObject, old: KubeObject): boolean;
  /** What the user tried, and what to do instead. */
  what: string;
}

export function guardedFields(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'GuardedFields',
    handles: (attributes) => attributes.operation === 'UPDATE' && guardOf(attributes) !== undefined,
    validate(attributes) {
      const { object, old, resource, namespace, name, identity } = attributes;
      const guard = guardOf(attributes);
      if (!guard || !object || !old || !guard.isTouched(object, old)) return;
      const { group, version, plural } = resource;
      const right = {
        verb: 'update',
        group,
        version,
        resource: plural,
        subresource: guard.subresource,
        namespace,
        name,
      };
      if (authorizer.authorize(identity, right).allowed) return;
      const needs = `user ${JSON.stringify(identity.user)} needs the verb "update" on the resource "${plural}/${guard.subresource}"`;
      throw refuse(attributes, `${guard.what}; ${needs}`);
    },
  };
}

function guardOf({ resource, subresource }: AdmissionAttributes): Guard | undefined {
  if (subresource !== '') return undefined;
  const { group, plural, kind } = resource;
  if (group === workspaceInstances.group && plural === workspaceInstances.plural) return REVOCATIONS;
  const way = clusterWays.find(({ resource: known }) => known.group === group && known.plural === plural);
  return way && finalizerGuard(`${kind.toLowerCase()}.${group}`);
}

const REVOCATIONS: Guard = {
  subresource: 'links',
  isTouched: (object, old) => !isDeepStrictEqual(revocationsOf(object), revocationsOf(old)),
  what: 'spec.revokedLinks and spec.linksRevokedAt revoke links into the workspace',
};

function revocationsOf({ spec }: KubeObject): unknown[] {
  return [spec?.revokedLinks, spec?.linksRevokedAt];
}

function finalizerGuard(finalizer: string): Guard {
  const has = ({ metadata }: KubeObject) => metadata.finalizers?.includes(finalizer) === true;
  return {
    subresource: 'finalizers',
    isTouched: (object, old) => has(old) && !has(object),
    what: `the finalizer ${finalizer} goes when the cluster is removed: delete the object, and it is removed`,
  };
}
