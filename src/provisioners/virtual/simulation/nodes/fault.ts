/**
 * How people break a node and mend it: `kubectl annotate node demo-node-0 rookery.dev/fault=NotReady`, and the same with `rookery.dev/fault-`.
 * Conditions that nobody broke by this annotation are left as they are.
 */
import type { KubeObject } from '../../../../api/object.ts';
import type { PodCondition } from '../pod.ts';
import { healthyConditions } from './simulated-node.ts';

const FAULT = 'rookery.dev/fault';
const MARK = `made so by the annotation ${FAULT}`;

interface Fault {
  type: string;
  status: string;
  reason: string;
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
  const faults = new Map(words.flatMap((word) => (FAULTS[word] ? [[FAULTS[word].type, FAULTS[word]] as const] : [])));
  const known: PodCondition[] = node.status?.conditions ?? [];
  const conditions: PodCondition[] = [];
  for (const condition of known) {
    const fault = faults.get(condition.type);
    faults.delete(condition.type);
    if (fault) conditions.push(isSuch(condition, fault) ? condition : broken(fault, timestamp));
    else if (!condition.message?.includes(MARK)) conditions.push(condition);
    else conditions.push(...healthyConditions(timestamp).filter(({ type }) => type === condition.type));
  }
  for (const fault of faults.values()) conditions.push(broken(fault, timestamp));
  const changed = conditions.length !== known.length || conditions.some((condition, at) => condition !== known[at]);
  return { conditions, changed, unknown: words.filter((word) => !FAULTS[word]) };
}

function isSuch({ status, message }: PodCondition, fault: Fault): boolean {
  return status === fault.status && (message?.includes(MARK) ?? false);
}

function broken({ type, status, reason }: Fault, timestamp: string): PodCondition {
  const times = { lastHeartbeatTime: timestamp, lastTransitionTime: timestamp };
  return { type, status, ...times, reason, message: MARK } as PodCondition;
}

export const FAULT_WORDS = Object.keys(FAULTS).join(', ');
