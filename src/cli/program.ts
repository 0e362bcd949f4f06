/** The tree of commands: names, arguments and help. What they do is in a file each, loaded when they run. */
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { parseCount, parseInterval, parsePort } from '../config.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addClusterCommands } from './cluster-commands.ts';
import { examples } from './help.ts';
import { addManagerCommands } from './manager-commands.ts';
import { checkFormat, OUTPUT_FORMATS } from './output.ts';
import { addVaultCommands } from './vault-commands.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

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
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    // Programs that were installed below --home are found by all who look for programs, and they look at the environment.
    .hook('preAction', (command) => {
      const { home } = command.opts<{ home?: string }>();
      if (home) process.env.ROOKERY_HOME = resolve(home);
    });

  addControlPlane(program);
  addClusterCommands(program);
  addWorkspaceCommands(program);
  addVaultCommands(program);
  addBackupCommands(program);
  addInsight(program);
  addMachine(program);
  addManagerCommands(program);
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
    .addOption(
      new Option('--backup-every <time>', 'make a backup at these intervals: 30m, 6h, 1d (default: never)').argParser(
        (text) => parseInterval(text, '--backup-every'),
      ),
    )
    .addOption(
      new Option('--backup-keep <count>', 'how many whole backups to keep (default 7)').argParser((text) =>
        parseCount(text, '--backup-keep'),
      ),
    )
    .option('--backup-folder <folder>', 'where backups go (default: backups below --home)')
    .option('--backup-key-file <file>', 'file that holds their key; see `rookery backup create --help`')
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

function addInsight(program: Command): void {
  program
    .command('why')
    .description('say why something is not ready: the chain to the root cause, and what helps')
    .argument('<what>', 'a cluster, or kind/name (e.g. kindcluster/demo, workspace/ada)')
    .option('-n, --namespace <namespace>', 'where it is (default: "default"; of a workspace, wherever it is)')
    .addHelpText(
      'after',
      examples('rookery why demo', 'rookery why workspace/ada', 'rookery why kindcluster/demo -o json'),
    )
    .action(async (what: string, _options, command: Command) =>
      (await import('./why.ts')).why(command.optsWithGlobals(), what),
    );
  program
    .command('journal')
    .description('say what happened to a cluster, and when')
    .argument('<cluster>')
    .option('-n, --namespace <namespace>', 'namespace of the cluster object', 'default')
    .option('-f, --follow', 'go on with what happens from now on')
    .option('--output-of-tools', 'with everything the tools said, not only that they ran')
    .addHelpText('after', examples('rookery journal demo --follow', 'rookery journal demo --output-of-tools'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./journal.ts')).journal(command.optsWithGlobals(), name),
    );
  program
    .command('gc')
    .description('compare the world with the objects, both ways, and remove what nobody owns')
    .option('--yes', 'remove it; without this it is only shown')
    .option('--dry-run', 'only show it (the default)')
    .option('--all-homes', 'also what carries our mark but was not made from this --home')
    .addHelpText('after', examples('rookery gc', 'rookery gc --yes'))
    .action(async (_options, command: Command) => (await import('./gc.ts')).collectGarbage(command.optsWithGlobals()));
}

function addMachine(program: Command): void {
  program
    .command('provisioners')
    .description('list the ways to make a cluster, how real each one is and whether it can be used here')
    .action(async (_options, command: Command) =>
      (await import('./provisioners.ts')).listProvisioners(command.optsWithGlobals()),
    );
  const tools = program
    .command('tools')
    .description('list the programs Rookery drives: versions needed and found, what they can make')
    .action(async (_options, command: Command) => (await import('./tools.ts')).listTools(command.optsWithGlobals()));
  tools
    .command('install')
    .description('fetch a pinned release of a program, check it against its known sha256, and keep it below --home')
    .argument('<tool...>', 'names as `rookery tools` lists them')
    .option('--force', 'also when a fitting one is on PATH already')
    .addHelpText(
      'after',
      examples('rookery tools install kind', 'HTTPS_PROXY=http://proxy:3128 rookery tools install k3d'),
    )
    .action(async (names: string[], _options, command: Command) =>
      (await import('./tools-install.ts')).installTools(command.optsWithGlobals(), names),
    );
  program
    .command('doctor')
    .description('say what works on this machine, what is missing, and the command that helps')
    .option('-p, --provisioner <name>', 'end with 1 when something is missing that this one needs')
    .action(async (_options, command: Command) => (await import('./doctor.ts')).doctor(command.optsWithGlobals()));
}
