/** Which kinds a manager works with, and whether Cluster API's own core drives them. */
import { clusters, customResourceDefinitions, virtualClusters } from '../api/resources.ts';
import { ignoreNotFound, type ObjectStore, type ResourceRef } from '../kube/index.ts';
import { clusterWays } from '../provisioners/registry.ts';
import { crdName } from './crds.ts';

/** Kinds that ask for clusters: those this program is a provider of. */
export const providerKinds: readonly ResourceRef[] = [virtualClusters, ...clusterWays.map((way) => way.resource)];

/** What we need of Cluster API's own kinds when our core drives them. */
export const coreKinds: readonly ResourceRef[] = [clusters];

export type CoreInstalled = 'upstream' | 'none' | 'ours';

/** Every release of Cluster API puts it on its CRDs; ours do not carry it. */
const PROVIDER_LABEL = 'cluster.x-k8s.io/provider';

export async function installedCore(store: ObjectStore, signal?: AbortSignal): Promise<CoreInstalled> {
  const found = await store
    .get(customResourceDefinitions, { name: crdName(clusters) }, { signal })
    .catch(ignoreNotFound);
  if (!found) return 'none';
  return found.metadata.labels?.[PROVIDER_LABEL] === 'cluster-api' ? 'upstream' : 'ours';
}
