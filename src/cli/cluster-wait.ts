/** Waiting for a cluster and writing its kubeconfig: what `create`, `up` and `kubectl-env` share. */
import type { KubeObject } from '../api/object.ts';
import { clusters, secrets } from '../api/resources.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import { getCondition, isConditionTrue, isNotFound, type ObjectStore, waitFor } from '../kube/index.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import { writePrivate } from '../vault/files.ts';

export async function waitForCluster(
  store: ObjectStore,
  namespace: string,
  name: string,
  timeoutMs: number,
  onChange: (cluster: KubeObject) => void = () => {},
): Promise<KubeObject> {
  let last: KubeObject | undefined;
  try {
    const ready = await waitFor(
      store,
      clusters,
      { namespace, name },
      (cluster) => {
        last = cluster ?? last;
        if (cluster) onChange(cluster);
        if (!cluster && last) throw missing(namespace, name);
        return cluster !== undefined && isConditionTrue(cluster, 'Available');
      },
      { timeoutMs, what: `cluster ${name} to be available` },
    );
    return ready as KubeObject;
  } catch (error) {
    const message = last && getCondition(last, 'Available')?.message;
    if (!message || !(error instanceof RookeryError) || ['cluster.missing', 'cluster.refused'].includes(error.code))
      throw error;
    throw new RookeryError(error.code, `${error.message}\n${message}`, { class: 'retryable', cause: error });
  }
}

/** The text of `<cluster>-kubeconfig`. */
export async function kubeconfigOf(store: ObjectStore, namespace: string, name: string): Promise<string> {
  try {
    const secret = await store.get(secrets, { namespace, name: `${name}-kubeconfig` });
    return Buffer.from(secret.data?.value ?? '', 'base64').toString();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const cluster = await store.get(clusters, { namespace, name }).catch(() => undefined);
    if (!cluster) throw missing(namespace, name);
    throw new RookeryError('cluster.no-kubeconfig', `cluster ${name} has no kubeconfig yet`, {
      class: 'retryable',
      hint: `see what it waits for: rookery cluster get ${name}`,
    });
  }
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

export function seconds(text: string, flag: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value * 1000;
  throw new RookeryError('cli.seconds', `${flag}: ${JSON.stringify(text)} is not a number of seconds`, {
    class: 'user',
  });
}
