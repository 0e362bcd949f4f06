/** `rookery cluster create` */
import { RookeryError } from '../errors.ts';
import { isAlreadyExists } from '../kube/index.ts';
import { requestVirtualCluster } from '../provisioners/virtual/manifests.ts';
import { seconds, waitForCluster, writeKubeconfig } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { print } from './output.ts';

interface CreateOptions extends GlobalOptions {
  namespace: string;
  wait: boolean;
  timeout: string;
}

export async function createCluster(options: CreateOptions, name: string): Promise<void> {
  const { namespace } = options;
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { home, store, close } = await connect(options);
  try {
    let cluster = await requestVirtualCluster(store, namespace, name).catch((error) => {
      if (!isAlreadyExists(error)) throw error;
      throw new RookeryError('cluster.exists', `there is already a cluster ${JSON.stringify(name)}`, {
        class: 'user',
        hint: `see \`rookery cluster get ${name}\`, or choose another name`,
      });
    });
    if (!options.wait) return await print(options.output, cluster, () => `cluster ${name} requested\n`);
    cluster = await waitForCluster(store, namespace, name, timeoutMs);
    const kubeconfig = await writeKubeconfig(home, store, namespace, name);
    await print(options.output, { name, namespace, kubeconfig, cluster }, () =>
      [
        `cluster ${name} is ready (virtual, Kubernetes v1.35, simulated nodes)`,
        `  export KUBECONFIG=${kubeconfig}`,
        '  kubectl get namespaces',
        '',
      ].join('\n'),
    );
  } finally {
    await close();
  }
}
