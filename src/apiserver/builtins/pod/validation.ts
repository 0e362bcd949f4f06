/** What a pod spec must satisfy (pkg/apis/core/validation: ValidatePodSpec), on its own or in a template. */
import { type FieldError, field } from '../../status.ts';
import { ip, label, labelSelector, oneOf, optionalOneOf, qualified, subdomain } from '../checks.ts';
import { type Any, items } from '../fields.ts';
import { validateAnnotations, validateLabels } from '../metadata-validation.ts';
import { labelValue, rangeText } from '../names.ts';
import { validateContainer, validateContainers } from './container-validation.ts';
import { validateDns } from './dns-validation.ts';
import { validatePodSecurityContext } from './security-validation.ts';
import { validateVolumes } from './volume-validation.ts';

const MAX_INT32 = 2147483647;
const RESTART = ['Always', 'OnFailure', 'Never'];
const DNS = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTolerations(tolerations: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, toleration] of items(tolerations).entries()) {
    const here = `${path}[${index}]`;
    const { key, operator, value = '', effect, tolerationSeconds } = toleration;
    if (key) errors.push(...qualified(key, `${here}.key`));
    if (!key && operator !== 'Exists') {
      const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(field.invalid(`${here}.operator`, operator ?? '', text));
    }
    if (tolerationSeconds != null && effect !== 'NoExecute') {
      const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(field.invalid(`${here}.effect`, effect ?? '', text));
    }
    if (!operator || operator === 'Equal') {
      const texts = labelValue(value);
      if (texts.length) errors.push(field.invalid(`${here}.operator`, value, texts.join(';')));
    } else if (operator === 'Exists') {
      if (value)
        errors.push(field.invalid(`${here}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else errors.push(field.notSupported(`${here}.operator`, operator, ['Equal', 'Exists']));
    if (effect) errors.push(...optionalOneOf(effect, EFFECTS, `${here}.effect`));
  }
  return errors;
}

function validateSpread(constraints: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, constraint] of items(constraints).entries()) {
    const here = `${path}[${index}]`;
    const { maxSkew = 0, topologyKey, whenUnsatisfiable } = constraint;
    if (maxSkew <= 0) errors.push(field.invalid(`${here}.maxSkew`, maxSkew, 'must be greater than zero'));
    if (!topologyKey) errors.push(field.required(`${here}.topologyKey`, 'can not be empty'));
    else errors.push(...qualified(topologyKey, `${here}.topologyKey`));
    if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable)) {
      const supported = ['DoNotSchedule', 'ScheduleAnyway'];
      errors.push(field.notSupported(`${here}.whenUnsatisfiable`, whenUnsatisfiable ?? '', supported));
    }
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (seen.has(pair)) errors.push(field.duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, pair));
    seen.add(pair);
    errors.push(...labelSelector(constraint.labelSelector, `${here}.labelSelector`));
  }
  return errors;
}

function validateNodeTerms(terms: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, term] of items(terms).entries()) {
    for (const [at, requirement] of items(term.matchExpressions).entries()) {
      const here = `${path}[${index}].matchExpressions[${at}]`;
      const { operator, values } = requirement;
      if (operator === 'In' || operator === 'NotIn') {
        if (items(values).length === 0) {
          errors.push(field.required(`${here}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
      } else if (operator === 'Exists' || operator === 'DoesNotExist') {
        if (items(values).length) {
          const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
          errors.push(field.forbidden(`${here}.values`, text));
        }
      } else if (operator === 'Gt' || operator === 'Lt') {
        if (items(values).length !== 1) {
          errors.push(
            field.required(`${here}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"),
          );
        }
      } else errors.push(field.invalid(`${here}.operator`, operator ?? '', 'not a valid selector operator'));
      errors.push(...qualified(requirement.key ?? '', `${here}.key`));
    }
  }
  return errors;
}

function validateAffinity(affinity: Any, path: string): FieldError[] {
  if (!affinity) return [];
  const errors: FieldError[] = [];
  const required = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required) {
    const here = `${path}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    if (items(required.nodeSelectorTerms).length === 0) {
      errors.push(field.required(here, 'must have at least one node selector term'));
    }
    errors.push(...validateNodeTerms(required.nodeSelectorTerms, here));
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const here = `${path}.${kind}`;
    const hard = 'requiredDuringSchedulingIgnoredDuringExecution';
    const soft = 'preferredDuringSchedulingIgnoredDuringExecution';
    for (const [index, term] of items(affinity[kind]?.[hard]).entries()) {
      errors.push(...validatePodTerm(term, `${here}.${hard}[${index}]`));
    }
    for (const [index, term] of items(affinity[kind]?.[soft]).entries()) {
      const at = `${here}.${soft}[${index}]`;
      if (!(term.weight >= 1 && term.weight <= 100)) {
        errors.push(field.invalid(`${at}.weight`, term.weight ?? 0, 'must be in the range 1-100'));
      }
      errors.push(...validatePodTerm(term.podAffinityTerm ?? {}, `${at}.podAffinityTerm`));
    }
  }
  return errors;
}

function validatePodTerm(term: Any, path: string): FieldError[] {
  const errors = labelSelector(term.labelSelector, `${path}.labelSelector`);
  if (!term.topologyKey) errors.push(field.required(`${path}.topologyKey`, 'can not be empty'));
  errors.push(...qualified(term.topologyKey ?? '', `${path}.topologyKey`));
  return errors;
}

function validateSchedulingGates(gates: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { name = '' }] of items(gates).entries()) {
    errors.push(...qualified(name, `${path}[${index}]`));
    if (seen.has(name)) errors.push(field.duplicate(`${path}[${index}]`, name));
    seen.add(name);
  }
  return errors;
}

export function validatePodSpec(spec: Any, path: string): FieldError[] {
  const { names, errors } = validateVolumes(spec.volumes, `${path}.volumes`);
  errors.push(...validateContainers(spec, names, path));
  for (const [index, container] of items(spec.ephemeralContainers).entries()) {
    errors.push(...validateContainer(container, names, `${path}.ephemeralContainers[${index}]`));
  }
  errors.push(...oneOf(spec.restartPolicy, RESTART, `${path}.restartPolicy`));
  errors.push(...oneOf(spec.dnsPolicy, DNS, `${path}.dnsPolicy`));
  errors.push(...validateLabels(spec.nodeSelector ?? {}, `${path}.nodeSelector`));
  errors.push(...validatePodSecurityContext(spec.securityContext, `${path}.securityContext`));
  errors.push(...validateAffinity(spec.affinity, `${path}.affinity`));
  errors.push(...validateDns(spec.dnsConfig, spec.dnsPolicy, `${path}.dnsConfig`));
  for (const [index, { conditionType = '' }] of items(spec.readinessGates).entries()) {
    errors.push(...qualified(conditionType, `${path}.readinessGates[${index}].conditionType`));
  }
  errors.push(...validateSchedulingGates(spec.schedulingGates, `${path}.schedulingGates`));
  errors.push(...validateSpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`));
  for (const name of ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName']) {
    if (spec[name]) errors.push(...subdomain(spec[name], `${path}.${name}`));
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline != null && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(field.invalid(`${path}.activeDeadlineSeconds`, deadline, rangeText(1, MAX_INT32)));
  }
  for (const name of ['hostname', 'subdomain']) if (spec[name]) errors.push(...label(spec[name], `${path}.${name}`));
  errors.push(...validateTolerations(spec.tolerations, `${path}.tolerations`));
  for (const [index, alias] of items(spec.hostAliases).entries()) {
    errors.push(...ip(alias.ip, `${path}.hostAliases[${index}].ip`));
    for (const [at, name] of items(alias.hostnames).entries()) {
      errors.push(...subdomain(name, `${path}.hostAliases[${index}].hostnames[${at}]`));
    }
  }
  errors.push(...optionalOneOf(spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'], `${path}.preemptionPolicy`));
  if (spec.os) {
    const { name } = spec.os;
    if (!name) errors.push(field.required(`${path}.os.name`));
    else errors.push(...optionalOneOf(name, ['linux', 'windows'], `${path}.os`));
  }
  return errors;
}

/** A template in a workload: the spec, and labels and annotations of the pods to come. */
export function validatePodTemplate(template: Any, path: string): FieldError[] {
  const errors = validateLabels(template?.metadata?.labels ?? {}, `${path}.labels`);
  errors.push(...validateAnnotations(template?.metadata?.annotations ?? {}, `${path}.annotations`));
  errors.push(...validatePodSpec(template?.spec ?? {}, `${path}.spec`));
  if (items(template?.spec?.ephemeralContainers).length) {
    errors.push(
      field.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
    );
  }
  return errors;
}

export function validatePodOnly(pod: Any): FieldError[] {
  const errors = validatePodSpec(pod.spec, 'spec');
  for (const list of ['containers', 'initContainers']) {
    for (const [index, { image = '' }] of items(pod.spec[list]).entries()) {
      if (image === image.trim()) continue;
      const text = 'must not have leading or trailing whitespace';
      errors.push(field.invalid(`spec.${list}[${index}].image`, image, text));
    }
  }
  return errors;
}

export function validatePod(pod: Any): FieldError[] {
  const errors = validatePodOnly(pod);
  if (items(pod.spec.ephemeralContainers).length) {
    errors.push(field.forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (pod.spec.nodeName && items(pod.spec.schedulingGates).length) {
    errors.push(field.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return errors;
}
