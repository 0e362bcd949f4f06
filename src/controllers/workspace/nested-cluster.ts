/**
 * The Kubernetes cluster of one workspace: a `Cluster` of its own beside the instance, which goes with it. What it is made for is written on it, so that a
 * reset that was interrupted is finished and never done twice.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import { clusters, secrets } from '../../api/resources.ts';
import {
  getCondition,
  ignoreNotFound,
  isAlreadyExists,
  isConditionTrue,
  isDeleting,
  type ObjectKey,
  type ObjectStore,
  ownerReference,
  type Place,
} from '../../kube/index.ts';
import { placeOfCluster } from '../../provisioners/cluster-place.ts';
import type { HostPolicy } from '../../provisioners/host-policy.ts';
import type { ClusterWay } from '../../provisioners/registry.ts';
import { clusterManifests } from '../../provisioners/request-cluster.ts';
import { SUSPENDED_ANNOTATION } from '../provisioned-cluster-scope.ts';

/** The step, and which visit to it. */
export const MADE_FOR = 'workshop.platform/made-for';

export interface NestedState {
  isReady: boolean;
  reason: string;
  message: string;
  external?: string;
  internal?: string;
  /** Where its API server may be, for readers of `external`. */
  place?: Place;
  /** Docker network on which the internal one leads there. */
  network?: string;
  /** Set where no watch tells that it goes on. */
  lookAgainMs?: number;
  /** It went back to how the step began: nothing is applied to it. */
  isRestored?: boolean;
  /** Where objects go that name none, if not into `default`. */
  namespace?: string;
}

export interface NestedClusterParts {
  store: ObjectStore;
  instance: KubeObject;
  host: HostPolicy;
  signal?: AbortSignal;
}

export function nestedKey(instance: KubeObject): ObjectKey & { namespace: string } {
  return { namespace: instance.metadata.namespace as string, name: instance.metadata.name as string };
}

export async function findNested({ store, instance, signal }: NestedClusterParts): Promise<KubeObject | undefined> {
  return await store.get(clusters, nestedKey(instance), { signal }).catch(ignoreNotFound);
}

/** Made if it is not there; made anew if `madeFor` is given and it was made for something else. */
export async function ensureNested(
  parts: NestedClusterParts,
  way: ClusterWay,
  version: string | undefined,
  madeFor: string | undefined,
): Promise<NestedState> {
  const found = await findNested(parts);
  if (found && !isOurs(found, parts.instance)) {
    const message = `there is a Cluster ${found.metadata.name} here that is not of this workspace\nNext: give the workspace another name or namespace, or delete that cluster`;
    return { isReady: false, reason: 'NameTaken', message, lookAgainMs: 15_000 };
  }
  const isOther = found && madeFor !== undefined && found.metadata.annotations?.[MADE_FOR] !== madeFor;
  if (found && (isOther || isDeleting(found))) {
    if (!isDeleting(found)) await parts.store.delete(clusters, nestedKey(parts.instance), { signal: parts.signal });
    return { isReady: false, reason: 'Resetting', message: 'the cluster is made anew for this step' };
  }
  if (!found) {
    await request(parts, way, version, madeFor ?? '');
    return { isReady: false, reason: 'Creating', message: `a cluster is made (${way.about})` };
  }
  return await readiness(parts, way, found, nestedKey(parts.instance));
}

/** Whether a cluster can be used, and if so how. */
export async function readiness(
  { store, host, signal }: NestedClusterParts,
  way: ClusterWay,
  cluster: KubeObject,
  key: { namespace: string; name: string },
): Promise<NestedState> {
  if (!isConditionTrue(cluster, 'Available')) {
    const blocked = getCondition(cluster, 'InfrastructureReady') ?? getCondition(cluster, 'Available');
    return {
      isReady: false,
      reason: blocked?.reason ?? 'Creating',
      message: blocked?.message || 'the cluster is made',
    };
  }
  const name = `${key.name}-kubeconfig`;
  const secret = await store.get(secrets, { namespace: key.namespace, name }, { signal }).catch(ignoreNotFound);
  const text = (entry: string) => {
    const value = secret?.data?.[entry];
    return value ? Buffer.from(value, 'base64').toString() : undefined;
  };
  const external = text('value');
  if (!external) return { isReady: false, reason: 'NoKubeconfig', message: 'the cluster has no kubeconfig yet' };
  const provider = way.network && (await store.get(way.resource, key, { signal }));
  const network = provider && way.network?.(provider);
  const place = await placeOfCluster({ store, policy: host, signal }, cluster);
  return { isReady: true, reason: 'Ready', message: '', external, internal: text('internal'), place, network };
}

export async function suspendNested(parts: NestedClusterParts, way: ClusterWay, isSuspended: boolean): Promise<void> {
  const key = nestedKey(parts.instance);
  const provider = await parts.store.get(way.resource, key, { signal: parts.signal }).catch(ignoreNotFound);
  if (provider && !isOurs(provider, parts.instance)) return;
  const value = isSuspended ? 'true' : null;
  if (!provider || (provider.metadata.annotations?.[SUSPENDED_ANNOTATION] ?? null) === value) return;
  const body = { metadata: { annotations: { [SUSPENDED_ANNOTATION]: value } } };
  await parts.store.patch(way.resource, key, { type: 'merge', body }, { signal: parts.signal });
}

/** True once it is gone. */
export async function removeNested(parts: NestedClusterParts): Promise<boolean> {
  const found = await findNested(parts);
  if (!found || !isOurs(found, parts.instance)) return true;
  if (!isDeleting(found)) {
    await parts.store.delete(clusters, nestedKey(parts.instance), { signal: parts.signal }).catch(ignoreNotFound);
  }
  return false;
}

/** Somebody's own cluster of the same name is neither handed to a student nor deleted. */
function isOurs({ metadata }: KubeObject, instance: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === instance.metadata.uid);
}

async function request(
  { store, instance, signal }: NestedClusterParts,
  way: ClusterWay,
  version: string | undefined,
  madeFor: string,
): Promise<void> {
  const { cluster, provider } = clusterManifests(way, nestedKey(instance), { kubernetesVersion: version });
  const ownerReferences = [ownerReference(instance, { controller: true, blockOwnerDeletion: true })];
  const annotations = { [MADE_FOR]: madeFor };
  // Names outside are short and shared by all namespaces.
  if (provider.spec?.clusterName) provider.spec.clusterName = outsideName(instance);
  const options = { fieldManager: 'rookery', signal };
  const orThere = (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  };
  cluster.metadata = { ...cluster.metadata, ownerReferences, annotations };
  provider.metadata = { ...provider.metadata, ownerReferences };
  await store.create(way.resource, provider, options).catch(orThere);
  await store.create(clusters, cluster, options).catch(orThere);
}

function outsideName(instance: KubeObject): string {
  const hash = createHash('sha256').update(String(instance.metadata.uid)).digest('hex').slice(0, 8);
  const start = (instance.metadata.name as string).replace(/[^a-z0-9-]/g, '-').slice(0, 18);
  return `${start.replace(/-+$/, '')}-${hash}`;
}
