/** `rookery cluster kubeconfig` */
import { kubeconfigOf, writeKubeconfig } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';

export async function printKubeconfig(
  options: GlobalOptions & { namespace: string; path?: boolean },
  name: string,
): Promise<void> {
  const { home, store, close } = await connect(options);
  try {
    process.stdout.write(
      options.path
        ? `${await writeKubeconfig(home, store, options.namespace, name)}\n`
        : await kubeconfigOf(store, options.namespace, name),
    );
  } finally {
    await close();
  }
}
