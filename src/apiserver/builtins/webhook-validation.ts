/** Webhook configurations (pkg/apis/admissionregistration/validation). */
import { compileCondition } from '../cel/condition.ts';
import { type FieldError, field } from '../status.ts';
import { labelSelector, optionalOneOf, qualified } from './checks.ts';
import { type Any, items, same } from './fields.ts';
import { dns1035Label, dns1123Subdomain } from './names.ts';
import { webhookService, webhookUrl } from './webhook-client-validation.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const REVIEWS = ['v1', 'v1beta1'];
const HARMLESS = ['None', 'NoneOnDryRun'];
const MAX_CONDITIONS = 64;

/** A name with at least three parts. */
function fullyQualified(name: string, path: string): FieldError[] {
  if (!name) return [field.required(path)];
  const texts = dns1123Subdomain(name);
  if (texts.length) return [field.invalid(path, name, texts.join(','))];
  if (name.split('.').length >= 3) return [];
  return [field.invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

export function validateRule(rule: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const star = (list: string, what: string) => {
    const values = items(rule[list]);
    if (values.length === 0) errors.push(field.required(`${path}.${list}`));
    if (values.length > 1 && values.includes('*')) {
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
  for (const [index, version] of items(rule.apiVersions).entries()) {
    if (version === '') errors.push(field.required(`${path}.apiVersions[${index}]`));
  }
  errors.push(...ruleResources(items(rule.resources), `${path}.resources`));
  errors.push(...optionalOneOf(rule.scope, ['*', 'Cluster', 'Namespaced'], `${path}.scope`));
  return errors;
}

/** A pattern that covers another makes the other a mistake. */
function ruleResources(resources: string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (resources.length === 0) errors.push(field.required(path));
  /** Seen as `x/*` and as `*\/x`. */
  const allBelow = new Set<string>();
  const ofAll = new Set<string>();
  let plain = false;
  for (const [index, resource] of resources.entries()) {
    const at = `${path}[${index}]`;
    const slash = resource.indexOf('/');
    if (resource === '') errors.push(field.required(at));
    else if (slash < 0) plain = resource !== '*';
    else {
      const [name, below] = [resource.slice(0, slash), resource.slice(slash + 1)];
      const covered = (by: string) =>
        field.invalid(at, resource, `if '${by}' is present, must not specify ${resource}`);
      if (allBelow.has(name)) errors.push(covered(`${name}/*`));
      if (ofAll.has(below)) errors.push(covered(`*/${below}`));
      if (below === '*') allBelow.add(name);
      if (name === '*') ofAll.add(below);
    }
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(field.invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && plain) {
    const text = "if '*' is present, must not specify other resources without subresources";
    errors.push(field.invalid(path, resources, text));
  }
  return errors;
}

function clientErrors(config: Any, path: string): FieldError[] {
  const { url, service } = config ?? {};
  if ((url == null) === (service == null)) return [field.required(path, 'exactly one of url or service is required')];
  return url != null ? webhookUrl(url, `${path}.url`) : webhookService(service, `${path}.service`);
}

export function validateMatchConditions(conditions: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const all = items(conditions);
  if (all.length > MAX_CONDITIONS) errors.push(field.tooMany(path, all.length, MAX_CONDITIONS));
  for (const [index, { name, expression }] of all.entries()) {
    const at = `${path}[${index}]`;
    const trimmed = (expression ?? '').trim();
    const problem = trimmed === '' ? undefined : conditionProblem(trimmed);
    if (trimmed === '') errors.push(field.required(`${at}.expression`));
    else if (problem) errors.push(field.invalid(`${at}.expression`, trimmed, problem));
    if (!name) errors.push(field.required(`${at}.name`));
    else errors.push(...qualified(name, `${at}.name`));
    if (name && names.has(name)) errors.push(field.duplicate(`${at}.name`, name));
    names.add(name);
  }
  return errors;
}

function conditionProblem(expression: string): string | undefined {
  try {
    compileCondition(expression);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith('ERROR: ') ? `compilation failed: ${message}` : message;
  }
}

function reviewVersions(versions: string[], path: string): FieldError[] {
  if (versions.length === 0) return [field.required(path, `must specify one of ${REVIEWS.join(', ')}`)];
  const errors: FieldError[] = [];
  for (const [index, version] of versions.entries()) {
    const at = `${path}[${index}]`;
    if (versions.indexOf(version) < index) errors.push(field.invalid(at, version, 'duplicate version'));
    else for (const text of dns1035Label(version)) errors.push(field.invalid(at, version, text));
  }
  if (!versions.some((version) => REVIEWS.includes(version))) {
    errors.push(field.invalid(path, versions, `must include at least one of ${REVIEWS.join(', ')}`));
  }
  return errors;
}

function sideEffects(value: string | null | undefined, path: string): FieldError[] {
  if (value == null) return [field.required(path, `must specify one of ${HARMLESS.join(', ')}`)];
  return optionalOneOf(value, HARMLESS, path);
}

/** `old`: conditions nobody touched stay, even where today's compiler would refuse them. */
export function validateWebhooks({ webhooks }: Any, mutating: boolean, old?: Any): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const before = items(old?.webhooks);
  const all = items(webhooks);
  const keepsConditions =
    all.length === before.length &&
    all.every((hook, index) => same(hook.matchConditions, before[index].matchConditions));
  for (const [index, hook] of all.entries()) {
    const here = `webhooks[${index}]`;
    errors.push(...fullyQualified(hook.name, `${here}.name`));
    for (const [at, rule] of items(hook.rules).entries()) errors.push(...validateRule(rule, `${here}.rules[${at}]`));
    errors.push(...optionalOneOf(hook.failurePolicy, ['Fail', 'Ignore'], `${here}.failurePolicy`));
    errors.push(...optionalOneOf(hook.matchPolicy, ['Equivalent', 'Exact'], `${here}.matchPolicy`));
    errors.push(...sideEffects(hook.sideEffects, `${here}.sideEffects`));
    if (hook.timeoutSeconds > 30 || hook.timeoutSeconds < 1) {
      const text = 'the timeout value must be between 1 and 30 seconds';
      errors.push(field.invalid(`${here}.timeoutSeconds`, hook.timeoutSeconds, text));
    }
    errors.push(...labelSelector(hook.namespaceSelector, `${here}.namespaceSelector`));
    errors.push(...labelSelector(hook.objectSelector, `${here}.objectSelector`));
    if (mutating) {
      errors.push(...optionalOneOf(hook.reinvocationPolicy, ['IfNeeded', 'Never'], `${here}.reinvocationPolicy`));
    }
    errors.push(...clientErrors(hook.clientConfig, `${here}.clientConfig`));
    if (!keepsConditions) errors.push(...validateMatchConditions(hook.matchConditions, `${here}.matchConditions`));
    errors.push(...reviewVersions(items(hook.admissionReviewVersions), `${here}.admissionReviewVersions`));
    if (hook.name && names.has(hook.name)) errors.push(field.duplicate(`${here}.name`, hook.name));
    names.add(hook.name);
  }
  return errors;
}
