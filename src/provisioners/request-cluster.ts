/** The objects that ask for a cluster, whatever makes it: a `Cluster`, and the object of the way that it refers to. */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { apiVersionOf, isAlreadyExists, type ObjectStore } from '../kube/index.ts';
import type { ClusterWay, ClusterWish } from './registry.ts';

interface Key {
  namespace: string;
  name: string;
}

export function clusterManifests(
  way: Pick<ClusterWay, 'resource' | 'spec'>,
  { namespace, name }: Key,
  wish: ClusterWish = {},
): { cluster: KubeObject; provider: KubeObject } {
  const { resource } = way;
  const reference = { apiGroup: resource.group, kind: resource.kind, name };
  return {
    provider: {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name, namespace },
      spec: way.spec(wish, { namespace, name }),
    },
    cluster: {
      apiVersion: apiVersionOf(clusters),
      kind: clusters.kind,
      metadata: { name, namespace },
      spec: { infrastructureRef: reference, controlPlaneRef: reference },
    },
  };
}

/** What the spec may be is checked first, so that a refused spec leaves no Cluster behind. The Cluster goes first: a name belongs to it. */
export async function requestCluster(
  store: ObjectStore,
  way: Pick<ClusterWay, 'resource' | 'spec'>,
  key: Key,
  wish?: ClusterWish,
): Promise<KubeObject> {
  const { cluster, provider } = clusterManifests(way, key, wish);
  const options = { fieldManager: 'rookery' };
  const orThere = (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  };
  await store.create(way.resource, provider, { ...options, dryRun: true }).catch(orThere);
  const created = await store.create(clusters, cluster, options);
  await store.create(way.resource, provider, options).catch(orThere);
  return created;
}
