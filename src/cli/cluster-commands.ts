/** `rookery cluster …`: names, arguments and help. */
import type { Command } from 'commander';
import { examples } from './help.ts';

export function addClusterCommands(program: Command): void {
  const cluster = program.command('cluster').alias('clusters').description('make, list, reach and delete clusters');
  const named = (name: string, description: string) =>
    cluster
      .command(name)
      .description(description)
      .option('-n, --namespace <namespace>', 'namespace of the cluster object', 'default');
  addMaking(named);
  addReading(named);
  addChanging(named);
}

type Named = (name: string, description: string) => Command;

function addMaking(named: Named): void {
  named('create', 'make a cluster and wait until it answers')
    .argument('<name>')
    .option(
      '-p, --provisioner <name>',
      'how to make it (see `rookery provisioners`); auto: k3d or kind, whatever can be used here',
      'virtual',
    )
    .option('--kubernetes-version <version>', '1.35 for the newest patch that can be had, or an exact v1.35.8')
    .option('--nodes <count>', 'how many nodes, the control plane among them')
    .option('--control-planes <count>', 'how many of them are control planes')
    .option('--image <image>', 'node image, when no version from the catalog fits')
    .option('--host <host>', 'where it shall live: a cluster (vcluster), or user@address of a machine (k3s)')
    .option('--no-wait', 'return at once')
    .option('--timeout <seconds>', 'how long to wait (default: by provisioner, see `rookery provisioners`)')
    .addHelpText(
      'after',
      examples(
        'rookery cluster create demo                                 simulated, there in milliseconds',
        'rookery cluster create dev -p auto --nodes 3                real, with what Docker can make here',
        'rookery cluster create dev -p kind --kubernetes-version 1.35',
        'rookery cluster create team-a -p vcluster --host dev        inside the cluster dev',
      ),
    )
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-create.ts')).createCluster(command.optsWithGlobals(), name),
    );
  named('delete', 'delete clusters and everything they left')
    .alias('rm')
    .argument('<name...>')
    .option('--no-wait', 'return at once')
    .option('--timeout <seconds>', 'how long to wait', '300')
    .option('--abandon', 'give up what cannot be reached any more; it stays where it is')
    .addHelpText('after', examples('rookery cluster delete demo dev', 'rookery cluster delete far-away --abandon'))
    .action(async (names: string[], _options, command: Command) =>
      (await import('./cluster-delete.ts')).deleteClusters(command.optsWithGlobals(), names),
    );
  named('promote', 'copy what users made in one cluster to another; the source is only read')
    .argument('<name>')
    .requiredOption('--to <target>', 'a cluster, or a provisioner to make one with')
    .option('--as <name>', 'name of the cluster that is made (default: <name>-<provisioner>)')
    .option('--include-namespace <namespace...>', 'only these namespaces')
    .option('--dry-run', 'say what would go and what could not, and change nothing')
    .option('--timeout <seconds>', 'how long to wait for a cluster that is made')
    .addHelpText(
      'after',
      examples(
        'rookery cluster promote demo --to kind --dry-run',
        'rookery cluster promote demo --to kind --as staging',
        'rookery cluster promote demo --to staging',
      ),
    )
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-promote.ts')).promoteCluster(command.optsWithGlobals(), name),
    );
}

function addReading(named: Named): void {
  named('list', 'list clusters')
    .alias('ls')
    .option('-A, --all-namespaces', 'of all namespaces')
    .addHelpText('after', examples('rookery cluster list -A', 'rookery cluster list -o json'))
    .action(async (_options, command: Command) =>
      (await import('./cluster-list.ts')).listClusters(command.optsWithGlobals()),
    );
  named('get', 'show one cluster: state, conditions, nodes, address')
    .argument('<name>')
    .addHelpText('after', examples('rookery cluster get demo'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-get.ts')).getCluster(command.optsWithGlobals(), name),
    );
  named('kubeconfig', "print a cluster's kubeconfig")
    .argument('<name>')
    .option('--path', 'write it to its own file and print the path instead')
    .option('--internal', "for containers on the cluster's network, or pods of its host cluster")
    .addHelpText(
      'after',
      examples(
        'export KUBECONFIG=$(rookery cluster kubeconfig demo --path)',
        'rookery cluster kubeconfig dev --internal',
      ),
    )
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-kubeconfig.ts')).printKubeconfig(command.optsWithGlobals(), name),
    );
  named('exec', 'run a command (or your shell) whose kubectl talks to a cluster')
    .argument('<name>')
    .argument('[command...]', 'what to run, after --; without it your shell')
    .addHelpText('after', examples('rookery cluster exec demo -- kubectl get nodes', 'rookery cluster exec demo'))
    .action(async (name: string, words: string[], _options, command: Command) =>
      (await import('./cluster-exec.ts')).execInCluster(command.optsWithGlobals(), name, words),
    );
}

function addChanging(named: Named): void {
  const waiting = (command: Command, patience?: string) =>
    command.option('--no-wait', 'return at once').option('--timeout <seconds>', 'how long to wait', patience);

  waiting(named('scale', 'give a cluster another number of nodes'))
    .argument('<name>')
    .option('--nodes <count>', 'how many nodes, the control plane among them')
    .option('--control-planes <count>', 'how many of them are control planes')
    .addHelpText('after', examples('rookery cluster scale demo --nodes 5'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-scale.ts')).scaleCluster(command.optsWithGlobals(), name),
    );
  waiting(named('upgrade', 'bring a cluster to another version of Kubernetes'))
    .argument('<name>')
    .requiredOption('--kubernetes-version <version>', 'a minor such as 1.36, or an exact v1.36.1; one minor at a time')
    .option('--replace', 'where the tool cannot upgrade: make a new cluster and copy what you made; the old one stays')
    .option('--as <name>', 'name of the new cluster (default: <name>-<version>); with --replace')
    .option('--dry-run', 'say what would happen, and change nothing')
    .addHelpText(
      'after',
      examples(
        'rookery cluster upgrade demo --kubernetes-version 1.36 --dry-run',
        'rookery cluster upgrade dev --kubernetes-version 1.36 --replace --as dev2',
      ),
    )
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-upgrade.ts')).upgradeCluster(command.optsWithGlobals(), name),
    );
  waiting(named('suspend', 'stop a cluster and keep everything it stored'), '300')
    .argument('<name>')
    .addHelpText('after', examples('rookery cluster suspend dev'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-power.ts')).setPower(command.optsWithGlobals(), name, 'suspended'),
    );
  waiting(named('resume', 'start a suspended cluster again'), '300')
    .argument('<name>')
    .addHelpText('after', examples('rookery cluster resume dev'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-power.ts')).setPower(command.optsWithGlobals(), name, 'running'),
    );
  named('start-empty', 'begin again with a cluster whose store is lost or damaged, without what it stored')
    .argument('<name>')
    .option('--yes', 'give up what it stored; a damaged file is kept in data/replaced below --home')
    .option('--timeout <seconds>', 'how long to wait', '300')
    .addHelpText('after', examples('rookery cluster start-empty demo --yes'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-start-empty.ts')).startEmpty(command.optsWithGlobals(), name),
    );
}
