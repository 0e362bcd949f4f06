/** All loops of a cluster, started together. */
import { certificateSigning } from './certificate-signing.ts';
import { clusterRoleAggregation } from './cluster-role-aggregation.ts';
import { eventTtl } from './event-ttl.ts';
import { flowSchemaStatus } from './flow-schema-status.ts';
import { garbageCollector } from './garbage-collector.ts';
import type { Loop, LoopContext } from './loop.ts';
import { namespaceDefaults } from './namespace-defaults.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { policyStatus } from './policy-status.ts';
import { tokenSecrets } from './token-secrets.ts';

const LOOPS: Loop[] = [
  garbageCollector,
  namespaceLifecycle,
  namespaceDefaults,
  clusterRoleAggregation,
  eventTtl,
  tokenSecrets,
  certificateSigning,
  policyStatus,
  flowSchemaStatus,
];

export function startLoops(context: LoopContext): () => void {
  const stops = LOOPS.map((start) => start(context));
  return () => {
    for (const stop of stops) stop();
  };
}
