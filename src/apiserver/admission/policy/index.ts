/** ValidatingAdmissionPolicy: rules in CEL that users bind to resources. */

import type { Authorizer } from '../../auth/identity.ts';
import type { Registry } from '../../kinds/registry.ts';
import { offload } from '../../offload/offload.ts';
import type { Resource } from '../../resource.ts';
import { ApiError } from '../../status.ts';
import type { Store } from '../../store/store.ts';
import { Turns } from '../../turns.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refuse } from '../admission.ts';
import { formsOf } from '../webhook/forms.ts';
import type { Forms } from '../webhook/match.ts';
import { kindOf, requestOf } from '../webhook/review.ts';
import type { Evaluation } from './evaluator.ts';
import { matched } from './match.ts';
import { paramsOf } from './params.ts';
import { type BoundPolicy, Policies, type PolicyBinding } from './policies.ts';

export interface PolicyOptions {
  store: Store;
  registry: Registry;
  authorizer: Authorizer;
}

interface Denial {
  policy: string;
  binding?: string;
  message: string;
  reason: string;
}

/** Policies must stay removable, so they are not asked about themselves. */
function isExempt({ resource }: AdmissionAttributes): boolean {
  return (
    resource.group === 'admissionregistration.k8s.io' && /^(validating|mutating)admissionpolic/.test(resource.plural)
  );
}

export function validatingPolicies(options: PolicyOptions): { plugin: AdmissionPlugin; stop: () => void } {
  const policies = new Policies();
  const plugin: AdmissionPlugin = {
    name: 'ValidatingAdmissionPolicy',
    external: true,
    handles: (attributes) => policies.bound.length > 0 && !isExempt(attributes),
    async validate(attributes) {
      const forms = formsOf(attributes);
      const denials: Denial[] = [];
      const turns = new Turns();
      for (const policy of policies.bound) {
        await judge(policy, attributes, options, forms, denials);
        await turns.pause();
      }
      if (denials[0]) throw denial(attributes, denials[0]);
    },
  };
  return { plugin, stop: policies.follow(options.store) };
}

async function judge(
  policy: BoundPolicy,
  attributes: AdmissionAttributes,
  options: PolicyOptions,
  forms: Forms,
  denials: Denial[],
): Promise<void> {
  const misconfigured = (error: unknown, binding?: PolicyBinding) => {
    if (!(error instanceof Error)) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${error.message}`;
    denials.push({ policy: policy.name, binding: binding?.name, message, reason: '' });
  };
  let resource: Resource | undefined;
  try {
    resource = matched(policy.criteria, attributes, options.registry);
  } catch (error) {
    return misconfigured(error);
  }
  if (!resource) return;
  const annotations = new Map<string, Set<string>>();
  for (const binding of policy.bindings) {
    try {
      if (!matched(binding.criteria, attributes, options.registry)) continue;
      const params = paramsOf(policy.spec.paramKind, binding.spec.paramRef, attributes, options.registry);
      for (const param of params) {
        const evaluation = await evaluate(policy, attributes, options, forms, resource, param);
        act(policy, binding, evaluation, attributes, annotations, denials);
      }
    } catch (error) {
      misconfigured(error, binding);
    }
  }
  for (const [key, values] of annotations) annotate(attributes, `${policy.name}/${key}`, [...values].join(', '));
}

async function evaluate(
  policy: BoundPolicy,
  attributes: AdmissionAttributes,
  { authorizer }: PolicyOptions,
  forms: Forms,
  resource: Resource,
  params: unknown,
): Promise<Evaluation> {
  const { identity } = attributes;
  const kind = attributes.kind ?? { group: resource.group, version: resource.version, kind: resource.kind };
  const admission = {
    object: await forms.object(resource),
    oldObject: await forms.old(resource),
    request: requestOf(attributes, { resource, kind } as Parameters<typeof requestOf>[1]),
    namespaceObject: namespaceObject(attributes),
    params,
    identity,
  };
  const steps = policy.evaluate({ ...admission, authorizer });
  return offload(steps, 'policy', [policy.spec, admission], { scope: attributes.scope, authorizer });
}

/** What policies may know of the namespace: not who owns which of its fields. */
function namespaceObject(attributes: AdmissionAttributes): unknown {
  if (kindOf(attributes).kind === 'Namespace' || !attributes.namespace) return undefined;
  const found = attributes.store.get({ resource: '/namespaces', namespace: '', name: attributes.namespace })?.object();
  if (!found) return undefined;
  const { managedFields: _, ownerReferences: __, ...metadata } = found.metadata;
  return { metadata, spec: found.spec ?? {}, status: found.status ?? {} };
}

const MAX_ANNOTATION = 10 * 1024;

function act(
  policy: BoundPolicy,
  binding: PolicyBinding,
  { decisions, annotations }: Evaluation,
  attributes: AdmissionAttributes,
  collected: Map<string, Set<string>>,
  denials: Denial[],
): void {
  const about = { policy: policy.name, binding: binding.name };
  decisions.forEach(({ denied }, expressionIndex) => {
    if (!denied) return;
    for (const action of binding.spec.validationActions ?? []) {
      if (action === 'Deny') denials.push({ ...about, ...denied });
      if (action === 'Warn') {
        const text = `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
        attributes.warnings?.push(`${text}: ${denied.message}`);
      }
      if (action === 'Audit') {
        const { message } = denied;
        const value = [{ message, ...about, expressionIndex, validationActions: binding.spec.validationActions }];
        annotate(attributes, 'validation.policy.admission.k8s.io/validation_failure', JSON.stringify(value));
      }
    }
  });
  for (const { key, value, error } of annotations) {
    if (error !== undefined) denials.push({ ...about, message: error, reason: '' });
    if (value === undefined) continue;
    const values = collected.get(key) ?? new Set();
    collected.set(key, values.add(value.slice(0, MAX_ANNOTATION)));
  }
}

/** The first word on a subject stands, as in upstream's audit events. */
function annotate(attributes: AdmissionAttributes, key: string, value: string): void {
  attributes.annotations ??= {};
  attributes.annotations[key] ??= value;
}

const CODES: Record<string, number> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function denial(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): ApiError {
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  const base = refuse(attributes, text);
  const why = reason || 'Invalid';
  return new ApiError(CODES[why] ?? 422, why, base.message, { ...base.details, causes: [{ message: text }] });
}
