/** Secrets with the kubeconfig of a cluster: made, refreshed and removed with the object they belong to. */
import type { KubeObject } from '../api/object.ts';
import { secrets } from '../api/resources.ts';
import { ignoreNotFound, isControlledBy, type ObjectStore, ownerReference, TerminalError } from '../kube/index.ts';
import { CLUSTER_NAME_LABEL } from './ownership.ts';

export interface KubeconfigSecret {
  name: string;
  /** Where the text goes. */
  key: string;
  value: string;
  /** The text for containers on the cluster's network; asked for only when the other one is new. */
  internal?(): Promise<string>;
  /** The `Cluster` it is for, which Cluster API finds it by. */
  cluster?: string;
}

const INTERNAL_KEY = 'internal';
const OURS = { 'app.kubernetes.io/managed-by': 'rookery' };

/** Only ours are followed: a cluster may hold thousands of others, which are none of our business. */
export const kubeconfigSecrets = {
  ...secrets,
  selection: {
    labelSelector: Object.entries(OURS)
      .map((pair) => pair.join('='))
      .join(),
  },
};

/** Written only when it differs. A Secret of that name that belongs to somebody else is left alone. */
export async function writeKubeconfigSecret(
  store: ObjectStore,
  owner: KubeObject,
  { name, key, value, internal, cluster }: KubeconfigSecret,
  signal?: AbortSignal,
): Promise<void> {
  const namespace = owner.metadata.namespace as string;
  const encoded = Buffer.from(value).toString('base64');
  const known = await store.get(secrets, { namespace, name }, { signal }).catch(ignoreNotFound);
  if (known && !isControlledBy(known, owner)) {
    throw new TerminalError(`the Secret ${namespace}/${name} exists and is not ours: rename or delete it`);
  }
  const labels = { ...OURS, ...(cluster ? { [CLUSTER_NAME_LABEL]: cluster } : {}) };
  const isLabelled = Object.entries(labels).every(([label, text]) => known?.metadata.labels?.[label] === text);
  if (isLabelled && known?.data?.[key] === encoded && (!internal || known.data[INTERNAL_KEY])) return;
  const data = {
    [key]: encoded,
    ...(internal ? { [INTERNAL_KEY]: Buffer.from(await internal()).toString('base64') } : {}),
  };
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels,
      ownerReferences: [ownerReference(owner, { controller: true, blockOwnerDeletion: true })],
    },
    type: 'cluster.x-k8s.io/secret',
    data,
  };
  await store.apply(secrets, secret, { fieldManager: 'rookery', force: true, signal });
}

/** True when there was one of ours. */
export async function deleteKubeconfigSecret(
  store: ObjectStore,
  owner: KubeObject,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const key = { namespace: owner.metadata.namespace, name };
  const known = await store.get(secrets, key, { signal }).catch(ignoreNotFound);
  if (!known || !isControlledBy(known, owner)) return false;
  await store.delete(secrets, key, { signal }).catch(ignoreNotFound);
  return true;
}
