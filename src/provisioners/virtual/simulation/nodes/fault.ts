/**
 * How people break a node and mend it: `kubectl annotate node demo-node-0 rookery.dev/fault=NotReady`, and the same with `rookery.dev/fault-`.
 * Or as for kwok: by the label `node-not-ready.stage.kwok.x-k8s.io=true`, with `…/reason`, `…/message` and `…/type` (another condition) in annotations.
 * Conditions that nobody broke by this annotation are left as they are.
 */
import type { KubeObject } from '../../../../api/object.ts';
import { isStageAsked, stageAnnotation } from '../kubelet/stage.ts';
import type { PodCondition } from '../pod.ts';
import { healthyConditions } from './simulated-node.ts';

const FAULT = 'rookery.dev/fault';
const KWOK = 'node-not-ready';
const MARK = `made so by the annotation ${FAULT}`;
const KWOK_MARK = `made so by the label ${KWOK}.stage.kwok.x-k8s.io`;

interface Fault {
  type: string;
  status: string;
  reason: string;
  message?: string;
}

/** By the annotation's value; several may be given, separated by commas. */
const FAULTS: Record<string, Fault> = {
  NotReady: { type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
  Unreachable: { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' },
  MemoryPressure: { type: 'MemoryPressure', status: 'True', reason: 'KubeletHasInsufficientMemory' },
  DiskPressure: { type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure' },
  PIDPressure: { type: 'PIDPressure', status: 'True', reason: 'KubeletHasInsufficientPID' },
  NetworkUnavailable: { type: 'NetworkUnavailable', status: 'True', reason: 'NoRouteCreated' },
};

/** What a node says of itself with its faults; the same list when nothing changes. Words that name no fault: `unknown`. */
export function faulted(
  node: KubeObject,
  timestamp: string,
): { conditions: PodCondition[]; changed: boolean; unknown: string[] } {
  const asked = (node.metadata.annotations?.[FAULT] ?? '').split(',').map((word) => word.trim());
  const words = asked.filter(Boolean);
  const named = words.flatMap((word) => FAULTS[word] ?? []);
  const faults = new Map([...named, ...kwokFaults(node)].map((fault) => [fault.type, fault]));
  const known: PodCondition[] = node.status?.conditions ?? [];
  const conditions: PodCondition[] = [];
  for (const condition of known) {
    const fault = faults.get(condition.type);
    faults.delete(condition.type);
    if (fault) conditions.push(isSuch(condition, fault) ? condition : broken(fault, timestamp));
    else if (!isMarked(condition)) conditions.push(condition);
    else conditions.push(...healthyConditions(timestamp).filter(({ type }) => type === condition.type));
  }
  for (const fault of faults.values()) conditions.push(broken(fault, timestamp));
  const changed = conditions.length !== known.length || conditions.some((condition, at) => condition !== known[at]);
  return { conditions, changed, unknown: words.filter((word) => !FAULTS[word]) };
}

function kwokFaults(node: KubeObject): Fault[] {
  if (!isStageAsked(node, KWOK)) return [];
  const reason = stageAnnotation(node, KWOK, 'reason') || 'nodeFailed';
  const message = `${stageAnnotation(node, KWOK, 'message') || 'node failed'} (${KWOK_MARK})`;
  const type = stageAnnotation(node, KWOK, 'type');
  const also = type && type !== 'Ready' ? [{ type, status: 'True', reason, message }] : [];
  return [{ type: 'Ready', status: 'False', reason, message }, ...also];
}

function isMarked({ message }: PodCondition): boolean {
  return [MARK, KWOK_MARK].some((mark) => message?.includes(mark));
}

function isSuch(condition: PodCondition, { status, reason, message = MARK }: Fault): boolean {
  return condition.status === status && condition.reason === reason && condition.message === message;
}

function broken({ type, status, reason, message = MARK }: Fault, timestamp: string): PodCondition {
  const times = { lastHeartbeatTime: timestamp, lastTransitionTime: timestamp };
  return { type, status, ...times, reason, message } as PodCondition;
}

export const FAULT_WORDS = Object.keys(FAULTS).join(', ');
