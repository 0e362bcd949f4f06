/** Where the API server of a cluster may be, for every reader of the kubeconfig in its Secret. */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { ignoreNotFound, type ObjectStore, type Place } from '../kube/index.ts';
import type { HostPolicy } from './host-policy.ts';
import { type ClusterWay, clusterWays } from './registry.ts';

/** A vcluster lives in a cluster that may be a vcluster itself. References that go on for longer are taken for a loop. */
const DEEPEST_HOST = 5;

export interface PlaceParts {
  store: ObjectStore;
  policy: HostPolicy;
  signal?: AbortSignal;
}

/** Of a Cluster. Users who write Secrets can forge them: what counts is the object that made the cluster, for which permission was asked. */
export async function placeOfCluster(parts: PlaceParts, cluster: KubeObject | undefined, depth = 0): Promise<Place> {
  const { apiGroup, kind, name } = cluster?.spec?.infrastructureRef ?? {};
  const way = clusterWays.find(({ resource }) => resource.kind === kind && resource.group === apiGroup);
  const { namespace = '' } = cluster?.metadata ?? {};
  if (!way) return parts.policy.allows(namespace) ? 'this machine' : 'another machine';
  const key = { namespace, name };
  const maker = await parts.store.get(way.resource, key, { signal: parts.signal }).catch(ignoreNotFound);
  return maker ? await placeOfMaker(parts, way, maker, depth) : 'another machine';
}

/** Of the object that a provisioner makes a cluster for. */
export async function placeOfMaker(parts: PlaceParts, way: ClusterWay, maker: KubeObject, depth = 0): Promise<Place> {
  if (way.fidelity === 'simulated') return { tenant: way.outsideName(maker) };
  const { namespace = '' } = maker.metadata;
  const { policy, store, signal } = parts;
  if (policy.allows(namespace)) return 'this machine';
  if (way.hostUses) return policy.hasAdmission ? 'this machine' : 'another machine';
  const host = maker.spec?.host?.cluster as string | undefined;
  if (!host || depth >= DEEPEST_HOST) return 'another machine';
  const found = await store.get(clusters, { namespace, name: host }, { signal }).catch(ignoreNotFound);
  return await placeOfCluster(parts, found, depth + 1);
}
