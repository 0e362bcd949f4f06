/** Finding a cluster by its name, and what belongs to it: the object that asks for it, its kubeconfig. */
import type { KubeObject } from '../api/object.ts';
import { clusters, secrets } from '../api/resources.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import {
  harmlessKubeconfig,
  ignoreNotFound,
  isNotFound,
  type ObjectKey,
  type ObjectStore,
  waitFor,
} from '../kube/index.ts';
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

/** The control plane that answers: its objects, and where it serves. */
export interface Served {
  store: ObjectStore;
  url: string;
}

/** The text of `<cluster>-kubeconfig`; `internal`: for containers on its network, or pods of its host cluster. */
export async function kubeconfigOf(
  served: Served,
  namespace: string,
  name: string,
  audience: 'external' | 'internal' = 'external',
): Promise<string> {
  const key = { namespace, name: `${name}-kubeconfig` };
  const secret = await served.store.get(secrets, key).catch(ignoreNotFound);
  const cluster = await findCluster(served.store, namespace, name);
  if (!secret) {
    throw new RookeryError('cluster.no-kubeconfig', `cluster ${name} has no kubeconfig yet`, {
      class: 'retryable',
      hint: `see what it waits for: rookery why ${name}`,
    });
  }
  const current = wayOf(cluster)?.fidelity === 'simulated' ? await atHome(served, key, secret) : secret;
  const text = current.data?.[audience === 'internal' ? 'internal' : 'value'];
  // Users hand it to kubectl, which runs the programs that a kubeconfig names.
  if (text) return await harmlessKubeconfig(Buffer.from(text, 'base64').toString());
  throw new RookeryError('cluster.no-internal-kubeconfig', `cluster ${name} has no kubeconfig for the inside`, {
    class: 'user',
    hint: 'it is reached at one address from everywhere; leave out --internal',
  });
}

const MOVE_PATIENCE_MS = 5000;

/** A control plane that has just come up at another port writes the kubeconfigs of its tenants anew: this one, once it is. */
async function atHome({ store, url }: Served, key: ObjectKey, secret: KubeObject): Promise<KubeObject> {
  const leadsHere = (found: KubeObject | undefined) =>
    Buffer.from(found?.data?.value ?? '', 'base64')
      .toString()
      .includes(url);
  if (leadsHere(secret)) return secret;
  const moved = await waitFor(store, secrets, key, leadsHere, { timeoutMs: MOVE_PATIENCE_MS }).catch((error) => {
    if (error instanceof RookeryError && error.code === 'WAIT_TIMEOUT') return secret;
    throw error;
  });
  return moved ?? secret;
}

/** Its own file, readable by its owner only; never the user's default kubeconfig. */
export async function writeKubeconfig(home: Home, served: Served, namespace: string, name: string): Promise<string> {
  const path = home.clusterKubeconfig(tenantName(namespace, name));
  await writePrivate(path, await kubeconfigOf(served, namespace, name));
  return path;
}

export function missing(namespace: string, name: string): RookeryError {
  const where = namespace === 'default' ? '' : ` in namespace ${namespace}`;
  return new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(name)}${where}`, {
    class: 'user',
    hint: 'see `rookery cluster list`',
  });
}
