/**
 * The end of a Cluster, in Cluster API's order: workers, then the control plane, the infrastructure last. Each step
 * waits for the one before, told by watches.
 */
import type { KubeObject } from '../../../api/object.ts';
import { machineDeployments, machineSets, machines } from '../../../api/resources.ts';
import { ignoreNotFound, isDeleting, isOwnedBy, keyOf, type ResourceRef } from '../../../kube/index.ts';
import { listed, SEE_LOGS } from '../conditions.ts';
import { isControlPlaneMachine } from '../core.ts';
import type { Found } from '../externals.ts';
import type { ClusterScope } from './cluster-scope.ts';

/** True once nothing is left. */
export async function reconcileDelete(scope: ClusterScope): Promise<boolean> {
  const { cluster, descendants } = scope;
  scope.deleting = { reason: 'InternalError', message: SEE_LOGS };
  if (!descendants) return false;
  const before = cluster.spec?.controlPlaneRef
    ? // A control plane deletes its machines by itself.
      descendants.machines.filter((machine) => !isControlPlaneMachine(machine))
    : descendants.machines;
  const lists: [string, ResourceRef, KubeObject[]][] = [
    ['MachineDeployments', machineDeployments, descendants.machineDeployments],
    ['MachineSets', machineSets, descendants.machineSets],
    ['Machines', machines, before],
  ];
  for (const [, resource, objects] of lists) {
    // What something else owns goes with its owner.
    for (const object of objects) if (isOwnedBy(object, cluster)) await remove(scope, resource, object);
  }
  const left = lists.filter(([, , objects]) => objects.length > 0);
  if (left.length > 0) {
    const message = left.map(([what, , objects]) => `* ${what}: ${listed(objects.map(nameOf))}`).join('\n');
    scope.deleting = { reason: 'WaitingForWorkersDeletion', message };
    return false;
  }
  if (!(await isGone(scope, scope.controlPlane, cluster.spec?.controlPlaneRef, 'WaitingForControlPlaneDeletion')))
    return false;
  if (!(await isGone(scope, scope.infrastructure, cluster.spec?.infrastructureRef, 'WaitingForInfrastructureDeletion')))
    return false;
  scope.deleting = { reason: 'DeletionCompleted', message: 'Deletion completed' };
  return true;
}

async function isGone(
  scope: ClusterScope,
  { object, missing }: Found,
  reference: { kind: string } | undefined,
  reason: string,
): Promise<boolean> {
  if (!reference) return true;
  if (!object) return missing;
  if (!isDeleting(object)) await scope.core.externals.delete(object, scope.signal);
  scope.deleting = { reason, message: `Waiting for ${reference.kind} to be deleted` };
  return false;
}

async function remove({ core, signal }: ClusterScope, resource: ResourceRef, object: KubeObject): Promise<void> {
  if (!isDeleting(object)) await core.store.delete(resource, keyOf(object), { signal }).catch(ignoreNotFound);
}

function nameOf(object: KubeObject): string {
  return object.metadata.name ?? '';
}
