/** Which built-in kinds have `/scale`, and where its numbers are. */
import type { Printer, ScalePaths } from '../resource.ts';
import { created, printer } from './printers/table.ts';

const WORKLOAD: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  selector: 'spec.selector',
};

const KINDS = new Set(['apps/Deployment', 'apps/ReplicaSet', 'apps/StatefulSet', '/ReplicationController']);

/** `kubectl get --subresource=scale`. */
export const scalePrinter: Printer = printer('Name|Desired:integer|Available:integer|Age', (scale, now) => [
  scale.metadata.name,
  scale.spec.replicas,
  scale.status.replicas,
  created(scale, now),
]);

export function scaleOf(group: string, kind: string): ScalePaths | undefined {
  return KINDS.has(`${group}/${kind}`) ? WORKLOAD : undefined;
}
