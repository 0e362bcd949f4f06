/** Conditions made from other objects' conditions, by the rules of Cluster API: one mirrored, or many as one. */
import type { Condition, KubeObject } from '../../api/object.ts';
import {
  type ConditionInput,
  type ConditionStatus,
  getCondition,
  getConditions,
  isDeleting,
} from '../../kube/index.ts';
import type { Found } from './externals.ts';
import { LABEL } from './names.ts';
import type { Reference } from './provider-kinds.ts';

/** What is said when something failed that is not the user's to fix; the log has the rest. */
export const SEE_LOGS = 'Please check controller logs for errors';

export interface Reasons {
  issues: string;
  unknown: string;
  fine: string;
}

/** A condition of a provider's object; providers may keep theirs below `status.v1beta2` while they migrate. */
function reported(object: KubeObject, type: string): Partial<Condition> | undefined {
  const conditions = object.status?.v1beta2?.conditions ?? object.status?.conditions;
  if (conditions === undefined) return undefined;
  if (!Array.isArray(conditions)) throw new Error(`${object.kind} status.conditions is not a list`);
  const found = conditions.find((condition) => condition?.type === type);
  if (found && !['True', 'False', 'Unknown'].includes(found.status)) {
    throw new Error(`condition ${type} of ${object.kind} has the status ${JSON.stringify(found.status)}`);
  }
  return found;
}

export interface MirrorOptions {
  source: KubeObject;
  from: string;
  to: string;
  /** For a condition that is True without saying why. */
  fine: string;
  /** While the provider reports no such condition, which it need not. */
  fallback: Omit<ConditionInput, 'type'>;
}

export function mirrored({ source, from, to, fine, fallback }: MirrorOptions): ConditionInput {
  try {
    const found = reported(source, from);
    if (!found) return { type: to, ...fallback };
    const status = found.status as ConditionStatus;
    return {
      type: to,
      status,
      reason: found.reason || (status === 'True' ? fine : 'NoReasonReported'),
      message: found.message ?? '',
      lastTransitionTime: found.lastTransitionTime,
    };
  } catch (error) {
    return { type: to, status: 'Unknown', reason: 'InvalidConditionReported', message: (error as Error).message };
  }
}

export interface AbsenceOptions {
  type: string;
  /** Of the object that is not there. */
  kind: string;
  found: Found;
  /** It was there, and had done its part. */
  reached: boolean;
  /** Who refers to it. */
  of: KubeObject;
}

