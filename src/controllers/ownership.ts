/** Who belongs to which Cluster: the label and owner reference that Cluster API puts on everything it drives. */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { ignoreNotFound, type ObjectStore } from '../kube/index.ts';

export const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';

/** The Cluster that owns a provider object; undefined while there is none. */
export async function ownerCluster(
  store: ObjectStore,
  object: KubeObject,
  signal?: AbortSignal,
): Promise<KubeObject | undefined> {
  const owner = object.metadata.ownerReferences?.find(
    (reference) => reference.kind === clusters.kind && reference.apiVersion.startsWith(`${clusters.group}/`),
  );
  if (!owner) return undefined;
  const key = { namespace: object.metadata.namespace, name: owner.name };
  return store.get(clusters, key, { signal }).catch(ignoreNotFound);
}
