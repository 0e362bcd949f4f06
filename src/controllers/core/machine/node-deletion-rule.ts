/** Whether a Machine that goes may take its Node along: not where the whole cluster goes, or nobody would be left to ask. */
import type { KubeObject } from '../../../api/object.ts';
import { machines } from '../../../api/resources.ts';
import { isDeleting } from '../../../kube/index.ts';
import { listOfCluster } from '../caches.ts';
import { isControlPlaneMachine } from '../core.ts';
import type { Reference } from '../provider-kinds.ts';
import { nodesByProviderId } from '../workload/workload-connection.ts';
import { connectionOf, type MachineScope } from './machine-scope.ts';

export async function mayDeleteNode(scope: MachineScope): Promise<boolean> {
  const { core, cluster, draft, signal } = scope;
  if (!cluster || isDeleting(cluster)) return false;
  if (!draft.status.nodeRef) nameNode(scope);
  if (!draft.status.nodeRef) return false;
  const reference: Reference | undefined = cluster.spec?.controlPlaneRef;
  if (reference) {
    const controlPlane = await core.externals.get(reference, cluster.metadata.namespace, signal);
    if (controlPlane && isDeleting(controlPlane)) return false;
    if (controlPlane?.status?.externalManagedControlPlane === true) return true;
  }
  const all = await listOfCluster(core.store, machines, cluster, signal);
  return all.some((machine: KubeObject) => isControlPlaneMachine(machine) && !isDeleting(machine));
}

/** One more look: the node may have come up after the machine was last seen. */
function nameNode(scope: MachineScope): void {
  const { draft, infrastructure } = scope;
  const providerId = draft.spec.providerID ?? infrastructure.object?.spec?.providerID;
  const nodes = providerId && connectionOf(scope)?.nodes;
  const [node] = nodes ? nodesByProviderId(nodes, providerId) : [];
  if (node) draft.status.nodeRef = { name: node.metadata.name };
}
