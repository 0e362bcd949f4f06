/** Which built-in kinds have `/scale`, and where its numbers are. */
import type { ScalePaths } from '../resource.ts';

const WORKLOAD: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  selector: 'spec.selector',
};

const KINDS = new Set(['apps/Deployment', 'apps/ReplicaSet', 'apps/StatefulSet', '/ReplicationController']);

export function scaleOf(group: string, kind: string): ScalePaths | undefined {
  return KINDS.has(`${group}/${kind}`) ? WORKLOAD : undefined;
}
