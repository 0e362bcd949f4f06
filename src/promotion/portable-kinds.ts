/** Which kinds of objects can go from one cluster to another, in the order in which they are made there: what others need comes first. */
import type { KubeObject } from '../api/object.ts';
import { configMaps, customResourceDefinitions, namespaces, secrets } from '../api/resources.ts';
import type { ResourceRef } from '../kube/index.ts';

function ref(group: string, plural: string, kind: string, namespaced = true, version = 'v1'): ResourceRef {
  return { group, version, plural, kind, namespaced };
}

const RBAC = 'rbac.authorization.k8s.io';

export const roles = ref(RBAC, 'roles', 'Role');
export const roleBindings = ref(RBAC, 'rolebindings', 'RoleBinding');
export const clusterRoles = ref(RBAC, 'clusterroles', 'ClusterRole', false);
export const clusterRoleBindings = ref(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', false);

/** Before custom resources: they may refer to any of these. */
export const FOUNDATION: readonly ResourceRef[] = [
  namespaces,
  customResourceDefinitions,
  ref('scheduling.k8s.io', 'priorityclasses', 'PriorityClass', false),
  ref('', 'serviceaccounts', 'ServiceAccount'),
  secrets,
  configMaps,
  clusterRoles,
  clusterRoleBindings,
  roles,
  roleBindings,
  ref('', 'limitranges', 'LimitRange'),
  ref('', 'resourcequotas', 'ResourceQuota'),
  ref('', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
];

/** After them: what runs, and what leads to it. */
export const WORKLOADS: readonly ResourceRef[] = [
  ref('', 'services', 'Service'),
  ref('apps', 'deployments', 'Deployment'),
  ref('apps', 'statefulsets', 'StatefulSet'),
  ref('apps', 'daemonsets', 'DaemonSet'),
  ref('apps', 'replicasets', 'ReplicaSet'),
  ref('batch', 'cronjobs', 'CronJob'),
  ref('batch', 'jobs', 'Job'),
  ref('', 'pods', 'Pod'),
  ref('autoscaling', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', true, 'v2'),
  ref('policy', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  ref('networking.k8s.io', 'networkpolicies', 'NetworkPolicy'),
  ref('networking.k8s.io', 'ingresses', 'Ingress'),
];

/** Seen and reported, but not carried. */
export const LEFT_BEHIND: readonly (ResourceRef & { why: string })[] = [
  {
    ...ref('admissionregistration.k8s.io', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', false),
    why: 'a webhook needs certificates of its own in each cluster: install it there as it was installed here',
  },
  {
    ...ref('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', false),
    why: 'a webhook needs certificates of its own in each cluster: install it there as it was installed here',
  },
];

/** The resource that a definition makes, at the version it is stored in. */
export function customResource(crd: KubeObject): ResourceRef | undefined {
  const { group, names, scope, versions } = crd.spec as {
    group: string;
    scope: string;
    names: { plural: string; kind: string };
    versions: { name: string; served: boolean; storage: boolean }[];
  };
  const version = versions.find((v) => v.storage && v.served) ?? versions.find((v) => v.served);
  return version && ref(group, names.plural, names.kind, scope === 'Namespaced', version.name);
}
