/** What one object costs, in the resource names quotas count. Used by admission and by the quota loop. */
import type { KubeObject } from '../../api/object.ts';
import { items } from '../builtins/fields.ts';
import { qosClass } from '../builtins/pod/qos.ts';
import { podResources, type Resources } from '../builtins/pod/resources.ts';
import { addQuantity, wholeQuantity, ZERO } from '../builtins/quantity.ts';
import { isExtendedResource, readQuantity } from '../builtins/resource-list.ts';

const ONE = wholeQuantity(1);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
/** Resources that are counted under their bare plural too, as the first quotas did. */
const ALIASED = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

function podCounts(pod: KubeObject, now: number): boolean {
  const { phase } = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (!deletionTimestamp || deletionGracePeriodSeconds === undefined) return true;
  return now <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

/** The names that requests and limits are counted under. */
export function computeUsage(requests: Resources, limits: Resources): Resources {
  const usage: Resources = { pods: ONE };
  for (const name of COMPUTE) {
    if (requests[name]) {
      usage[name] = requests[name];
      usage[`requests.${name}`] = requests[name];
    }
    if (limits[name]) usage[`limits.${name}`] = limits[name];
  }
  for (const [name, quantity] of Object.entries(requests)) {
    if (name.startsWith('hugepages-')) usage[name] = quantity;
    if (name.startsWith('hugepages-') || isExtendedResource(name)) usage[`requests.${name}`] = quantity;
  }
  return usage;
}

function podUsage(pod: KubeObject, now: number): Resources {
  if (!podCounts(pod, now)) return {};
  return computeUsage(podResources(pod.spec, 'requests'), podResources(pod.spec, 'limits'));
}

function serviceUsage(service: KubeObject): Resources {
  const { type, ports, allocateLoadBalancerNodePorts } = service.spec ?? {};
  let nodePorts = 0;
  if (type === 'NodePort' || type === 'LoadBalancer') {
    const chosen = type === 'LoadBalancer' && allocateLoadBalancerNodePorts === false;
    nodePorts = items(ports).filter((port) => !chosen || port.nodePort).length;
  }
  return {
    services: ONE,
    'services.loadbalancers': wholeQuantity(type === 'LoadBalancer' ? 1 : 0),
    'services.nodeports': wholeQuantity(nodePorts),
  };
}

function claimUsage(claim: KubeObject): Resources {
  const usage: Resources = { persistentvolumeclaims: ONE };
  const storageClass =
    claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? claim.spec?.storageClassName;
  const prefix = storageClass ? `${storageClass}.storageclass.storage.k8s.io/` : undefined;
  if (prefix) usage[`${prefix}persistentvolumeclaims`] = ONE;
  const storage = readQuantity(claim.spec?.resources?.requests?.storage);
  if (storage) {
    usage['requests.storage'] = storage;
    if (prefix) usage[`${prefix}requests.storage`] = storage;
  }
  return usage;
}

/** Every resource counts under `count/<plural>.<group>`; some in more ways. */
export function usageOf(group: string, plural: string, object: KubeObject, now: number): Resources {
  const usage: Resources = { [`count/${group ? `${plural}.${group}` : plural}`]: ONE };
  if (group !== '') return usage;
  if (plural === 'pods') Object.assign(usage, podUsage(object, now));
  else if (plural === 'services') Object.assign(usage, serviceUsage(object));
  else if (plural === 'persistentvolumeclaims') Object.assign(usage, claimUsage(object));
  else if (ALIASED.has(plural)) usage[plural] = ONE;
  return usage;
}

export function sumUsage(list: Resources[]): Resources {
  const total: Resources = {};
  for (const usage of list) {
    for (const [name, quantity] of Object.entries(usage)) total[name] = addQuantity(total[name] ?? ZERO, quantity);
  }
  return total;
}

function matchesScope(scope: { scopeName: string; operator: string; values?: string[] }, pod: KubeObject): boolean {
  const terminating = pod.spec?.activeDeadlineSeconds != null && pod.spec.activeDeadlineSeconds >= 0;
  const bestEffort = (pod.status?.qosClass ?? qosClass(pod.spec)) === 'BestEffort';
  const className = pod.spec?.priorityClassName ?? '';
  switch (scope.scopeName) {
    case 'Terminating':
      return terminating;
    case 'NotTerminating':
      return !terminating;
    case 'BestEffort':
      return bestEffort;
    case 'NotBestEffort':
      return !bestEffort;
    case 'PriorityClass':
      if (scope.operator === 'Exists') return className !== '';
      if (scope.operator === 'DoesNotExist') return className === '';
      return items(scope.values).includes(className) === (scope.operator === 'In');
    case 'CrossNamespacePodAffinity':
      return crossNamespaceAffinity(pod);
    default:
      return false;
  }
}

function crossNamespaceAffinity(pod: KubeObject): boolean {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const terms = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...items(affinity?.requiredDuringSchedulingIgnoredDuringExecution),
    ...items(affinity?.preferredDuringSchedulingIgnoredDuringExecution).map((term) => term.podAffinityTerm),
  ]);
  return terms.some((term) => items(term?.namespaces).length > 0 || term?.namespaceSelector != null);
}

/** Quotas with scopes count pods only. */
export function quotaMatches(quota: KubeObject, group: string, plural: string, object: KubeObject): boolean {
  const scopes = [
    ...items(quota.spec?.scopes).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...items(quota.spec?.scopeSelector?.matchExpressions),
  ];
  if (scopes.length === 0) return true;
  if (group !== '' || plural !== 'pods') return false;
  return scopes.every((scope) => matchesScope(scope, object));
}
