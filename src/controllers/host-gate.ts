/**
 * Keeps a provisioner away from this machine for objects that may not use it. The embedded server has asked for permission when the object was written
 * (`host-admission.ts`); against another API server, which cannot ask for us, only namespaces that the operator named may use the machine.
 */
import type { KubeObject } from '../api/object.ts';
import { RookeryError } from '../errors.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type { Progress } from '../provisioners/provisioner.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { progressOf } from './resolution.ts';

/** Why the machine may not be used at all; undefined when it may. */
export function namespaceRefusal(policy: HostPolicy, way: ClusterWay, object: KubeObject): Progress | undefined {
  const { namespace = '' } = object.metadata;
  if (!way.hostUses || policy.hasAdmission || policy.allows(namespace)) return undefined;
  return {
    phase: 'refused',
    reason: 'HostNotAllowed',
    message: `a ${object.kind} uses the machine Rookery runs on, and the namespace ${namespace} may not`,
    next: `the operator allows it with \`rookery manager --host-namespaces ${namespace}\`; VirtualCluster and VCluster need no permission`,
  };
}

/** Why the object may not have what it asks for; undefined when it may. */
export async function hostRefusal(
  policy: HostPolicy,
  way: ClusterWay,
  object: KubeObject,
): Promise<Progress | undefined> {
  const refusal = namespaceRefusal(policy, way, object);
  if (refusal) return refusal;
  for (const { field, path } of way.hostUses?.(object) ?? []) {
    if (path === undefined) continue;
    try {
      await policy.folders.check(path);
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return { ...progressOf(error), reason: 'HostPathNotAllowed', message: `${field}: ${error.message}` };
    }
  }
  return undefined;
}
