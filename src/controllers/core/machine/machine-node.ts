/** The Node of a Machine: found by its providerID, named in status, given the machine's labels, annotations and taints. */
import { isConditionTrue, isDeleting, TerminalError } from '../../../kube/index.ts';
import { nodesByProviderId, type WorkloadConnection } from '../workload/workload-connection.ts';
import { connectionOf, lookAgain, type MachineScope } from './machine-scope.ts';
import { syncNode } from './node-sync.ts';

/** A list of nodes that takes longer is waited for without holding a worker. */
const SYNC_TIMEOUT_MS = 3_000;

export async function reconcileNode(scope: MachineScope): Promise<void> {
  const { machine, draft, cluster } = scope;
  const providerId: string | undefined = draft.spec.providerID;
  if (!providerId || !cluster?.status?.initialization?.infrastructureProvisioned) return;
  const connection = connectionOf(scope);
  const nodes = connection && (await syncedNodes(scope, connection));
  if (!nodes) {
    scope.nodeProblem = 'disconnected';
    return;
  }
  scope.nodeProblem = 'failed';
  const found = nodesByProviderId(nodes, providerId);
  if (found.length > 1) {
    const names = found.map((node) => node.metadata.name).join(', ');
    throw new TerminalError(`several nodes have the providerID ${providerId}: ${names}`);
  }
  const [node] = found;
  scope.nodeProblem = undefined;
  if (!node) {
    if (draft.status.nodeRef && !isDeleting(machine)) {
      throw new TerminalError(`the Node ${draft.status.nodeRef.name} of the machine is gone`);
    }
    return;
  }
  scope.node = node;
  draft.status.nodeRef ??= { name: node.metadata.name };
  draft.status.nodeInfo = node.status?.nodeInfo;
  if (!isDeleting(node)) await syncNode(scope, connection.api, node);
}

async function syncedNodes(scope: MachineScope, connection: WorkloadConnection) {
  if (connection.nodes) return connection.nodes;
  const timeout = new AbortController();
  const cancel = scope.core.clock.after(SYNC_TIMEOUT_MS, () => timeout.abort(new Error('the nodes take long to list')));
  try {
    return await connection.syncedNodes(AbortSignal.any([scope.signal, timeout.signal]));
  } catch {
    scope.signal.throwIfAborted();
    lookAgain(scope, SYNC_TIMEOUT_MS);
    return undefined;
  } finally {
    cancel();
  }
}

/** Nothing is said about nodes before there is a cluster they could be in. */
export function isControlPlaneInitialized({ cluster }: MachineScope): boolean {
  return cluster !== undefined && isConditionTrue(cluster, 'ControlPlaneInitialized');
}
