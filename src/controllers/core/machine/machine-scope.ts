/** What one reconcile of a Machine has found out. */
import type { KubeObject } from '../../../api/object.ts';
import type { Core } from '../core.ts';
import type { Found } from '../externals.ts';
import type { WorkloadConnection } from '../workload/workload-connection.ts';

export interface MachineScope {
  core: Core;
  /** As read. */
  machine: KubeObject;
  /** As it shall be stored. */
  draft: KubeObject;
  /** Absent when it is gone though the machine is not. */
  cluster?: KubeObject;
  /** Where it comes from, if from one of them. */
  machineSet?: KubeObject;
  machineDeployment?: KubeObject;
  infrastructure: Found;
  bootstrap: Found;
  node?: KubeObject;
  /** Why nothing is known about the node. */
  nodeProblem?: 'disconnected' | 'failed';
  deleting?: { reason: string; message: string };
  /** Look again after that long. */
  againMs?: number;
  signal: AbortSignal;
}

export function lookAgain(scope: MachineScope, ms: number): void {
  scope.againMs = Math.min(scope.againMs ?? Number.POSITIVE_INFINITY, ms);
}

/** The connection to the machine's cluster; who is too early is called again when it stands. */
export function connectionOf({ core, cluster }: MachineScope): WorkloadConnection | undefined {
  if (!cluster) return undefined;
  const key = { namespace: cluster.metadata.namespace, name: cluster.metadata.name as string };
  core.workloads.want(key);
  return core.workloads.connection(key);
}
