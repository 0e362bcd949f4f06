/** The objects that ask for a virtual cluster: a `Cluster` and the `VirtualCluster` it refers to. */
import type { KubeObject } from '../../api/object.ts';
import { clusters, virtualClusters } from '../../api/resources.ts';
import { apiVersionOf, isAlreadyExists, type ObjectStore } from '../../kube/index.ts';

export function virtualClusterManifests(namespace: string, name: string): { cluster: KubeObject; infra: KubeObject } {
  const reference = { apiGroup: virtualClusters.group, kind: virtualClusters.kind, name };
  return {
    infra: {
      apiVersion: apiVersionOf(virtualClusters),
      kind: virtualClusters.kind,
      metadata: { name, namespace },
      spec: {},
    },
    cluster: {
      apiVersion: apiVersionOf(clusters),
      kind: clusters.kind,
      metadata: { name, namespace },
      spec: { infrastructureRef: reference, controlPlaneRef: reference },
    },
  };
}

/** The Cluster goes first: it is what people see, and what a name belongs to. */
export async function requestVirtualCluster(store: ObjectStore, namespace: string, name: string): Promise<KubeObject> {
  const { cluster, infra } = virtualClusterManifests(namespace, name);
  const created = await store.create(clusters, cluster, { fieldManager: 'rookery' });
  await store.create(virtualClusters, infra, { fieldManager: 'rookery' }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
  return created;
}
