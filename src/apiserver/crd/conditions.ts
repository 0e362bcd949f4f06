/**
 * What the server says about a CRD: names taken or free, established or not, schema structural or not. Pure; the
 * controller stores the result. Words are those of apiextensions' naming, establishing and nonstructural controllers.
 */
import { approvalOf, isProtectedGroup } from './approval.ts';
import { type Crd, type CrdCondition, type CrdNames, type CrdStatus, condition, setCondition } from './crd.ts';

/** The status a CRD should have, given all other CRDs of the cluster (their status counts). */
export function crdConditions(crd: Crd, others: Iterable<Crd>, now: string): CrdStatus {
  const conditions = (crd.status?.conditions ?? []).map((c) => ({ ...c }));
  const { names, verdict } = acceptNames(crd, others);
  setCondition(conditions, verdict, now);
  setCondition(conditions, established(crd, verdict), now);
  const schema = nonStructural(crd);
  if (schema) setCondition(conditions, schema, now);
  else remove(conditions, 'NonStructuralSchema');
  const policy = approvalPolicy(crd);
  if (policy) setCondition(conditions, policy, now);
  else remove(conditions, 'KubernetesAPIApprovalPolicyConformant');
  if (crd.metadata.deletionTimestamp) setCondition(conditions, TERMINATING, now);
  return { ...crd.status, conditions, acceptedNames: names, storedVersions: crd.status?.storedVersions ?? [] };
}

const TERMINATING: CrdCondition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

function remove(conditions: CrdCondition[], type: string): void {
  const index = conditions.findIndex((c) => c.type === type);
  if (index >= 0) conditions.splice(index, 1);
}

function acceptNames(crd: Crd, others: Iterable<Crd>): { names: CrdNames; verdict: CrdCondition } {
  const wanted = crd.spec.names;
  const wantedNames = new Set([wanted.plural, wanted.singular, ...(wanted.shortNames ?? [])]);
  const wantedKinds = new Set([wanted.kind, wanted.listKind]);
  const resources = new Set<string>();
  const kinds = new Set<string>();
  // There may be a thousand others: only what is wanted is remembered of them.
  const note = (name: string | undefined) => {
    if (name && wantedNames.has(name)) resources.add(name);
  };
  for (const other of others) {
    const accepted = other.status?.acceptedNames;
    if (other.spec.group !== crd.spec.group || !accepted || other.metadata.name === crd.metadata.name) continue;
    note(accepted.plural);
    note(accepted.singular);
    accepted.shortNames?.forEach(note);
    if (wantedKinds.has(accepted.kind)) kinds.add(accepted.kind);
    if (accepted.listKind && wantedKinds.has(accepted.listKind)) kinds.add(accepted.listKind);
  }
  const had = crd.status?.acceptedNames;
  const names: CrdNames = { ...(had ?? { plural: '', kind: '' }) };
  let verdict: CrdCondition = {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  const refuse = (reason: string, message: string) => {
    verdict = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const claim = (part: 'plural' | 'singular' | 'kind' | 'listKind', taken: Set<string>, reason: string) => {
    const name = wanted[part] ?? '';
    if (name !== had?.[part] && taken.has(name)) refuse(reason, `${JSON.stringify(name)} is already in use`);
    else if (name) names[part] = name;
  };
  claim('plural', resources, 'PluralConflict');
  claim('singular', resources, 'SingularConflict');
  const clashes = (wanted.shortNames ?? []).filter((n) => !had?.shortNames?.includes(n) && resources.has(n));
  if (clashes.length > 0) {
    const texts = clashes.map((name) => `${JSON.stringify(name)} is already in use`);
    refuse('ShortNamesConflict', texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`);
  } else if (wanted.shortNames) names.shortNames = wanted.shortNames;
  else delete names.shortNames;
  claim('kind', kinds, 'KindConflict');
  claim('listKind', kinds, 'ListKindConflict');
  if (wanted.categories) names.categories = wanted.categories;
  else delete names.categories;
  return { names, verdict };
}

/** Once established, always: names that clash later do not take the resource away. */
function established(crd: Crd, names: CrdCondition): CrdCondition {
  const known = condition(crd, 'Established');
  if (known?.status === 'True') return known;
  return names.status === 'True'
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

/** Schemas are structural since they were admitted: only this is left to say. */
function nonStructural(crd: Crd): CrdCondition | undefined {
  if (!crd.spec.preserveUnknownFields) return undefined;
  const message = 'spec.preserveUnknownFields: Invalid value: true: must be false';
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message };
}

const POLICY_REASONS = {
  missing: 'MissingAnnotation',
  bypassed: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
  invalid: 'InvalidAnnotation',
} as const;

function approvalPolicy(crd: Crd): CrdCondition | undefined {
  if (!isProtectedGroup(crd.spec.group)) return undefined;
  const { state, reason } = approvalOf(crd);
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'approved' ? 'True' : 'False',
    reason: POLICY_REASONS[state],
    message: reason,
  };
}
