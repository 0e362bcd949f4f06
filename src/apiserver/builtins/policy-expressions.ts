/** Expressions of admission policies, compiled when they are written (pkg/apis/admissionregistration). */
import { type AdmissionOptions, admissionEnvironment, compileAdmission } from '../cel/admission-environment.ts';
import type { Environment } from '../cel/check/environment.ts';
import { BOOL, NULL, STRING, type Type } from '../cel/check/type.ts';
import { ComposedVariables } from '../cel/composed-variables.ts';
import { type FieldError, field } from '../status.ts';
import { type Any, items } from './fields.ts';
import { qualifiedName } from './names.ts';

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
const MAX_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;

const isBlank = (text: unknown) => typeof text !== 'string' || text.trim() === '';

function compiles(expression: string, env: Environment, types: readonly Type[], path: string): FieldError[] {
  try {
    compileAdmission(expression, env, types);
    return [];
  } catch (error) {
    return [field.invalid(path, expression, (error as Error).message)];
  }
}

/** `params`: whether conditions may use them. */
function matchConditionErrors(conditions: unknown, path: string, params: boolean): FieldError[] {
  const all = items(conditions);
  const errors: FieldError[] = [];
  if (all.length > 64) errors.push(field.tooMany(path, all.length, 64));
  const env = () => admissionEnvironment({ params, authorizer: true });
  const seen = new Set<string>();
  for (const [index, { name, expression }] of all.entries()) {
    const here = `${path}[${index}]`;
    if (isBlank(expression)) errors.push(field.required(`${here}.expression`));
    else errors.push(...compiles(expression.trim(), env(), [BOOL], `${here}.expression`));
    if (!name) errors.push(field.required(`${here}.name`));
    else {
      for (const text of qualifiedName(name)) errors.push(field.invalid(`${here}.name`, name, text));
      if (seen.has(name)) errors.push(field.duplicate(`${here}.name`, name));
      seen.add(name);
    }
  }
  return errors;
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

export function policyExpressionErrors({ metadata, spec }: Any): FieldError[] {
  const params = spec.paramKind !== undefined && spec.paramKind !== null;
  const options: AdmissionOptions = { params, authorizer: true };
  const errors = matchConditionErrors(spec.matchConditions, 'spec.matchConditions', params);
  const sources = items(spec.variables).filter(({ name, expression }) => !isBlank(name) && !isBlank(expression));
  const variables = new ComposedVariables(sources as never[], options);
  for (const [index, { name, expression }] of items(spec.variables).entries()) {
    const here = `spec.variables[${index}]`;
    if (isBlank(name)) errors.push(field.required(`${here}.name`, 'name is not specified'));
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
      errors.push(field.invalid(`${here}.name`, name, 'name is not a valid CEL identifier'));
    }
    if (isBlank(expression)) errors.push(field.required(`${here}.expression`, 'expression is not specified'));
    else {
      const problem = variables.problem(name);
      if (problem) errors.push(field.invalid(`${here}.expression`, expression, problem.message));
    }
  }
  const composed = (more: AdmissionOptions) =>
    items(spec.variables).length > 0 ? variables.environment(more) : admissionEnvironment(more);
  for (const [index, validation] of items(spec.validations).entries()) {
    errors.push(...validationErrors(validation, `spec.validations[${index}]`, composed, params));
  }
  const annotations = items(spec.auditAnnotations);
  if (annotations.length > MAX_ANNOTATIONS) {
    const text = `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`;
    errors.push(field.invalid('spec.auditAnnotations', annotations, text));
  }
  const keys = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const here = `spec.auditAnnotations[${index}]`;
    errors.push(...annotationErrors(annotation, here, metadata?.name ?? '', composed(options)));
    if (keys.has(annotation.key)) errors.push(field.duplicate(`${here}.key`, annotation.key));
    keys.add(annotation.key);
  }
  return errors;
}

function validationErrors(
  { expression, message = '', messageExpression = '', reason }: Any,
  here: string,
  composed: (options: AdmissionOptions) => Environment,
  params: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (isBlank(expression)) errors.push(field.required(`${here}.expression`, 'expression is not specified'));
  else errors.push(...compiles(expression, composed({ params, authorizer: true }), [BOOL], `${here}.expression`));
  const at = `${here}.messageExpression`;
  if (messageExpression !== '' && isBlank(messageExpression)) {
    errors.push(field.invalid(at, messageExpression, 'must be non-empty if specified'));
  } else if (messageExpression !== '') {
    errors.push(...compiles(messageExpression, composed({ params }), [STRING], at));
  }
  if (message !== '' && isBlank(message)) {
    errors.push(field.invalid(`${here}.message`, message, 'message must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(field.invalid(`${here}.message`, message, 'message must not contain line breaks'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(field.notSupported(`${here}.reason`, reason, REASONS));
  }
  return errors;
}

function annotationErrors({ key, valueExpression }: Any, here: string, name: string, env: Environment): FieldError[] {
  const errors: FieldError[] = [];
  if (name === '') errors.push(field.invalid(`${here}.key`, key, 'requires metadata.name be non-empty'));
  else {
    const full = `${name}/${key}`;
    for (const text of qualifiedName(full)) errors.push(field.invalid(`${here}.key`, full, text));
  }
  const at = `${here}.valueExpression`;
  if (isBlank(valueExpression)) errors.push(field.required(at, 'valueExpression is not specified'));
  else if (Buffer.byteLength(valueExpression.trim()) > MAX_VALUE_EXPRESSION) {
    errors.push(field.required(at, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`));
  } else errors.push(...compiles(valueExpression.trim(), env, [STRING, NULL], at));
  return errors;
}

/** What a binding says of its params. */
export function paramRefErrors(ref: Any, path: string): FieldError[] {
  if (!ref) return [];
  const errors: FieldError[] = [];
  const text = 'name and selector are mutually exclusive';
  if (ref.name && ref.selector) {
    errors.push(field.forbidden(`${path}.name`, text), field.forbidden(`${path}.selector`, text));
  }
  if (!ref.name && !ref.selector) errors.push(field.required(path, 'one of name or selector must be specified'));
  const action = ref.parameterNotFoundAction;
  const at = `${path}.parameterNotFoundAction`;
  if (!action) errors.push(field.required(at));
  else if (action !== 'Deny' && action !== 'Allow') errors.push(field.notSupported(at, action, ['Deny', 'Allow']));
  return errors;
}
