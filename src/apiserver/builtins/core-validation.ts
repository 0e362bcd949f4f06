/** Checks of the smaller core kinds (pkg/apis/core/validation). Volumes and quotas have their own files. */
import { type FieldError, field } from '../status.ts';
import { cidr, ip, isIPv4, isIPv6, label, oneOf, qualified, subdomain } from './checks.ts';
import { type Any, items } from './fields.ts';
import { labelValue, portNumber } from './names.ts';
import { validateResourceQuantity } from './resource-list.ts';

export {
  validateLimitRange,
  validateResourceQuota,
  validateResourceQuotaUpdate,
} from './quota-validation.ts';
export {
  validateClaim,
  validateClaimUpdate,
  validatePersistentVolume,
  validatePersistentVolumeUpdate,
} from './volume-validation.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateNamespace({ spec }: Any): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of items(spec?.finalizers)) {
    errors.push(...qualified(name, 'spec.finalizers'));
    if (!name.includes('/') && name !== 'kubernetes') {
      const text = 'name is neither a standard finalizer name nor is it fully qualified';
      errors.push(field.invalid('spec.finalizers', name, text));
    }
  }
  return errors;
}

function validateTaints(taints: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of items(taints).entries()) {
    const here = `${path}[${index}]`;
    errors.push(...qualified(taint.key ?? '', `${here}.key`));
    const texts = labelValue(taint.value ?? '');
    if (texts.length) errors.push(field.invalid(`${here}.value`, taint.value, texts.join(';')));
    errors.push(...oneOf(taint.effect, EFFECTS, `${here}.effect`));
    const pair = `${taint.effect}/${taint.key}`;
    if (seen.has(pair)) {
      const duplicate = field.duplicate(here, taint);
      errors.push({ ...duplicate, message: `${duplicate.message}: taints must be unique by key and effect pair` });
    }
    seen.add(pair);
  }
  return errors;
}

export function validateNode({ spec, status }: Any): FieldError[] {
  const errors = validateTaints(spec?.taints, 'metadata.taints');
  for (const list of ['capacity', 'allocatable']) {
    for (const [name, value] of Object.entries(status?.[list] ?? {})) {
      errors.push(...validateResourceQuantity(name, value, `status.${list}[${name}]`));
    }
  }
  for (const [index, range] of items(spec?.podCIDRs).entries()) errors.push(...cidr(range, `spec.podCIDRs[${index}]`));
  return errors;
}

export function validateNodeUpdate(node: Any, old: Any): FieldError[] {
  const errors = validateNode(node);
  const seen = new Set<string>();
  for (const [index, address] of items(node.status?.addresses).entries()) {
    const text = `${address.type}/${address.address}`;
    if (seen.has(text)) errors.push(field.duplicate(`status.addresses[${index}]`, address));
    seen.add(text);
  }
  const before = items(old.spec?.podCIDRs);
  const now = items(node.spec?.podCIDRs);
  if (before.length && (before.length !== now.length || before.some((range, index) => range !== now[index]))) {
    errors.push(field.forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (old.spec?.providerID && old.spec.providerID !== node.spec?.providerID) {
    errors.push(field.forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  return errors;
}

/** Addresses that can never be an endpoint: unspecified, loopback, link-local. */
export function endpointIP(address: string, path: string): FieldError[] {
  if (!isIPv4(address) && !isIPv6(address)) return [field.invalid(path, address, 'must be a valid IP address')];
  const reasons: Array<[RegExp, string]> = [
    [/^(0\.0\.0\.0|::)$/, 'may not be unspecified (0.0.0.0 or ::)'],
    [/^(127\.|::1$)/, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    [/^(169\.254\.|fe[89ab][0-9a-f]:)/i, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    [/^(224\.0\.0\.|ff02:)/i, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ];
  return reasons.filter(([pattern]) => pattern.test(address)).map(([, text]) => field.invalid(path, address, text));
}

export function validateEndpoints({ subsets }: Any): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, subset] of items(subsets).entries()) {
    const here = `subsets[${index}]`;
    if (items(subset.addresses).length + items(subset.notReadyAddresses).length === 0) {
      errors.push(field.required(here, 'must specify `addresses` or `notReadyAddresses`'));
    }
    for (const list of ['addresses', 'notReadyAddresses']) {
      for (const [at, address] of items(subset[list]).entries()) {
        const path = `${here}.${list}[${at}]`;
        errors.push(...ip(address.ip, `${path}.ip`));
        if (address.hostname) errors.push(...label(address.hostname, `${path}.hostname`));
        if (address.nodeName) errors.push(...subdomain(address.nodeName, `${path}.nodeName`));
        errors.push(...endpointIP(address.ip ?? '', `${path}.ip`));
      }
    }
    const ports = items(subset.ports);
    for (const [at, port] of ports.entries()) {
      const path = `${here}.ports[${at}]`;
      if (ports.length > 1 && !port.name) errors.push(field.required(`${path}.name`));
      else if (port.name) errors.push(...label(port.name, `${path}.name`));
      for (const text of portNumber(port.port)) errors.push(field.invalid(`${path}.port`, port.port ?? 0, text));
      errors.push(...oneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], `${path}.protocol`));
    }
  }
  return errors;
}

const EVENT_LIMITS: Array<[string, number]> = [
  ['reportingInstance', 128],
  ['action', 128],
  ['reason', 128],
];

/** Events with `eventTime` are of the newer kind and must say who reports what; older ones only where they belong. */
export function validateEvent(event: Any): FieldError[] {
  const errors: FieldError[] = [];
  const { namespace = '' } = event.metadata;
  const target = event.involvedObject?.namespace ?? '';
  const wrong = () => errors.push(field.invalid('involvedObject.namespace', target, 'does not match event.namespace'));
  if (!event.eventTime) {
    if (target === '' ? namespace !== '' && namespace !== 'default' : namespace !== target) wrong();
    return errors;
  }
  if (target === '' && namespace !== 'default' && namespace !== 'kube-system') wrong();
  const controller = event.reportingComponent ?? '';
  if (!controller) errors.push(field.required('reportingComponent'));
  errors.push(...qualified(controller, 'reportingComponent'));
  for (const [name, limit] of EVENT_LIMITS) {
    if (!event[name]) errors.push(field.required(name));
    else if (event[name].length > limit) errors.push(field.invalid(name, '', `can have at most ${limit} characters`));
  }
  if ((event.message ?? '').length > 1024)
    errors.push(field.invalid('message', '', 'can have at most 1024 characters'));
  return errors;
}
