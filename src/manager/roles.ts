/** What a manager may do in its cluster: no more than its controllers use. Written once, for people and for the end-to-end suite that runs with it. */
import type { KubeObject } from '../api/object.ts';
import { clusters, customResourceDefinitions } from '../api/resources.ts';
import type { ResourceRef } from '../kube/index.ts';
import { crdName } from './crds.ts';
import { coreKinds, providerKinds } from './served-kinds.ts';

export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

export const ACCOUNT = 'rookery-manager';
const READ = ['get', 'list', 'watch'];
const ALL = [...READ, 'create', 'update', 'patch', 'delete'];

export function managerRules(withCore: boolean): PolicyRule[] {
  return [
    ...byGroup(providerKinds).flatMap(([group, plurals]) => [
      { apiGroups: [group], resources: plurals, verbs: [...READ, 'patch'] },
      { apiGroups: [group], resources: plurals.map((plural) => `${plural}/status`), verbs: ['patch'] },
      // Asked for where owner references that block a deletion are guarded by admission.
      { apiGroups: [group], resources: plurals.map((plural) => `${plural}/finalizers`), verbs: ['update'] },
    ]),
    // Kubeconfigs, which are written, and credentials that a spec refers to, which are read.
    { apiGroups: [''], resources: ['secrets'], verbs: [...READ, 'create', 'patch', 'delete'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ...(withCore ? coreRules() : [{ apiGroups: [clusters.group], resources: [clusters.plural], verbs: READ }]),
    {
      apiGroups: [customResourceDefinitions.group],
      resources: [customResourceDefinitions.plural],
      ...(withCore
        ? { verbs: READ }
        : { verbs: ['get'], resourceNames: [clusters, ...providerKinds].map(crdName).sort() }),
    },
  ];
}

/** Our own core drives the objects of any provider. */
function coreRules(): PolicyRule[] {
  const groups = ['bootstrap', 'controlplane', 'infrastructure'].map((part) => `${part}.${clusters.group}`);
  return [
    { apiGroups: [clusters.group], resources: coreKinds.map(({ plural }) => plural), verbs: ALL },
    { apiGroups: [clusters.group], resources: coreKinds.map(({ plural }) => `${plural}/status`), verbs: ['patch'] },
    { apiGroups: groups, resources: ['*'], verbs: ALL },
    // Whether upstream's core has come meanwhile.
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: READ },
  ];
}

/** For upstream's core, which collects what it may do from all roles with this label. */
export function aggregatedRole(): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'rookery-aggregate-to-capi', labels: { 'cluster.x-k8s.io/aggregate-to-manager': 'true' } },
    rules: byGroup(providerKinds).map(([group, plurals]) => ({ apiGroups: [group], resources: plurals, verbs: ALL })),
  };
}

export function leaderElectionRules(): PolicyRule[] {
  return [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update', 'patch'] }];
}

function byGroup(kinds: readonly ResourceRef[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const { group, plural } of kinds) groups.set(group, [...(groups.get(group) ?? []), plural]);
  return [...groups];
}
