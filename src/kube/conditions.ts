/**
 * Conditions in `status.conditions`, by the rules of Cluster API's `conditions.Set`:
 * 1. `observedGeneration` is the object's generation;
 * 2. `lastTransitionTime` changes only when `status` does;
 * 3. times are whole seconds, as the API server stores them;
 * 4. the order is fixed: Available and Ready first, Paused and Deleting last, the rest as `kubectl get` readers expect.
 * These functions change the object they are given: hand them a clone, never a cached object.
 */
import type { Condition, KubeObject } from '../api/object.ts';
import { type Clock, rfc3339 } from '../clock.ts';

export type ConditionStatus = Condition['status'];

export interface ConditionInput {
  type: string;
  status: ConditionStatus;
  /** CamelCase, for programs. */
  reason: string;
  /** For people: what blocks, since when, what happens next. */
  message?: string;
  lastTransitionTime?: string;
}

/** util/conditions/sort.go; types not named here go, by name, where `*` stands. */
const ORDER = new Map(
  `Available Ready UpToDate RemoteConnectionProbe BootstrapConfigReady InfrastructureReady ControlPlaneInitialized
  ControlPlaneAvailable WorkersAvailable CertificatesAvailable Initialized EtcdClusterHealthy
  ControlPlaneComponentsHealthy NodeHealthy NodeReady NodeKubeadmLabelsAndTaintsSet EtcdPodHealthy EtcdMemberHealthy
  APIServerPodHealthy ControllerManagerPodHealthy SchedulerPodHealthy HealthCheckSucceeded OwnerRemediated
  TopologyReconciled Updating RollingOut Remediating ScalingDown ScalingUp MachinesReady ControlPlaneMachinesReady
  WorkerMachinesReady MachinesUpToDate ControlPlaneMachinesUpToDate WorkerMachinesUpToDate * Paused Deleting`
    .split(/\s+/)
    .map((type, index) => [type, index]),
);

export function compareConditions(a: Condition, b: Condition): number {
  const rank = (condition: Condition) => ORDER.get(condition.type) ?? (ORDER.get('*') as number);
  return rank(a) - rank(b) || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);
}

export function getConditions(object: KubeObject): Condition[] {
  return object.status?.conditions ?? [];
}

export function getCondition(object: KubeObject, type: string): Condition | undefined {
  return getConditions(object).find((condition) => condition.type === type);
}

export function isConditionTrue(object: KubeObject, type: string): boolean {
  return getCondition(object, type)?.status === 'True';
}

/** True when something changed. */
export function setCondition(object: KubeObject, input: ConditionInput, clock: Clock): boolean {
  const old = getCondition(object, input.type);
  const keepsTime = old?.status === input.status && old.lastTransitionTime;
  const time = input.lastTransitionTime ? Date.parse(input.lastTransitionTime) : clock.now();
  const { generation } = object.metadata;
  const condition: Condition = {
    type: input.type,
    status: input.status,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: keepsTime || rfc3339(time),
    reason: input.reason,
    message: input.message ?? '',
  };
  if (old && sameCondition(old, condition)) return false;
  const others = getConditions(object).filter((other) => other.type !== input.type);
  object.status = { ...object.status, conditions: [...others, condition].sort(compareConditions) };
  return true;
}

/** True when it was there. */
export function removeCondition(object: KubeObject, type: string): boolean {
  if (!getCondition(object, type)) return false;
  const conditions = getConditions(object).filter((condition) => condition.type !== type);
  object.status = { ...object.status, conditions };
  return true;
}

export interface SummaryOptions {
  /** The condition types to sum up, the most telling first. One that is missing counts as Unknown. */
  of: string[];
  /** Those of them for which True is bad, e.g. `Deleting`. */
  negative?: string[];
  /** Those of them that may be missing. */
  optional?: string[];
  /** Conditions that are no issue at the moment, though their status says so. */
  excused?: (condition: ConditionInput) => boolean;
  reasons?: { issues: string; unknown: string; fine: string };
}

/** One condition that says it all: False names every issue, Unknown what is not known, True adds what is worth telling. */
export function summarize(object: KubeObject, type: string, options: SummaryOptions): ConditionInput {
  const {
    negative = [],
    optional = [],
    excused = () => false,
    reasons = { issues: `Not${type}`, unknown: `${type}Unknown`, fine: type },
  } = options;
  const conditions = options.of.flatMap((wanted): ConditionInput[] => {
    const found = getCondition(object, wanted);
    if (found) return [found];
    if (optional.includes(wanted)) return [];
    return [
      { type: wanted, status: 'Unknown', reason: 'NotYetReported', message: `Condition ${wanted} not yet reported` },
    ];
  });
  const bad = (condition: ConditionInput) =>
    condition.status === (negative.includes(condition.type) ? 'True' : 'False') && !excused(condition);
  const unknown = (condition: ConditionInput) => condition.status === 'Unknown' && !excused(condition);
  const status = conditions.some(bad) ? 'False' : conditions.some(unknown) ? 'Unknown' : 'True';
  const told = conditions.filter((condition) =>
    status === 'True' ? condition.message : bad(condition) || unknown(condition),
  );
  const message = told
    .map((condition) => `* ${condition.type}:${indent(condition.message || condition.reason)}`)
    .join('\n');
  const reason = { False: reasons.issues, Unknown: reasons.unknown, True: reasons.fine }[status];
  return { type, status, reason, message };
}

function indent(message: string): string {
  const lines = message.split('\n');
  return lines.length === 1
    ? ` ${message}`
    : lines.map((line) => `\n  ${line.startsWith('* ') ? line : `* ${line}`}`).join('');
}

export function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.type === b.type &&
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration &&
    a.lastTransitionTime === b.lastTransitionTime
  );
}
