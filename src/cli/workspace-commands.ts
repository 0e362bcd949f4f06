/** `rookery workspace …`, `rookery template …` and `rookery workshop …`: names, arguments and help. */
import type { Command } from 'commander';
import { examples } from './help.ts';

export function addWorkspaceCommands(program: Command): void {
  addWorkspaces(program.command('workspace').alias('ws').description('workspaces of people: make, open, move, delete'));
  addTemplates(program.command('template').description('blueprints of workspaces'));
  addWorkshops(program.command('workshop').description('write workshops: check, compile, run them here'));
}

function addWorkspaces(workspace: Command): void {
  const named = (name: string, description: string) =>
    workspace
      .command(name)
      .description(description)
      .option(
        '-n, --namespace <namespace>',
        'its namespace (default: ws-<name>, or wherever there is one of that name)',
      );
  const patient = (command: Command) =>
    command.option('--no-wait', 'return at once').option('--timeout <seconds>', 'how long to wait', '300');
  patient(named('create', 'make a workspace, or one for each student of a class'))
    .argument('[name]')
    .requiredOption('-t, --template <name>', 'what it is made from')
    .option('--owner <person>', 'whom it belongs to (default: its name)')
    .option('--students <file>', 'CSV with one student per line: a workspace for each')
    .option('--step <id>', 'the step it begins with (default: the first)')
    .option('--force', 'begin with it even if the order of the steps forbids it')
    .option('--ttl <duration>', 'how long it lives, such as 2h')
    .addHelpText(
      'after',
      examples(
        'rookery workspace create ada -t kubernetes-101',
        'rookery workspace create -t kubernetes-101 --students class.csv',
      ),
    )
    .action(async (name: string | undefined, _options, command: Command) =>
      (await import('./workspace-create.ts')).createWorkspaces(command.optsWithGlobals(), name),
    );
  workspace
    .command('list')
    .alias('ls')
    .description('list workspaces')
    .option('-t, --template <name>', 'only those of this template')
    .action(async (_options, command: Command) =>
      (await import('./workspace-list.ts')).listWorkspaces(command.optsWithGlobals()),
    );
  named('get', 'show one workspace: phase, step, terminal, conditions')
    .argument('<name>')
    .action(async (name: string, _options, command: Command) =>
      (await import('./workspace-list.ts')).getWorkspace(command.optsWithGlobals(), name),
    );
  named('open', 'print a link to its page; whoever has it gets in')
    .argument('<name>')
    .option('--view', 'to look only, not to type')
    .option('--hours <hours>', 'how long the link lets somebody in', '12')
    .addHelpText('after', examples('rookery workspace open ada', 'rookery workspace open ada --view --hours 1'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./workspace-open.ts')).openWorkspace(command.optsWithGlobals(), name),
    );
  named('links', 'list its valid links')
    .argument('<name>')
    .action(async (name: string, _options, command: Command) =>
      (await import('./workspace-links.ts')).listLinks(command.optsWithGlobals(), name),
    );
  named('revoke-link', 'revoke links; pages and terminals that were opened with them end')
    .argument('<name>')
    .argument('[id...]', 'as `rookery workspace links` lists them')
    .option('--all', 'all links made until now')
    .addHelpText(
      'after',
      examples('rookery workspace revoke-link ada 5f0c1d2e3a4b', 'rookery workspace revoke-link ada --all'),
    )
    .action(async (name: string, ids: string[], _options, command: Command) =>
      (await import('./workspace-links.ts')).revokeLinks(command.optsWithGlobals(), name, ids),
    );
  named('check', 'run the checks of the step it is at; ends with 1 when one fails')
    .argument('<name>')
    .action(async (name: string, _options, command: Command) =>
      (await import('./workspace-check.ts')).checkWorkspace(command.optsWithGlobals(), name),
    );
  named('logs', 'what controllers told about it and its cluster, and what happened to its shells')
    .argument('<name>')
    .option('-f, --follow', 'go on as more comes, until Ctrl-C')
    .addHelpText('after', examples('rookery workspace logs ada', 'rookery workspace logs ada -f'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./workspace-logs.ts')).workspaceLogs(command.optsWithGlobals(), name),
    );
  patient(named('step', 'go to a step'))
    .argument('<name>')
    .argument('<step>')
    .option('--force', 'also to one that is not open yet')
    .action(async (name: string, step: string, _options, command: Command) =>
      (await import('./workspace-change.ts')).goToStep(command.optsWithGlobals(), name, step),
    );
  patient(named('extend', 'let it live longer'))
    .argument('<name>')
    .requiredOption('--ttl <duration>', 'how long it lives, counted from its start, such as 4h')
    .addHelpText('after', examples('rookery workspace extend ada --ttl 4h'))
    .action(async (name: string, _options, command: Command) =>
      (await import('./workspace-change.ts')).extend(command.optsWithGlobals(), name),
    );
  for (const verb of ['suspend', 'resume'] as const) {
    patient(named(verb, verb === 'suspend' ? 'stop it; what was written is kept' : 'bring it back as it was'))
      .argument('<name>')
      .action(async (name: string, _options, command: Command) =>
        (await import('./workspace-change.ts'))[verb](command.optsWithGlobals(), name),
      );
  }
  patient(named('delete', 'delete workspaces and everything they left'))
    .alias('rm')
    .argument('<name...>')
    .action(async (names: string[], _options, command: Command) =>
      (await import('./workspace-change.ts')).deleteWorkspaces(command.optsWithGlobals(), names),
    );
}

function addTemplates(template: Command): void {
  template
    .command('list')
    .alias('ls')
    .description('list templates')
    .action(async (_options, command: Command) =>
      (await import('./template.ts')).listTemplates(command.optsWithGlobals()),
    );
  template
    .command('apply')
    .description('make or change templates from a YAML file')
    .requiredOption('-f, --file <file>', 'the file')
    .action(async (_options, command: Command) =>
      (await import('./template.ts')).applyTemplates(command.optsWithGlobals()),
    );
  template
    .command('sync')
    .description('fill in the steps of a template from a compiled workshop; makes the template if there is none')
    .argument('<artifact>', 'file that `rookery workshop build compile` wrote')
    .option('--name <template>', 'the template (default: as the workshop is called)')
    .action(async (artifact: string, _options, command: Command) =>
      (await import('./template.ts')).syncTemplate(command.optsWithGlobals(), artifact),
    );
}

function addWorkshops(workshop: Command): void {
  workshop
    .command('check')
    .description('find everything that is wrong in a workshop’s files')
    .argument('<folder>')
    .action(async (folder: string, _options, command: Command) =>
      (await import('./workshop.ts')).checkWorkshop(command.optsWithGlobals(), folder),
    );
  const build = workshop.command('build').description('make what a workshop is delivered as');
  build
    .command('compile')
    .description('make the images of all steps and the artifact')
    .argument('<folder>')
    .option('--artifact <file>', 'where the artifact goes (default: <folder>/<name>.sqlite)')
    .option('--no-images', 'only the artifact; nothing needs Docker then')
    .action(async (folder: string, _options, command: Command) =>
      (await import('./workshop.ts')).compileWorkshop(command.optsWithGlobals(), folder),
    );
  workshop
    .command('run')
    .description('try a workshop here: a workspace of your own, kept up to date with the files')
    .argument('<folder>')
    .option('--once', 'print the link and return instead of following the files')
    .addHelpText('after', examples('rookery workshop run examples/kubernetes-101'))
    .action(async (folder: string, _options, command: Command) =>
      (await import('./workshop-run.ts')).runWorkshop(command.optsWithGlobals(), folder),
    );
}
