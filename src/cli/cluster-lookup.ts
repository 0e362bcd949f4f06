/** Finding a cluster by its name, and what belongs to it: the object that asks for it, its kubeconfig. */
import type { KubeObject } from '../api/object.ts';
import { clusters, secrets } from '../api/resources.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, isNotFound, type ObjectStore } from '../kube/index.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import { writePrivate } from '../vault/files.ts';
import { wayOf } from './ways.ts';

export async function findCluster(store: ObjectStore, namespace: string, name: string): Promise<KubeObject> {
  return store.get(clusters, { namespace, name }).catch((error) => {
    throw isNotFound(error) ? missing(namespace, name) : error;
  });
}

export interface ProvidedCluster {
  cluster: KubeObject;
  way: ClusterWay;
  /** The object that asks for it, e.g. a `KINDCluster`. */
  provider: KubeObject;
  key: { namespace: string; name: string };
}

/** A cluster that one of our provisioners makes; others are not ours to change. */
export async function findProvided(store: ObjectStore, namespace: string, name: string): Promise<ProvidedCluster> {
  const cluster = await findCluster(store, namespace, name);
  const way = wayOf(cluster);
  const reference = cluster.spec?.infrastructureRef;
  if (!way) {
    throw new RookeryError(
      'cluster.foreign',
      `cluster ${name} is made by ${reference?.kind ?? 'nothing yet'}, not by Rookery`,
      {
        class: 'user',
        hint: 'change it with the tools of its provider',
      },
    );
  }
  const key = { namespace, name: reference.name as string };
  const provider = await store.get(way.resource, key).catch(ignoreNotFound);
  if (provider) return { cluster, way, provider, key };
  throw new RookeryError(
    'cluster.provider-missing',
    `cluster ${name} refers to ${reference.kind} ${key.name}, which does not exist`,
    {
      hint: `see \`rookery why ${name}\`; make the object, or delete the cluster`,
    },
  );
}

/** The text of `<cluster>-kubeconfig`; `internal`: for containers on its network, or pods of its host cluster. */
export async function kubeconfigOf(
  store: ObjectStore,
  namespace: string,
  name: string,
  audience: 'external' | 'internal' = 'external',
): Promise<string> {
  const secret = await store.get(secrets, { namespace, name: `${name}-kubeconfig` }).catch(ignoreNotFound);
  if (!secret) {
    const cluster = await findCluster(store, namespace, name);
    throw new RookeryError('cluster.no-kubeconfig', `cluster ${cluster.metadata.name} has no kubeconfig yet`, {
      class: 'retryable',
      hint: `see what it waits for: rookery why ${name}`,
    });
  }
  const text = secret.data?.[audience === 'internal' ? 'internal' : 'value'];
  if (text) return Buffer.from(text, 'base64').toString();
  throw new RookeryError('cluster.no-internal-kubeconfig', `cluster ${name} has no kubeconfig for the inside`, {
    class: 'user',
    hint: 'a virtual cluster is reached at one address from everywhere; leave out --internal',
  });
}

/** Its own file, readable by its owner only; never the user's default kubeconfig. */
export async function writeKubeconfig(
  home: Home,
  store: ObjectStore,
  namespace: string,
  name: string,
): Promise<string> {
  const path = home.clusterKubeconfig(tenantName(namespace, name));
  await writePrivate(path, await kubeconfigOf(store, namespace, name));
  return path;
}

export function missing(namespace: string, name: string): RookeryError {
  const where = namespace === 'default' ? '' : ` in namespace ${namespace}`;
  return new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(name)}${where}`, {
    class: 'user',
    hint: 'see `rookery cluster list`',
  });
}
