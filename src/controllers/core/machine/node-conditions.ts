/** What is said of a Machine's Node: whether it is ready, and whether it is healthy all in all. */
import type { KubeObject } from '../../../api/object.ts';
import { rfc3339 } from '../../../clock.ts';
import { type ConditionInput, type ConditionStatus, getCondition, isDeleting, keyOf } from '../../../kube/index.ts';
import { SEE_LOGS } from '../conditions.ts';
import { FAILURES_ALLOWED } from '../workload/workload-clusters.ts';
import { isControlPlaneInitialized } from './machine-node.ts';
import { lookAgain, type MachineScope } from './machine-scope.ts';

interface NodeCondition {
  type: string;
  status: ConditionStatus;
  message?: string;
  lastTransitionTime?: string;
}

/** So long what was seen last counts, after the connection broke. */
const GRACE_MS = 5 * 60_000;
const TYPES = ['NodeReady', 'NodeHealthy'] as const;

export function nodeConditions(scope: MachineScope): ConditionInput[] {
  const { core, cluster, draft, machine, node } = scope;
  const both = (status: ConditionStatus, reason: string, message: string) =>
    TYPES.map((type): ConditionInput => ({ type, status, reason, message }));
  if (!cluster) return both('Unknown', 'InspectionFailed', 'The Cluster of the machine is gone');
  if (!cluster.status?.initialization?.infrastructureProvisioned) {
    const message = 'Waiting for Cluster status.initialization.infrastructureProvisioned to be true';
    return both('Unknown', 'InspectionFailed', message);
  }
  if (!isControlPlaneInitialized(scope)) {
    return both('Unknown', 'InspectionFailed', 'Waiting for Cluster control plane to be initialized');
  }
  const known = TYPES.every((type) => getCondition(draft, type));
  const health = core.workloads.health(keyOf(cluster));
  const last = health?.lastSuccess;
  if (last === undefined && (health?.failures ?? 0) < FAILURES_ALLOWED && draft.spec.providerID) {
    return known ? [] : both('Unknown', 'ConnectionDown', 'Remote connection not established yet');
  }
  if ((health?.failures ?? 0) > 0 && draft.spec.providerID) {
    const initialized = Date.parse(getCondition(cluster, 'ControlPlaneInitialized')?.lastTransitionTime ?? '');
    const left = Math.max(last ?? 0, initialized) + GRACE_MS - core.clock.now();
    const message = last === undefined ? '' : `Last successful probe at ${rfc3339(last)}`;
    if (left <= 0) return both('Unknown', 'ConnectionDown', message);
    lookAgain(scope, left);
  }
  if (scope.nodeProblem === 'disconnected') {
    return known ? [] : both('Unknown', 'ConnectionDown', 'Remote connection not established yet');
  }
  if (scope.nodeProblem === 'failed') return both('Unknown', 'InternalError', SEE_LOGS);
  if (node) return [readiness(node), healthiness(node)];
  const name = draft.status.nodeRef?.name;
  if (name) {
    const still = isDeleting(machine) ? '' : ' while the Machine still exists';
    return both('False', 'NodeDeleted', `Node ${name} has been deleted${still}`);
  }
  if (isDeleting(machine)) return both('Unknown', 'NodeDoesNotExist', 'Node does not exist');
  const message = draft.spec.providerID
    ? `Waiting for a Node with spec.providerID ${draft.spec.providerID} to exist`
    : `Waiting for ${machine.spec.infrastructureRef.kind} to report spec.providerID`;
  return both('Unknown', 'InspectionFailed', message);
}

function readiness(node: KubeObject): ConditionInput {
  const type = 'NodeReady';
  const found = conditionOf(node, 'Ready');
  if (!found) {
    const message = '* Node.Ready: Condition not yet reported';
    return { type, status: 'Unknown', reason: 'NodeReadyUnknown', message };
  }
  const reason = { True: 'NodeReady', False: 'NodeNotReady', Unknown: 'NodeReadyUnknown' }[found.status];
  const message = found.status !== 'True' && found.message ? `* Node.Ready: ${found.message}` : '';
  return { type, status: found.status, reason, message, lastTransitionTime: found.lastTransitionTime };
}

/** All four have to be reported, and to be as they should. */
function healthiness(node: KubeObject): ConditionInput {
  const type = 'NodeHealthy';
  const good = { Ready: 'True', MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False' };
  let bad = 0;
  let unknown = 0;
  const told: { name: string; message: string }[] = [];
  for (const [name, wanted] of Object.entries(good)) {
    const found = conditionOf(node, name);
    if (found?.status === wanted) continue;
    if (!found || found.status === 'Unknown') unknown++;
    else bad++;
    told.push({
      name,
      message: found ? found.message || `Condition is ${found.status}` : 'Condition not yet reported',
    });
  }
  if (told.length === 0) return { type, status: 'True', reason: 'NodeHealthy' };
  // A kubelet that is gone says the same of everything.
  const same = told.length > 1 && new Set(told.map(({ message }) => message)).size === 1;
  const message = same
    ? `* Node.AllConditions: ${told[0]?.message}`
    : told.map((entry) => `* Node.${entry.name}: ${entry.message}`).join('\n');
  if (bad > 0) return { type, status: 'False', reason: 'NodeNotHealthy', message };
  return { type, status: unknown > 0 ? 'Unknown' : 'True', reason: 'NodeHealthyUnknown', message };
}

export function conditionOf(node: KubeObject, type: string): NodeCondition | undefined {
  return node.status?.conditions?.find((condition: NodeCondition) => condition.type === type);
}
