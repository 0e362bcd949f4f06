/** The objects that ask for a kind cluster: a `Cluster` and the `KINDCluster` it refers to. */
import type { KubeObject } from '../../api/object.ts';
import { clusters, kindClusters } from '../../api/resources.ts';
import { apiVersionOf, isAlreadyExists, type ObjectStore } from '../../kube/index.ts';

export interface KindWish {
  kubernetesVersion?: string;
  image?: string;
  /** All nodes, the control plane among them. */
  nodes?: number;
  controlPlanes?: number;
}

export function kindClusterManifests(
  namespace: string,
  name: string,
  wish: KindWish,
): { cluster: KubeObject; infra: KubeObject } {
  const reference = { apiGroup: kindClusters.group, kind: kindClusters.kind, name };
  const { kubernetesVersion, image, nodes = 1, controlPlanes = 1 } = wish;
  return {
    infra: {
      apiVersion: apiVersionOf(kindClusters),
      kind: kindClusters.kind,
      metadata: { name, namespace },
      spec: {
        // Kind clusters have no namespaces: two of one name may exist here, but not there.
        clusterName: namespace === 'default' ? name : `${namespace}-${name}`,
        controlPlaneNodes: controlPlanes,
        workerNodes: Math.max(0, nodes - controlPlanes),
        ...(kubernetesVersion ? { kubernetesVersion } : {}),
        ...(image ? { image } : {}),
      },
    },
    cluster: {
      apiVersion: apiVersionOf(clusters),
      kind: clusters.kind,
      metadata: { name, namespace },
      spec: { infrastructureRef: reference, controlPlaneRef: reference },
    },
  };
}

/** What the spec may be is checked first, so that a refused spec leaves no Cluster behind. */
export async function requestKindCluster(
  store: ObjectStore,
  namespace: string,
  name: string,
  wish: KindWish,
): Promise<KubeObject> {
  const { cluster, infra } = kindClusterManifests(namespace, name, wish);
  await store.create(kindClusters, infra, { fieldManager: 'rookery', dryRun: true }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
  const created = await store.create(clusters, cluster, { fieldManager: 'rookery' });
  await store.create(kindClusters, infra, { fieldManager: 'rookery' }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
  return created;
}
