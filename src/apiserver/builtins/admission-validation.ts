/** Webhook configurations and admission policies (pkg/apis/admissionregistration/validation). CEL is checked elsewhere. */
import { type FieldError, field } from '../status.ts';
import { labelSelector, optionalOneOf } from './checks.ts';
import { type Any, items } from './fields.ts';
import { dns1123Subdomain, rangeText } from './names.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const REVIEWS = ['v1', 'v1beta1'];

/** A name with at least three parts. */
function fullyQualified(name: string, path: string): FieldError[] {
  if (!name) return [field.required(path)];
  const texts = dns1123Subdomain(name);
  if (texts.length) return [field.invalid(path, name, texts.join(','))];
  if (name.split('.').length >= 3) return [];
  return [field.invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function validateRule(rule: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const star = (list: string, what: string) => {
    const values = items(rule[list]);
    if (values.length === 0) errors.push(field.required(`${path}.${list}`));
    if (values.length > 1 && values.includes('*') && what) {
      errors.push(field.invalid(`${path}.${list}`, values, `if '*' is present, must not specify other ${what}`));
    }
  };
  star('operations', 'operations');
  for (const [index, operation] of items(rule.operations).entries()) {
    if (!OPERATIONS.includes(operation)) {
      errors.push(field.notSupported(`${path}.operations[${index}]`, operation, OPERATIONS));
    }
  }
  star('apiGroups', 'API groups');
  star('apiVersions', 'API versions');
  star('resources', '');
  for (const [index, version] of items(rule.apiVersions).entries()) {
    if (version === '') errors.push(field.required(`${path}.apiVersions[${index}]`));
  }
  errors.push(...optionalOneOf(rule.scope, ['*', 'Cluster', 'Namespaced'], `${path}.scope`));
  return errors;
}

function validateUrl(text: string, path: string): FieldError[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return [
      field.required(
        path,
        `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URI; desired format: https://host[/path]`,
      ),
    ];
  }
  const desired = '; desired format: https://host[/path]';
  const errors: FieldError[] = [];
  if (url.protocol !== 'https:') {
    errors.push(field.invalid(path, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${desired}`));
  }
  if (!url.hostname) errors.push(field.invalid(path, '', `host must be specified${desired}`));
  if (url.username) errors.push(field.invalid(path, url.username, 'user information is not permitted in the URL'));
  if (url.hash) errors.push(field.invalid(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search)
    errors.push(field.invalid(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}

function validateClient(config: Any, path: string): FieldError[] {
  const { url, service } = config ?? {};
  if ((url == null) === (service == null)) return [field.required(path, 'exactly one of url or service is required')];
  if (url != null) return validateUrl(url, `${path}.url`);
  const errors: FieldError[] = [];
  if (!service.name) errors.push(field.required(`${path}.service.name`, 'service name is required'));
  if (!service.namespace) errors.push(field.required(`${path}.service.namespace`, 'service namespace is required'));
  if (service.port < 1 || service.port > 65535) {
    errors.push(field.invalid(`${path}.service.port`, service.port, `port is not valid: ${rangeText(1, 65535)}`));
  }
  return errors;
}

export function validateWebhooks({ webhooks }: Any, mutating: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, hook] of items(webhooks).entries()) {
    const here = `webhooks[${index}]`;
    errors.push(...fullyQualified(hook.name, `${here}.name`));
    for (const [at, rule] of items(hook.rules).entries()) errors.push(...validateRule(rule, `${here}.rules[${at}]`));
    errors.push(...optionalOneOf(hook.failurePolicy, ['Fail', 'Ignore'], `${here}.failurePolicy`));
    errors.push(...optionalOneOf(hook.matchPolicy, ['Equivalent', 'Exact'], `${here}.matchPolicy`));
    const effects = ['None', 'NoneOnDryRun'];
    if (hook.sideEffects == null) {
      errors.push(field.required(`${here}.sideEffects`, `must specify one of ${effects.join(', ')}`));
    } else errors.push(...optionalOneOf(hook.sideEffects, effects, `${here}.sideEffects`));
    if (hook.timeoutSeconds > 30 || hook.timeoutSeconds < 1) {
      const text = 'the timeout value must be between 1 and 30 seconds';
      errors.push(field.invalid(`${here}.timeoutSeconds`, hook.timeoutSeconds, text));
    }
    errors.push(...labelSelector(hook.namespaceSelector, `${here}.namespaceSelector`));
    errors.push(...labelSelector(hook.objectSelector, `${here}.objectSelector`));
    if (mutating) {
      errors.push(...optionalOneOf(hook.reinvocationPolicy, ['IfNeeded', 'Never'], `${here}.reinvocationPolicy`));
    }
    errors.push(...validateClient(hook.clientConfig, `${here}.clientConfig`));
    const versions = items(hook.admissionReviewVersions);
    const path = `${here}.admissionReviewVersions`;
    if (versions.length === 0) {
      errors.push(field.required(path, `must specify one of ${REVIEWS.join(', ')}`));
    } else if (!versions.some((version) => REVIEWS.includes(version))) {
      errors.push(field.invalid(path, versions, `must include at least one of ${REVIEWS.join(', ')}`));
    }
    if (hook.name && names.has(hook.name)) errors.push(field.duplicate(`${here}.name`, hook.name));
    names.add(hook.name);
  }
  return errors;
}

export function validatePolicy({ spec = {} }: Any): FieldError[] {
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
  for (const [index, validation] of items(spec.validations).entries()) {
    if (!(validation.expression ?? '').trim()) {
      errors.push(field.required(`spec.validations[${index}].expression`, 'expression is not specified'));
    }
  }
  return errors;
}

export function validatePolicyBinding({ spec = {}, kind }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec.policyName) errors.push(field.required('spec.policyName'));
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
