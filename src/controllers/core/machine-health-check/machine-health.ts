/** Whether a Machine is healthy, by the rules of one MachineHealthCheck. Pure; says when to look again. */
import type { KubeObject } from '../../../api/object.ts';
import { getCondition, isConditionTrue } from '../../../kube/index.ts';
import { isControlPlaneMachine } from '../core.ts';
import { ANNOTATION } from '../names.ts';
import { createdAt } from '../pool-conditions.ts';

export interface Target {
  machine: KubeObject;
  cluster: KubeObject;
  check: KubeObject;
  node?: KubeObject;
  /** It had one, and it is gone. */
  nodeGone: boolean;
}

export type Verdict =
  | { is: 'healthy' }
  /** Too early to say, or likely to become unhealthy. */
  | { is: 'open'; againMs?: number }
  | { is: 'unhealthy'; reason: string; message: string };

interface Rule {
  type: string;
  status: string;
  timeoutSeconds?: number;
}

interface Finding {
  reason: string;
  problems: string[];
  againMs?: number;
}

const STARTUP_TIMEOUT_SECONDS = 600;
/** Times of conditions are whole seconds. */
const ROUNDING_MS = 1000;

export function judge(target: Target, now: number): Verdict {
  const { machine, cluster, check } = target;
  if (machine.metadata.annotations?.[ANNOTATION.remediateMachine] !== undefined) {
    const message = `Health check failed: marked for remediation via ${ANNOTATION.remediateMachine} annotation`;
    return { is: 'unhealthy', reason: 'HasRemediateAnnotation', message };
  }
  if (!isConditionTrue(cluster, 'ControlPlaneInitialized') && !isControlPlaneMachine(machine)) return { is: 'open' };
  if (!isConditionTrue(cluster, 'InfrastructureReady')) return { is: 'open' };
  const ofMachine = broken(check.spec.checks?.unhealthyMachineConditions, machine, 'Machine', now);
  const ofNode = nodeFinding(target, now);
  const problems = [...ofMachine.problems, ...ofNode.problems];
  if (problems.length > 0) {
    const reason = ofMachine.problems.length > 0 ? ofMachine.reason : ofNode.reason;
    return { is: 'unhealthy', reason, message: `Health check failed:\n${problems.map((p) => `  * ${p}`).join('\n')}` };
  }
  const next = [ofMachine.againMs, ofNode.againMs].filter((ms) => ms !== undefined);
  if (next.length > 0) return { is: 'open', againMs: Math.min(...next) };
  return target.node && !machine.metadata.deletionTimestamp ? { is: 'healthy' } : { is: 'open' };
}

function nodeFinding(target: Target, now: number): Finding {
  const { machine, node, nodeGone, check } = target;
  if (nodeGone) {
    return { reason: 'NodeDeleted', problems: [`Node ${machine.status?.nodeRef?.name} has been deleted`] };
  }
  if (node) return broken(check.spec.checks?.unhealthyNodeConditions, node, 'Node', now);
  const seconds: number = check.spec.checks?.nodeStartupTimeoutSeconds ?? STARTUP_TIMEOUT_SECONDS;
  const reason = 'NodeStartupTimeout';
  if (seconds === 0) return { reason, problems: [] };
  const left = startOf(target) + seconds * 1000 - now;
  if (left < 0) return { reason, problems: [`Node failed to report startup in ${duration(seconds)}`] };
  return { reason, problems: [], againMs: left + ROUNDING_MS };
}

/** From when on a node could have come up: the last of what it needs. */
function startOf({ machine, cluster }: Target): number {
  const since = (object: KubeObject, type: string) => {
    const condition = getCondition(object, type);
    return condition?.status === 'True' ? Date.parse(condition.lastTransitionTime) : 0;
  };
  return Math.max(
    createdAt(machine),
    since(cluster, 'ControlPlaneInitialized'),
    since(cluster, 'InfrastructureReady'),
    since(machine, 'InfrastructureReady'),
  );
}

function broken(rules: Rule[] | undefined, object: KubeObject, kind: 'Machine' | 'Node', now: number): Finding {
  const finding: Finding = { reason: `Unhealthy${kind}`, problems: [] };
  for (const { type, status, timeoutSeconds = 0 } of rules ?? []) {
    const condition = getCondition(object, type);
    if (condition?.status !== status) continue;
    const left = Date.parse(condition.lastTransitionTime) + timeoutSeconds * 1000 - now;
    if (left < 0) {
      const what = `Condition ${type} on ${kind} is reporting status ${status} with reason ${condition.reason}`;
      finding.problems.push(`${what} for more than ${duration(timeoutSeconds)}`);
    } else finding.againMs = Math.min(finding.againMs ?? Number.POSITIVE_INFINITY, left + ROUNDING_MS);
  }
  return finding;
}

/** As Go prints it: `1h0m0s`. */
function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
