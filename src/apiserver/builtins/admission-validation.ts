/** Admission policies (pkg/apis/admissionregistration/validation). Expressions are checked in policy-expressions.ts. */
import { type FieldError, field } from '../status.ts';
import { optionalOneOf } from './checks.ts';
import { type Any, items } from './fields.ts';
import { dns1123Subdomain } from './names.ts';
import { paramRefErrors, policyExpressionErrors } from './policy-expressions.ts';
import { validateRule } from './webhook-validation.ts';

export function validatePolicy({ metadata, spec = {} }: Any): FieldError[] {
  const errors: FieldError[] = [];
  errors.push(...optionalOneOf(spec.failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy'));
  if (spec.paramKind) {
    for (const name of ['apiVersion', 'kind']) {
      if (!spec.paramKind[name]) errors.push(field.required(`spec.paramKind.${name}`));
    }
  }
  if (!spec.matchConstraints) errors.push(field.required('spec.matchConstraints'));
  else {
    const here = 'spec.matchConstraints';
    if (items(spec.matchConstraints.resourceRules).length === 0) errors.push(field.required(`${here}.resourceRules`));
    for (const [index, rule] of items(spec.matchConstraints.resourceRules).entries()) {
      errors.push(...validateRule(rule, `${here}.resourceRules[${index}]`));
    }
  }
  if (items(spec.validations).length === 0 && items(spec.auditAnnotations).length === 0) {
    const text = 'validations or auditAnnotations must be non-empty';
    for (const name of ['validations', 'auditAnnotations']) errors.push(field.required(`spec.${name}`, text));
  }
  errors.push(...policyExpressionErrors({ metadata, spec }));
  return errors;
}

export function validatePolicyBinding({ spec = {}, kind }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec.policyName) errors.push(field.required('spec.policyName'));
  else {
    for (const text of dns1123Subdomain(spec.policyName))
      errors.push(field.invalid('spec.policyName', spec.policyName, text));
  }
  errors.push(...paramRefErrors(spec.paramRef, 'spec.paramRef'));
  if (kind !== 'ValidatingAdmissionPolicyBinding') return errors;
  const actions = items(spec.validationActions);
  const path = 'spec.validationActions';
  if (actions.length === 0) errors.push(field.required(path, 'at least one validation action is required'));
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    if (!['Audit', 'Deny', 'Warn'].includes(action)) {
      errors.push(field.notSupported(`${path}[${index}]`, action, ['Audit', 'Deny', 'Warn']));
    }
    if (seen.has(action)) errors.push(field.duplicate(`${path}[${index}]`, action));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const text =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(field.invalid(path, actions, text));
  }
  return errors;
}
