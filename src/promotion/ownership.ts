/**
 * Whose an object is: made by people, by a controller from something people made, or by the cluster itself. Only the first are carried; the second
 * come by themselves, and the third the other cluster has of its own.
 */
import type { KubeObject } from '../api/object.ts';

/** Namespaces of the system, in any of the clusters we make. */
const SYSTEM_NAMESPACES = new Set(['kube-system', 'kube-public', 'kube-node-lease', 'local-path-storage']);
const SYSTEM_NAMES: Record<string, RegExp> = {
  Namespace: /^default$/,
  ConfigMap: /^kube-root-ca\.crt$/,
  ServiceAccount: /^default$/,
  ClusterRole:
    /^(system:|kubeadm:|(cluster-admin|admin|edit|view|vcluster-.*|rookery-(admin|instructor|student|tenant))$)/,
  ClusterRoleBinding: /^(system:|kubeadm:|cluster-admin$)/,
  PriorityClass: /^system-/,
};
/** Marks of what a distribution installed: k3s' own manifests, kubeadm's and other add-ons. */
const SYSTEM_LABELS = [
  'kubernetes.io/bootstrapping',
  'objectset.rio.cattle.io/hash',
  'addonmanager.kubernetes.io/mode',
];
const SYSTEM_CRD_GROUPS = /(^|\.)(cattle\.io|traefik\.io|traefik\.containo\.us|policy\.networking\.k8s\.io)$/;
const SYSTEM_SECRET_TYPES: Record<string, string> = {
  'kubernetes.io/service-account-token': 'tokens are made by the cluster they are for',
  'bootstrap.kubernetes.io/token': 'it lets nodes join the old cluster',
};

export function isSystemNamespace(name: string | undefined): boolean {
  return name !== undefined && SYSTEM_NAMESPACES.has(name);
}

/** Belongs to the cluster, or is made from something else: nothing anybody would miss. */
export function comesByItself(object: KubeObject): boolean {
  const { name = '', namespace, labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  if (ownerReferences.some((owner) => owner.controller)) return true;
  if (isSystemNamespace(namespace) || (object.kind === 'Namespace' && isSystemNamespace(name))) return true;
  if (SYSTEM_NAMES[object.kind]?.test(name)) return true;
  if (SYSTEM_LABELS.some((label) => label in labels)) return true;
  // Installed by a chart into a namespace of the system, e.g. the ingress of k3s.
  if (isSystemNamespace(annotations['meta.helm.sh/release-namespace'])) return true;
  if (object.kind === 'CustomResourceDefinition') return SYSTEM_CRD_GROUPS.test(object.spec?.group ?? '');
  return object.kind === 'Service' && namespace === 'default' && name === 'kubernetes';
}

/** Why an object of a user stays where it is; undefined when it can go. */
export function whyNot(object: KubeObject): string | undefined {
  if (object.metadata.deletionTimestamp) return 'it is being deleted';
  if (object.kind === 'Secret') return SYSTEM_SECRET_TYPES[object.type ?? ''];
  if (object.kind === 'Job' && isFinished(object)) return 'it has run already, and would run again';
  if (object.kind === 'Pod' && ['Succeeded', 'Failed'].includes(object.status?.phase)) return 'it has run already';
  return undefined;
}

function isFinished(job: KubeObject): boolean {
  const conditions: { type: string; status: string }[] = job.status?.conditions ?? [];
  return conditions.some(({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True');
}

/** Bindings whose every subject is part of the system, and roles that only such bindings use: kindnet's, flannel's and so on. */
export function systemRbac(bindings: readonly KubeObject[]): { bindings: Set<string>; roles: Set<string> } {
  const isSystems = (binding: KubeObject) =>
    comesByItself(binding) ||
    (binding.subjects ?? []).every(
      (subject: { kind: string; namespace?: string; name: string }) =>
        (subject.kind === 'ServiceAccount' && isSystemNamespace(subject.namespace)) ||
        subject.name.startsWith('system:'),
    );
  const theirs = bindings.filter(isSystems);
  const used = new Set(bindings.filter((binding) => !isSystems(binding)).map((binding) => binding.roleRef?.name));
  const names = theirs.map((binding) => binding.roleRef?.name as string).filter((name) => !used.has(name));
  return { bindings: new Set(theirs.map((binding) => binding.metadata.name as string)), roles: new Set(names) };
}
