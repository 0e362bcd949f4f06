/** `rookery cluster delete` */
import { rm } from 'node:fs/promises';
import { clusters } from '../api/resources.ts';
import { isNotFound, waitForGone } from '../kube/index.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import { missing, seconds } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { print } from './output.ts';

interface DeleteOptions extends GlobalOptions {
  namespace: string;
  wait: boolean;
  timeout: string;
}

export async function deleteClusters(options: DeleteOptions, names: string[]): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { namespace } = options;
  const { home, store, close } = await connect(options);
  try {
    for (const name of names) {
      await store.delete(clusters, { namespace, name }).catch((error) => {
        throw isNotFound(error) ? missing(namespace, name) : error;
      });
    }
    for (const name of names) {
      if (options.wait) await waitForGone(store, clusters, { namespace, name }, { timeoutMs });
      await rm(home.clusterKubeconfig(tenantName(namespace, name)), { force: true });
    }
    const verb = options.wait ? 'deleted' : 'deletion requested';
    await print(options.output, { deleted: names }, () => names.map((name) => `cluster ${name} ${verb}\n`).join(''));
  } finally {
    await close();
  }
}
