/** The tree of commands: names, arguments and help. What they do is in a file each, loaded when they run. */
import { Command, Option } from 'commander';
import { parsePort } from '../config.ts';
import { checkFormat, OUTPUT_FORMATS } from './output.ts';

export function buildProgram(): Command {
  const program = new Command('rookery')
    .description('Everyone their own Kubernetes cluster, from one declarative API.')
    .addOption(new Option('--home <folder>', 'where Rookery keeps everything').env('ROOKERY_HOME'))
    .addOption(
      new Option('-o, --output <format>', `how to print: ${OUTPUT_FORMATS.join(', ')}`)
        .default('table')
        .argParser(checkFormat),
    )
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError('(add --help for what it takes)')
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false });

  addControlPlane(program);
  addClusters(program);
  addMachine(program);
  program
    .command('crds')
    .description('print the CustomResourceDefinitions of all kinds, ready for kubectl apply')
    .argument('[kind...]', 'only these kinds')
    .action(async (kinds: string[], _options, command: Command) =>
      (await import('./crds.ts')).printCrds(command.optsWithGlobals(), kinds),
    );
  program
    .command('completion')
    .description('print a completion script for your shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => (await import('./completion.ts')).printCompletion(program, shell));
  program
    .command('version')
    .description('print the versions of Rookery and of the Kubernetes API it serves')
    .action(async (_options, command: Command) =>
      (await import('./version.ts')).printVersion(command.optsWithGlobals()),
    );
  return program;
}

function addControlPlane(program: Command): void {
  program
    .command('up')
    .description('start the control plane, and a first cluster if there is none')
    .option('-d, --detach', 'leave it running in the background')
    .addOption(
      new Option('-p, --port <port>', 'port of the API server; 0 means any free one (default 7443)').argParser((text) =>
        parsePort(text, '--port'),
      ),
    )
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('--no-demo', 'do not make a first cluster')
    .addHelpText('after', '\nCtrl-C stops it. Everything is kept below --home and is there again at the next start.')
    .action(async (_options, command: Command) => (await import('./up.ts')).up(command.optsWithGlobals()));
  program
    .command('down')
    .description('stop a running control plane')
    .action(async (_options, command: Command) => (await import('./down.ts')).down(command.optsWithGlobals()));
  program
    .command('status')
    .description('say whether the control plane runs, where, and what it serves')
    .action(async (_options, command: Command) => (await import('./status.ts')).status(command.optsWithGlobals()));
  program
    .command('kubectl-env')
    .description('print the shell command that points kubectl at a cluster, for eval')
    .argument('[cluster]', 'a cluster; without it, the control plane itself')
    .option('-n, --namespace <namespace>', 'namespace of the cluster object', 'default')
    .addHelpText('after', '\nExample: eval "$(rookery kubectl-env demo)"')
    .action(async (cluster: string | undefined, _options, command: Command) =>
      (await import('./kubectl-env.ts')).kubectlEnv(command.optsWithGlobals(), cluster),
    );
}

function addMachine(program: Command): void {
  program
    .command('provisioners')
    .description('list the ways to make a cluster, how real each one is and whether it can be used here')
    .action(async (_options, command: Command) =>
      (await import('./provisioners.ts')).listProvisioners(command.optsWithGlobals()),
    );
  program
    .command('tools')
    .description('list the programs Rookery drives: versions needed and found, what they can make')
    .action(async (_options, command: Command) => (await import('./tools.ts')).listTools(command.optsWithGlobals()));
  program
    .command('doctor')
    .description('say what works on this machine, what is missing, and the command that helps')
    .option('-p, --provisioner <name>', 'end with 1 when something is missing that this one needs')
    .action(async (_options, command: Command) => (await import('./doctor.ts')).doctor(command.optsWithGlobals()));
}

function addClusters(program: Command): void {
  const cluster = program.command('cluster').alias('clusters').description('make, list, reach and delete clusters');
  const named = (name: string, description: string) =>
    cluster
      .command(name)
      .description(description)
      .option('-n, --namespace <namespace>', 'namespace of the cluster object', 'default');

  named('create', 'make a cluster and wait until it answers')
    .argument('<name>')
    .option('-p, --provisioner <name>', 'how to make it: virtual or kind (see `rookery provisioners`)', 'virtual')
    .option('--kubernetes-version <version>', '1.35 for the newest patch that can be had, or an exact v1.35.8')
    .option('--nodes <count>', 'how many nodes, the control plane among them')
    .option('--control-planes <count>', 'how many of them are control planes')
    .option('--image <image>', 'node image, when no version from the catalog fits')
    .option('--no-wait', 'return at once')
    .option('--timeout <seconds>', 'how long to wait (default: 120 for virtual clusters, 900 for others)')
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-create.ts')).createCluster(command.optsWithGlobals(), name),
    );
  named('list', 'list clusters')
    .alias('ls')
    .option('-A, --all-namespaces', 'of all namespaces')
    .action(async (_options, command: Command) =>
      (await import('./cluster-list.ts')).listClusters(command.optsWithGlobals()),
    );
  named('get', 'show one cluster: state, conditions, address')
    .argument('<name>')
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-get.ts')).getCluster(command.optsWithGlobals(), name),
    );
  named('kubeconfig', "print a cluster's kubeconfig")
    .argument('<name>')
    .option('--path', 'write it to its own file and print the path instead')
    .action(async (name: string, _options, command: Command) =>
      (await import('./cluster-kubeconfig.ts')).printKubeconfig(command.optsWithGlobals(), name),
    );
  named('delete', 'delete clusters and everything they left')
    .alias('rm')
    .argument('<name...>')
    .option('--no-wait', 'return at once')
    .option('--timeout <seconds>', 'how long to wait', '120')
    .action(async (names: string[], _options, command: Command) =>
      (await import('./cluster-delete.ts')).deleteClusters(command.optsWithGlobals(), names),
    );
}
