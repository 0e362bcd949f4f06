/** `rookery kubectl-env` */
import { writeKubeconfig } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';

export async function kubectlEnv(options: GlobalOptions & { namespace: string }, cluster?: string): Promise<void> {
  const { home, store, url, close } = await connect(options);
  try {
    const path = cluster ? await writeKubeconfig(home, { store, url }, options.namespace, cluster) : home.kubeconfig;
    process.stdout.write(`export KUBECONFIG='${path.replaceAll("'", "'\\''")}'\n`);
  } finally {
    await close();
  }
}
