/** LimitRanges: fill in containers' requests and limits, and refuse what is outside the range. */
import type { KubeObject } from '../../api/object.ts';
import { type Any, clone, items } from '../builtins/fields.ts';
import { qosClass } from '../builtins/pod/qos.ts';
import { podResources, type Resources, readResources } from '../builtins/pod/resources.ts';
import { compareQuantity, formatQuantity, type Quantity } from '../builtins/quantity.ts';
import { type AdmissionAttributes, type AdmissionPlugin, listObjects, refuse } from './admission.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

function handles(attributes: AdmissionAttributes): boolean {
  const { operation, resource, subresource, old } = attributes;
  if (resource.group !== '' || old?.metadata.deletionTimestamp) return false;
  if (resource.plural === 'pods') {
    return subresource === 'resize' ? operation === 'UPDATE' : subresource === '' && operation === 'CREATE';
  }
  const claim = resource.plural === 'persistentvolumeclaims' && subresource === '';
  return claim && (operation === 'CREATE' || operation === 'UPDATE');
}

function limitsOf(attributes: AdmissionAttributes): Any[] {
  return listObjects(attributes.store, '/limitranges', attributes.namespace).flatMap((range) =>
    items(range.spec?.limits),
  );
}

function mergeContainer(container: Any, defaults: { requests: Any; limits: Any }, kind: string, notes: string[]): void {
  container.resources ??= {};
  const missing: Record<'requests' | 'limits', string[]> = { requests: [], limits: [] };
  for (const which of ['limits', 'requests'] as const) {
    for (const [name, value] of Object.entries(defaults[which])) {
      if (container.resources[which]?.[name] !== undefined) continue;
      container.resources[which] = { ...container.resources[which], [name]: clone(value) };
      missing[which].push(name);
    }
  }
  if (missing.requests.length)
    notes.push(`${missing.requests.sort().join(', ')} request for ${kind} ${container.name}`);
  if (missing.limits.length) notes.push(`${missing.limits.sort().join(', ')} limit for ${kind} ${container.name}`);
}

function applyDefaults(pod: KubeObject, limits: Any[]): void {
  const defaults: { requests: Any; limits: Any } = { requests: {}, limits: {} };
  for (const limit of limits.filter((item) => item.type === 'Container')) {
    defaults.requests = { ...limit.defaultRequest, ...defaults.requests };
    defaults.limits = { ...limit.default, ...defaults.limits };
  }
  const notes: string[] = [];
  for (const container of items(pod.spec.containers)) mergeContainer(container, defaults, 'container', notes);
  for (const container of items(pod.spec.initContainers)) mergeContainer(container, defaults, 'init container', notes);
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  };
}

interface Observed {
  requests: Resources;
  limits: Resources;
}

const text = (quantity: Quantity | undefined) => (quantity ? formatQuantity(quantity) : '0');

function checkMin(type: string, name: string, bound: Quantity, { requests, limits }: Observed): string | undefined {
  const prefix = `minimum ${name} usage per ${type} is ${text(bound)}`;
  const request = requests[name];
  const limit = limits[name];
  if (!request) return `${prefix}.  No request is specified`;
  if (compareQuantity(request, bound) < 0) return `${prefix}, but request is ${text(request)}`;
  if (limit && compareQuantity(limit, bound) < 0) return `${prefix}, but limit is ${text(limit)}`;
  return undefined;
}

function checkMax(type: string, name: string, bound: Quantity, { requests, limits }: Observed): string | undefined {
  const prefix = `maximum ${name} usage per ${type} is ${text(bound)}`;
  const request = requests[name];
  const limit = limits[name];
  if (type === 'PersistentVolumeClaim') {
    if (!request) return `${prefix}.  No request is specified`;
    return compareQuantity(request, bound) > 0 ? `${prefix}, but request is ${text(request)}` : undefined;
  }
  if (!limit) return `${prefix}.  No limit is specified`;
  if (compareQuantity(limit, bound) > 0) return `${prefix}, but limit is ${text(limit)}`;
  if (request && compareQuantity(request, bound) > 0) return `${prefix}, but request is ${text(request)}`;
  return undefined;
}

function checkRatio(type: string, name: string, bound: Quantity, { requests, limits }: Observed): string | undefined {
  const prefix = `${name} max limit to request ratio per ${type} is ${text(bound)}`;
  const request = requests[name]?.nano ?? 0n;
  const limit = limits[name]?.nano ?? 0n;
  if (request === 0n) return `${prefix}, but no request is specified or request is 0`;
  if (limit === 0n) return `${prefix}, but no limit is specified or limit is 0`;
  const ratio = Number(limit) / Number(request);
  return ratio > Number(bound.nano) / 1e9 ? `${prefix}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

function violations(limit: Any, observed: Observed): string[] {
  const found: Array<string | undefined> = [];
  const run = (list: Any, check: typeof checkMin) => {
    for (const [name, bound] of Object.entries(readResources(list)))
      found.push(check(limit.type, name, bound, observed));
  };
  run(limit.min, checkMin);
  run(limit.max, checkMax);
  run(limit.maxLimitRequestRatio, checkRatio);
  return found.filter((message) => message !== undefined);
}

function observe(resources: Any): Observed {
  return { requests: readResources(resources?.requests), limits: readResources(resources?.limits) };
}

function check(object: KubeObject, plural: string, limits: Any[]): string[] {
  if (plural === 'persistentvolumeclaims') {
    const observed = { requests: readResources(object.spec?.resources?.requests), limits: {} };
    return limits.filter((l) => l.type === 'PersistentVolumeClaim').flatMap((limit) => violations(limit, observed));
  }
  const { spec } = object;
  return limits.flatMap((limit) => {
    if (limit.type === 'Container') {
      const containers = [...items(spec.containers), ...items(spec.initContainers)];
      return containers.flatMap((container) => violations(limit, observe(container.resources)));
    }
    if (limit.type !== 'Pod') return [];
    return violations(limit, { requests: podResources(spec, 'requests'), limits: podResources(spec, 'limits') });
  });
}

export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  handles,
  mutate(attributes) {
    if (attributes.resource.plural !== 'pods') return;
    const limits = limitsOf(attributes);
    if (limits.length === 0) return;
    const pod = attributes.object as KubeObject;
    applyDefaults(pod, limits);
    // The class may have been found before these numbers were there.
    if (attributes.operation === 'CREATE' && pod.status?.qosClass) pod.status.qosClass = qosClass(pod.spec);
  },
  validate(attributes) {
    const limits = limitsOf(attributes);
    if (limits.length === 0) return;
    const found = [...new Set(check(attributes.object as KubeObject, attributes.resource.plural, limits))];
    if (found.length) throw refuse(attributes, found.length === 1 ? (found[0] as string) : `[${found.join(', ')}]`);
  },
};
