/** `rookery manager …`: names, arguments and help. */
import { type Command, Option } from 'commander';
import { parseNames, parsePort } from '../config.ts';
import { examples } from './help.ts';

export function addManagerCommands(program: Command): void {
  const port = (flags: string, description: string) =>
    new Option(flags, description).argParser((text) => parsePort(text, flags.split(' ', 1)[0] as string));
  const manager = program
    .command('manager')
    .description('run the controllers against the API server of a Kubernetes cluster')
    .option('--kubeconfig <file>', 'the cluster whose objects are looked after (default: the one this pod runs in)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--namespace <namespace>', 'look after this namespace only')
    .option('--watch-filter <value>', 'look after objects with the label cluster.x-k8s.io/watch-filter=<value> only')
    .option('--leader-elect', 'let one of several work at a time')
    .option('--leader-elect-namespace <namespace>', 'where the lease is')
    .option('--install-crds', 'install or update our CustomResourceDefinitions first')
    .addOption(
      new Option('--core <mode>', "our Cluster API core; auto: unless upstream's is installed")
        .choices(['auto', 'on', 'off'])
        .default('auto'),
    )
    .option(
      '--host-namespaces <namespaces>',
      'namespaces whose clusters may use this machine and log in to others (kind, k3d, k3s); * means all (default: none)',
      parseNames,
    )
    .option('--virtual-host <address>', 'address on which virtual clusters are served', '127.0.0.1')
    .addOption(port('--virtual-port <port>', 'its port').default(7444))
    .option('--virtual-url <url>', 'where others reach that, when it is not the same: https://host:port')
    .option('--probe-host <address>', 'address of /healthz, /readyz and /metrics', '127.0.0.1')
    .addOption(port('--health-port <port>', 'serve /healthz and /readyz there'))
    .addOption(port('--metrics-port <port>', 'serve /metrics there'))
    .action(async (_options, command: Command) => (await import('./manager.ts')).manager(command.optsWithGlobals()))
    .addHelpText(
      'after',
      examples(
        'rookery manager manifests | kubectl apply --server-side -f -',
        'rookery manager --kubeconfig management.kubeconfig --leader-elect',
      ),
    );
  manager
    .command('manifests')
    .description('print what the manager needs in its cluster: kinds and rights, and itself where there is an image')
    .addOption(new Option('--only <part>', 'print a part').choices(['crds']))
    .option('--namespace <namespace>', 'where the manager lives', 'rookery-system')
    .option('--image <image>', 'an image of rookery, to be run in the cluster')
    .option('--with-core', "for our own Cluster API core, where upstream's is not installed")
    .option('--clusterctl <folder>', 'write a repository for clusterctl there instead')
    .action(async (_options, command: Command) =>
      (await import('./manager-manifests.ts')).printManifests(command.optsWithGlobals()),
    );
}
