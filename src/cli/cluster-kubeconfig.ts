/** `rookery cluster kubeconfig` */
import { RookeryError } from '../errors.ts';
import { kubeconfigOf, writeKubeconfig } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';

interface KubeconfigOptions extends GlobalOptions {
  namespace: string;
  path?: boolean;
  internal?: boolean;
}

export async function printKubeconfig(options: KubeconfigOptions, name: string): Promise<void> {
  if (options.path && options.internal) {
    throw new RookeryError('cli.flag', '--path is for this machine and --internal for the inside: choose one', {
      class: 'user',
    });
  }
  const { namespace } = options;
  const { home, store, url, close } = await connect(options);
  try {
    process.stdout.write(
      options.path
        ? `${await writeKubeconfig(home, { store, url }, namespace, name)}\n`
        : await kubeconfigOf({ store, url }, namespace, name, options.internal ? 'internal' : 'external'),
    );
  } finally {
    await close();
  }
}
