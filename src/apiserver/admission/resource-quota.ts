/**
 * ResourceQuota, inside the transaction: what it counts is what is stored at that moment, so no other write can come
 * between and nothing has to be given back after a delete. It writes `status.used` along with the object; keeping the
 * status fresh after deletes and for new quotas is the quota loop's work (`quotaStatus` says what it should be).
 */
import type { KubeObject } from '../../api/object.ts';
import { clone, items } from '../builtins/fields.ts';
import { type Resources, readResources } from '../builtins/pod/resources.ts';
import { addQuantity, compareQuantity, formatQuantity, subQuantity, ZERO } from '../builtins/quantity.ts';
import type { Transaction } from '../store/store.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refuse } from './admission.ts';
import { computeUsage, quotaMatches, sumUsage, usageOf } from './quota-usage.ts';

const QUOTAS = '/resourcequotas';
/** Plurals whose usage may grow with an update. */
const GROWING = new Set(['services', 'persistentvolumeclaims']);
const REQUIRED = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

function pretty(list: Resources): string {
  return Object.keys(list)
    .sort()
    .map((name) => `${name}=${formatQuantity(list[name] ?? ZERO)}`)
    .join(',');
}

function pick(list: Resources, names: string[]): Resources {
  return Object.fromEntries(names.map((name) => [name, list[name] ?? ZERO]));
}

/** A quota on cpu or memory makes every container say what it needs. */
function missingNumbers(pod: KubeObject, hard: Resources): string | undefined {
  if (pod.spec?.resources?.requests || pod.spec?.resources?.limits) return undefined;
  const required = Object.keys(hard).filter((name) => REQUIRED.has(name));
  const missing = new Map<string, Set<string>>();
  for (const container of [...items(pod.spec?.containers), ...items(pod.spec?.initContainers)]) {
    const { requests, limits } = container.resources ?? {};
    const given = computeUsage(readResources(requests), readResources(limits));
    for (const name of required) {
      if (given[name]) continue;
      missing.set(name, (missing.get(name) ?? new Set()).add(container.name));
    }
  }
  if (missing.size === 0) return undefined;
  const parts = [...missing.keys()]
    .sort()
    .map((name) => `${name} for: ${[...(missing.get(name) ?? [])].sort().join(',')}`);
  return `must specify ${parts.join('; ')}`;
}

function growth(attributes: AdmissionAttributes, object: KubeObject, quota: KubeObject): Resources {
  const { resource, old, now } = attributes;
  const usage = usageOf(resource.group, resource.plural, object, now);
  if (!old || !quotaMatches(quota, resource.group, resource.plural, old)) return usage;
  const before = usageOf(resource.group, resource.plural, old, now);
  const delta: Resources = {};
  for (const [name, quantity] of Object.entries(usage)) {
    const more = before[name] ? subQuantity(quantity, before[name]) : quantity;
    if (more.nano > 0n) delta[name] = more;
  }
  return delta;
}

function charge(tx: Transaction, attributes: AdmissionAttributes, object: KubeObject, quota: KubeObject): void {
  const { resource, namespace, now } = attributes;
  const hard = readResources(quota.status?.hard ?? quota.spec?.hard);
  if (resource.group === '' && resource.plural === 'pods') {
    const problem = missingNumbers(object, hard);
    if (problem) throw refuse(attributes, `failed quota: ${quota.metadata.name}: ${problem}`);
  }
  const delta = growth(attributes, object, quota);
  const names = Object.keys(delta).filter((name) => hard[name] && (delta[name] ?? ZERO).nano !== 0n);
  if (names.length === 0) return;
  const used = currentUsage(tx, quota, namespace, now);
  const next: Resources = { ...pick(used, Object.keys(hard)) };
  for (const name of names) next[name] = addQuantity(used[name] ?? ZERO, delta[name] ?? ZERO);
  const exceeded = names.filter((name) => compareQuantity(next[name] ?? ZERO, hard[name] ?? ZERO) > 0);
  if (exceeded.length) {
    const parts = [
      `exceeded quota: ${quota.metadata.name}`,
      `requested: ${pretty(pick(delta, exceeded))}`,
      `used: ${pretty(pick(used, exceeded))}`,
      `limited: ${pretty(pick(hard, exceeded))}`,
    ];
    throw refuse(attributes, parts.join(', '));
  }
  const changed = clone(quota);
  const texts = (list: Resources) => Object.fromEntries(Object.entries(list).map(([n, q]) => [n, formatQuantity(q)]));
  changed.status = { ...changed.status, hard: texts(hard), used: texts(next) };
  tx.put({ resource: QUOTAS, namespace, name: quota.metadata.name as string }, changed);
}

/** Storage names a quota's resources are counted from. */
function countedResources(hard: Resources): Set<string> {
  const found = new Set<string>();
  for (const name of Object.keys(hard)) {
    const counted = /^count\/([^.]+)(?:\.(.+))?$/.exec(name);
    if (counted) found.add(`${counted[2] ?? ''}/${counted[1]}`);
    else if (name.startsWith('services')) found.add('/services');
    else if (
      name.includes('storageclass.storage.k8s.io/') ||
      name === 'persistentvolumeclaims' ||
      name === 'requests.storage'
    ) {
      found.add('/persistentvolumeclaims');
    } else if (['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers'].includes(name))
      found.add(`/${name}`);
    else found.add('/pods');
  }
  return found;
}

function currentUsage(tx: Pick<Transaction, 'list'>, quota: KubeObject, namespace: string, now: number): Resources {
  const usages: Resources[] = [];
  for (const resource of countedResources(readResources(quota.spec?.hard))) {
    const [group = '', plural = ''] = resource.split('/');
    for (const stored of tx.list(resource, namespace)) {
      const object = stored.object();
      if (quotaMatches(quota, group, plural, object)) usages.push(usageOf(group, plural, object, now));
    }
  }
  return sumUsage(usages);
}

/** The status a quota should have now. */
export function quotaStatus(
  tx: Pick<Transaction, 'list'>,
  quota: KubeObject,
  now: number,
): { hard: Record<string, string>; used: Record<string, string> } {
  const hard = readResources(quota.spec?.hard);
  const used = currentUsage(tx, quota, quota.metadata.namespace ?? '', now);
  const texts = (list: Resources) =>
    Object.fromEntries(
      Object.keys(hard)
        .sort()
        .map((name) => [name, formatQuantity(list[name] ?? ZERO)]),
    );
  return { hard: texts(hard), used: texts(used) };
}

export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  handles({ operation, subresource, resource, namespace, object, store }) {
    if (!namespace || !object || store.count(QUOTAS, namespace) === 0) return false;
    if (operation === 'CREATE') return subresource === '';
    if (operation !== 'UPDATE') return false;
    if (resource.group === '' && resource.plural === 'pods') return subresource === 'resize';
    return resource.group === '' && subresource === '' && GROWING.has(resource.plural);
  },
  commit(tx, attributes) {
    const object = attributes.object as KubeObject;
    const { group, plural } = attributes.resource;
    for (const stored of tx.list(QUOTAS, attributes.namespace)) {
      const quota = stored.object();
      if (quotaMatches(quota, group, plural, object)) charge(tx, attributes, object, quota);
    }
  },
};
