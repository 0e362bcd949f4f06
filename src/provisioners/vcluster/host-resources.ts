/** The kinds of the host cluster we read and write. */
import type { ResourceRef } from '../../kube/index.ts';

const resource = (group: string, version: string, plural: string, kind: string, namespaced = true): ResourceRef => ({
  group,
  version,
  plural,
  kind,
  namespaced,
});
const RBAC = 'rbac.authorization.k8s.io';

export const namespaces = resource('', 'v1', 'namespaces', 'Namespace', false);
export const nodes = resource('', 'v1', 'nodes', 'Node', false);
export const pods = resource('', 'v1', 'pods', 'Pod');
export const services = resource('', 'v1', 'services', 'Service');
export const secrets = resource('', 'v1', 'secrets', 'Secret');
export const configMaps = resource('', 'v1', 'configmaps', 'ConfigMap');
export const serviceAccounts = resource('', 'v1', 'serviceaccounts', 'ServiceAccount');
export const claims = resource('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim');
export const volumes = resource('', 'v1', 'persistentvolumes', 'PersistentVolume', false);
export const events = resource('', 'v1', 'events', 'Event');
export const endpoints = resource('', 'v1', 'endpoints', 'Endpoints');
export const endpointSlices = resource('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice');
export const ingresses = resource('networking.k8s.io', 'v1', 'ingresses', 'Ingress');
export const networkPolicies = resource('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy');
export const disruptionBudgets = resource('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
export const statefulSets = resource('apps', 'v1', 'statefulsets', 'StatefulSet');
export const deployments = resource('apps', 'v1', 'deployments', 'Deployment');
export const roles = resource(RBAC, 'v1', 'roles', 'Role');
export const roleBindings = resource(RBAC, 'v1', 'rolebindings', 'RoleBinding');
export const clusterRoles = resource(RBAC, 'v1', 'clusterroles', 'ClusterRole', false);
export const clusterRoleBindings = resource(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false);
export const storageClasses = resource('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', false);
export const priorityClasses = resource('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', false);
