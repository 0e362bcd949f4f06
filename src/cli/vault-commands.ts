/** `rookery vault …`: names, arguments and help. */
import type { Command } from 'commander';
import { examples } from './help.ts';

const KINDS = 'data, links, tokens, clients, ca (default: all)';

export function addVaultCommands(program: Command): void {
  const vault = program.command('vault').description('keys and certificates: see, exchange, retire, revoke them');
  vault
    .command('status')
    .description('show all keys, how old they are, and what still needs those that were replaced')
    .action(async (_options, command: Command) => (await import('./vault.ts')).vaultStatus(command.optsWithGlobals()));
  vault
    .command('rotate')
    .description('make new keys; old ones are accepted until they are retired')
    .argument('[kind...]', KINDS)
    .option('--no-wait', 'return when it has begun; a running control plane goes on with it')
    .addHelpText(
      'after',
      `\n  data      master key of this home; everything sealed is sealed again in the background
  links     key of links into workspaces
  tokens    keys of ServiceAccount tokens, of every cluster
  clients   CAs of client certificates, of every cluster
  ca        CA of the server; kubeconfigs get both CAs, old ones go on working
${examples('rookery vault rotate', 'rookery vault rotate data links', 'rookery vault rotate ca --no-wait')}`,
    )
    .action(async (kinds: string[], _options, command: Command) =>
      (await import('./vault.ts')).rotateKeys(command.optsWithGlobals(), kinds),
    );
  vault
    .command('retire')
    .description('accept replaced keys no longer; refused while something needs one')
    .argument('[kind...]', KINDS)
    .option(
      '--force',
      'also those that tokens, certificates, links or kubeconfigs need: these are refused from then on',
    )
    .addHelpText('after', examples('rookery vault retire', 'rookery vault retire tokens --force'))
    .action(async (kinds: string[], _options, command: Command) =>
      (await import('./vault.ts')).retireKeys(command.optsWithGlobals(), kinds),
    );
  vault
    .command('replace-lost')
    .description('accept a new key in place of a lost one, where the control plane does not start without it')
    .argument('<kind>', 'ca or links')
    .addHelpText('after', examples('rookery vault replace-lost ca'))
    .action(async (kind: string, _options, command: Command) =>
      (await import('./vault-replace-lost.ts')).replaceLost(command.optsWithGlobals(), kind),
    );
  vault
    .command('revoke')
    .description('refuse one client certificate from now on, and end its connections')
    .argument('<certificate>', 'a PEM file, a kubeconfig with the certificate in it, or a serial number')
    .option('-c, --cluster <name>', 'the cluster it is for (default: the control plane itself)')
    .option('-n, --namespace <namespace>', 'namespace of the cluster object', 'default')
    .addHelpText('after', examples('rookery vault revoke jane.crt -c demo', 'rookery vault revoke 4F:0A:91:C2 -c demo'))
    .action(async (certificate: string, _options, command: Command) =>
      (await import('./vault.ts')).revokeCertificate(command.optsWithGlobals(), certificate),
    );
}