/** What is said where a provider's object should be: not yet, no longer, or nobody knows. */
export function absence({ type, kind, found, reached, of }: AbsenceOptions): ConditionInput {
  if (!found.missing) return { type, status: 'Unknown', reason: 'InternalError', message: SEE_LOGS };
  if (!reached) return { type, status: 'False', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
  const message = `${kind} has been deleted${isDeleting(of) ? '' : ` while the ${of.kind} still exists`}`;
  return { type, status: 'False', reason: 'ObjectDeleted', message };
}

export interface ProviderConditionOptions extends Omit<AbsenceOptions, 'kind'> {
  /** Condition of the provider's object; without one, the field of its contract decides. */
  from: 'Ready' | 'Available';
  reference: Reference;
  /** Below `status.initialization` of the provider's object. */
  field: string;
  /** Whether one that is absent was there once. Default: as `reached`. */
  wasThere?: boolean;
}

/** What an object says of the provider's object it refers to. */
export function providerCondition(options: ProviderConditionOptions): ConditionInput {
  const { type, from, reference, field, found, reached, wasThere = reached, of } = options;
  const { kind } = reference;
  if (!found.object) return absence({ type, kind, found, reached: wasThere, of });
  const message = `${kind} status.initialization.${field} is false`;
  const fallback: MirrorOptions['fallback'] = reached
    ? { status: 'True', reason: from }
    : { status: 'False', reason: `Not${from}`, message };
  return mirrored({ source: found.object, from, to: type, fine: from, fallback });
}

/** Whether a provider's object reports the condition at all. */
export function reports(object: KubeObject, type: string): boolean {
  try {
    return reported(object, type) !== undefined;
  } catch {
    return false;
  }
}

export interface AggregateOptions {
  from: string;
  to: string;
  reasons: Reasons;
  /** True is bad, in the objects and in the result. */
  negative?: boolean;
}

interface Voice {
  object: KubeObject;
  condition: ConditionInput;
  weight: 'issue' | 'unknown' | 'fine';
}

/** How many different messages are told before the rest is only counted. */
const MESSAGES = 3;

/** One condition for many objects: bad if it is bad in one, unknown if it is unknown in one. Needs at least one object. */
export function aggregated(objects: KubeObject[], options: AggregateOptions): ConditionInput {
  const { from, to, reasons, negative = false } = options;
  const voices = objects.map((object): Voice => {
    const condition = getCondition(object, from) ?? notYetReported(from);
    return { object, condition, weight: weightOf(condition.status, negative) };
  });
  const bad = voices.filter((voice) => voice.weight !== 'fine');
  const has = (weight: Voice['weight']) => voices.some((voice) => voice.weight === weight);
  const [status, reason]: [ConditionStatus, string] = has('issue')
    ? [negative ? 'True' : 'False', reasons.issues]
    : has('unknown')
      ? ['Unknown', reasons.unknown]
      : [negative ? 'False' : 'True', reasons.fine];
  const told = bad.length > 0 ? bad : voices.filter((voice) => voice.condition.message);
  return { type: to, status, reason, message: told.length > 0 ? tell(told) : '' };
}

function notYetReported(type: string): ConditionInput {
  return { type, status: 'Unknown', reason: 'NotYetReported', message: `Condition ${type} not yet reported` };
}

function weightOf(status: ConditionStatus, negative: boolean): Voice['weight'] {
  if (status === 'Unknown') return 'unknown';
  return status === (negative ? 'True' : 'False') ? 'issue' : 'fine';
}

/** Objects that say the same are named together; control plane machines come first, then what most objects say. */
function tell(voices: Voice[]): string {
  const groups = new Map<string, Voice[]>();
  for (const voice of voices) {
    const said = `${voice.object.kind}\n${voice.condition.message ?? ''}`;
    groups.set(said, [...(groups.get(said) ?? []), voice]);
  }
  const order = { issue: 0, unknown: 1, fine: 2 };
  const sorted = [...groups.values()].sort(
    (a, b) =>
      Number(b.some(isControlPlane)) - Number(a.some(isControlPlane)) ||
      Math.min(...a.map((voice) => order[voice.weight])) - Math.min(...b.map((voice) => order[voice.weight])) ||
      b.length - a.length ||
      (namesOf(a) < namesOf(b) ? -1 : 1),
  );
  const lines = sorted.slice(0, MESSAGES).map((group) => {
    const [first] = group as [Voice, ...Voice[]];
    const kind = group.length > 1 ? `${first.object.kind}s` : first.object.kind;
    return `* ${kind} ${namesOf(group)}:${indented(first.condition.message ?? '')}`;
  });
  const rest = sorted.slice(MESSAGES).flat().length;
  if (rest > 0) lines.push(`And ${rest} more with other issues`);
  return lines.join('\n');
}

function isControlPlane({ object }: Voice): boolean {
  return object.metadata.labels?.[LABEL.controlPlane] !== undefined;
}

function namesOf(group: Voice[]): string {
  return listed(group.map((voice) => voice.object.metadata.name ?? ''));
}

function indented(message: string): string {
  if (!message.includes('\n') && !message.startsWith('* ')) return ` ${message}`;
  return message
    .split('\n')
    .map((line) => `\n  ${line}`)
    .join('');
}

/** The first three, and how many more. */
export function listed(names: string[]): string {
  const sorted = [...names].sort();
  const more = sorted.length - 3;
  return sorted.slice(0, 3).join(', ') + (more > 0 ? `, ... (${more} more)` : '');
}

export function hasCondition(object: KubeObject, type: string, status?: ConditionStatus): boolean {
  return getConditions(object).some((c) => c.type === type && (status === undefined || c.status === status));
}
