/**
 * `cluster.mode: shared`: one cluster for all workspaces of a template, and in it a namespace for each, with credentials that reach no further. It is made for the
 * first workspace and goes with the last. What the namespace was made for is written on it, so that a reset is done once.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import { clusters, namespaces, secrets, workspaceInstances } from '../../api/resources.ts';
import {
  harmlessKubeconfig,
  ignoreNotFound,
  isAlreadyExists,
  isDeleting,
  kubeconfigConnection,
  listAll,
  type Place,
  RemoteStore,
} from '../../kube/index.ts';
import { placeOfCluster } from '../../provisioners/cluster-place.ts';
import type { ClusterWay } from '../../provisioners/registry.ts';
import { clusterManifests } from '../../provisioners/request-cluster.ts';
import { MADE_FOR, type NestedClusterParts, type NestedState, readiness } from './nested-cluster.ts';
import type { Settings } from './settings.ts';

/** Where the clusters that templates share live. */
export const SHARED_NAMESPACE = 'rookery-shared';
const ACCOUNT = 'student';
const FIELD_MANAGER = 'rookery-workshop';

export interface SharedRequest {
  settings: Settings;
  way: ClusterWay;
  /** Set while a step begins that wants the namespace empty. */
  madeFor?: string;
}

export async function ensureShared(parts: NestedClusterParts, request: SharedRequest): Promise<NestedState> {
  const { store, signal } = parts;
  const { way, settings } = request;
  const key = sharedKey(parts.instance);
  const found = await store.get(clusters, key, { signal }).catch(ignoreNotFound);
  if (!found || isDeleting(found)) {
    if (!found) await make(parts, way, settings.cluster.version);
    return { isReady: false, reason: 'Creating', message: `the cluster of all workspaces is made (${way.about})` };
  }
  const state = await readiness(parts, way, found, key);
  if (!state.isReady) return state;
  const cluster = await connect(state.external as string, state.place as Place);
  try {
    const token = await furnish(cluster, parts, request);
    if (!token) {
      return { isReady: false, reason: 'PreparingNamespace', message: 'its namespace is prepared', lookAgainMs: 500 };
    }
    const namespace = namespaceIn(parts.instance);
    // The same cluster, by a token that reaches one namespace.
    const limited = async (text: string | undefined) =>
      text && (await harmlessKubeconfig(text, { name: namespace, namespace, user: { token } }));
    return { ...state, namespace, external: await limited(state.external), internal: await limited(state.internal) };
  } finally {
    await cluster.close();
  }
}

/** True once nothing of the workspace is left there. */
export async function removeShared(parts: NestedClusterParts): Promise<boolean> {
  const { store, instance, signal } = parts;
  const key = sharedKey(instance);
  const found = await store.get(clusters, key, { signal }).catch(ignoreNotFound);
  if (!found) return true;
  const { items } = await listAll(store, workspaceInstances, { signal });
  const others = items.filter(
    ({ metadata, spec }) =>
      metadata.uid !== instance.metadata.uid && spec?.templateRef?.name === key.name && !metadata.deletionTimestamp,
  );
  if (others.length === 0) {
    if (!isDeleting(found)) await store.delete(clusters, key, { signal }).catch(ignoreNotFound);
    return true;
  }
  const secret = await store.get(secrets, kubeconfigKey(key), { signal }).catch(ignoreNotFound);
  const text = secret?.data?.value;
  if (!text) return true;
  const place = await placeOfCluster({ store, policy: parts.host, signal }, found);
  const cluster = await connect(Buffer.from(text, 'base64').toString(), place);
  try {
    const name = namespaceIn(instance);
    const space = await cluster.get(namespaces, { name }, { signal }).catch(ignoreNotFound);
    if (space && !isDeleting(space)) await cluster.delete(namespaces, { name }, { signal }).catch(ignoreNotFound);
    return !space;
  } finally {
    await cluster.close();
  }
}

export function sharedKey(instance: KubeObject): { namespace: string; name: string } {
  return { namespace: SHARED_NAMESPACE, name: instance.spec?.templateRef?.name };
}

function kubeconfigKey({ namespace, name }: { namespace: string; name: string }) {
  return { namespace, name: `${name}-kubeconfig` };
}

/** Who the owner of a workspace is to the cluster they share. */
export function sharedUser(instance: KubeObject): string {
  return `system:serviceaccount:${namespaceIn(instance)}:${ACCOUNT}`;
}

/** Workspaces of the same name in other namespaces share the cluster, not this. */
function namespaceIn({ metadata }: KubeObject): string {
  const hash = createHash('sha256').update(String(metadata.uid)).digest('hex').slice(0, 8);
  return `ws-${(metadata.name as string).replaceAll('.', '-').slice(0, 50)}-${hash}`;
}

async function make({ store, instance, signal }: NestedClusterParts, way: ClusterWay, version?: string): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, signal };
  const orThere = (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  };
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHARED_NAMESPACE } };
  await store.create(namespaces, space, options).catch(orThere);
  const { cluster, provider } = clusterManifests(way, sharedKey(instance), { kubernetesVersion: version });
  await store.create(way.resource, provider, options).catch(orThere);
  await store.create(clusters, cluster, options).catch(orThere);
}

/** The token of the workspace's own account; undefined while the namespace is emptied or the token is made. */
async function furnish(
  cluster: RemoteStore,
  { instance, signal }: NestedClusterParts,
  { madeFor, settings }: SharedRequest,
): Promise<string | undefined> {
  const name = namespaceIn(instance);
  const space = await cluster.get(namespaces, { name }, { signal }).catch(ignoreNotFound);
  if (space && isDeleting(space)) return undefined;
  if (space && madeFor !== undefined && space.metadata.annotations?.[MADE_FOR] !== madeFor) {
    await cluster.delete(namespaces, { name }, { signal });
    return undefined;
  }
  const secret = await cluster.get(secrets, { namespace: name, name: ACCOUNT }, { signal }).catch(ignoreNotFound);
  const token = secret?.data?.token;
  if (token) return Buffer.from(token, 'base64').toString();
  for (const object of furniture(name, madeFor ?? '', settings)) {
    const [resource] = (await cluster.discover(object.apiVersion, signal)).filter(({ kind }) => kind === object.kind);
    if (resource) await cluster.apply(resource, object, { fieldManager: FIELD_MANAGER, force: true, signal });
  }
  return undefined;
}

/** Everything in the namespace is the student's; nothing outside is, and others do not get in. */
function furniture(namespace: string, madeFor: string, { limits }: Settings): KubeObject[] {
  const inside = (name: string) => ({ name, namespace });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, annotations: { [MADE_FOR]: madeFor } } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inside(ACCOUNT) },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: inside(ACCOUNT),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: inside('own-namespace-only'),
      spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }] }] },
    },
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: inside('workspace'),
      spec: { hard: { pods: '50', ...(limits.memory ? { 'limits.memory': limits.memory } : {}) } },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...inside(ACCOUNT), annotations: { 'kubernetes.io/service-account.name': ACCOUNT } },
      type: 'kubernetes.io/service-account-token',
    },
  ];
}

async function connect(kubeconfig: string, place: Place): Promise<RemoteStore> {
  return new RemoteStore({ connection: await kubeconfigConnection(kubeconfig, place) });
}
