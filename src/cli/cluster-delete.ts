/** `rookery cluster delete` */
import { rm } from 'node:fs/promises';
import { clusters } from '../api/resources.ts';
import { ABANDON_ANNOTATION } from '../controllers/provisioned-cluster-scope.ts';
import { RookeryError } from '../errors.ts';
import { getCondition, ignoreNotFound, isNotFound, type ObjectStore, waitForGone } from '../kube/index.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import { findProvided, missing } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { wayOf } from './ways.ts';

interface DeleteOptions extends GlobalOptions {
  namespace: string;
  wait: boolean;
  timeout: string;
  abandon?: boolean;
}

export async function deleteClusters(options: DeleteOptions, names: string[]): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { namespace } = options;
  const { home, store, signal, close } = await connect(options);
  try {
    for (const name of names) {
      if (options.abandon) await abandon(store, namespace, name);
      await store.delete(clusters, { namespace, name }).catch((error) => {
        throw isNotFound(error) ? missing(namespace, name) : error;
      });
    }
    for (const name of names) {
      if (options.wait) await gone(store, namespace, name, timeoutMs, signal);
      await rm(home.clusterKubeconfig(tenantName(namespace, name)), { force: true });
    }
    const verb = options.wait ? 'deleted' : 'deletion requested';
    await print(options.output, { deleted: names }, () => names.map((name) => `cluster ${name} ${verb}\n`).join(''));
  } catch (error) {
    const hint = 'the deletion stands and goes on while a control plane runs (`rookery up --detach`)';
    throw error instanceof Interrupted ? new Interrupted(hint) : error;
  } finally {
    await close();
  }
}

/** What cannot be reached is given up; whatever it left there stays there. */
async function abandon(store: ObjectStore, namespace: string, name: string): Promise<void> {
  const { way, key } = await findProvided(store, namespace, name);
  const body = { metadata: { annotations: { [ABANDON_ANNOTATION]: 'true' } } };
  await store.patch(way.resource, key, { type: 'merge', body });
}

async function gone(
  store: ObjectStore,
  namespace: string,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await waitForGone(store, clusters, { namespace, name }, { timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof RookeryError) || error.code !== 'WAIT_TIMEOUT') throw error;
    const cluster = await store.get(clusters, { namespace, name }).catch(ignoreNotFound);
    const way = cluster && wayOf(cluster);
    const key = { namespace, name: cluster?.spec?.infrastructureRef?.name };
    const provider = way && (await store.get(way.resource, key).catch(ignoreNotFound));
    const message = provider && getCondition(provider, 'Deleting')?.message;
    throw new RookeryError(
      'cluster.delete-timeout',
      `cluster ${name} is not gone after ${timeoutMs / 1000} s${message ? `\n${message}` : ''}`,
      {
        class: 'retryable',
        hint: `it goes on; see \`rookery why ${name}\`. What can never be reached again is given up with --abandon`,
        cause: error,
      },
    );
  }
}
