/** How things in a host cluster say whose they are, and the names vcluster itself goes by. */
import { createHash } from 'node:crypto';
import type { VCluster } from '../../api/infrastructure/vcluster.ts';
import type { KubeObject } from '../../api/object.ts';

export type VclusterSpec = VCluster['spec'];

/** Uid of the object the cluster is made for; on everything we write. */
export const OWNER_LABEL = 'rookery.dev/cluster-id';
/** What an object was applied as; another value means it has to be applied again. */
export const FINGERPRINT = 'rookery.dev/fingerprint';
/** The Service that owns all synced objects: vcluster looks for it only when it starts. */
export const SERVICE_UID = 'rookery.dev/service-uid';
export const FIELD_MANAGER = 'rookery';
/** One vcluster per namespace: who has this ConfigMap may put one there. */
export const CLAIM = 'rookery-vcluster';

/** vcluster's own marks. */
export const SYNCED_LABEL = 'vcluster.loft.sh/managed-by';
/** On Services that stand for the kubelets of its nodes. */
export const NODE_LABEL = 'vcluster.loft.sh/belongs-to';
export const PAUSED = 'loft.sh/paused';
export const PAUSED_REPLICAS = 'loft.sh/paused-replicas';
export const PAUSED_DATE = 'loft.sh/paused-date';
export const DNS_LABEL = 'k8s-app=vcluster-kube-dns';

export const namespaceOf = (spec: Pick<VclusterSpec, 'namespace' | 'clusterName'>): string =>
  spec.namespace ?? `vcluster-${spec.clusterName}`;

export const ownerOf = (object: KubeObject | undefined): string | undefined => object?.metadata.labels?.[OWNER_LABEL];

/** As vcluster shortens names of cluster-scoped objects and their labels. */
export function safeName(...parts: string[]): string {
  const whole = parts.join('-');
  if (whole.length <= 63) return whole;
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 10);
  return `${whole.slice(0, 52)}-${digest}`.replaceAll('.-', '-');
}

/** As its chart names ClusterRoles. */
export const clusterRoleName = (name: string, namespace: string): string =>
  `vc-${name}-v-${namespace}`.slice(0, 63).replace(/-$/, '');
