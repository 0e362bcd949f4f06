/** `rookery backup …`: names, arguments and help. */
import type { Command } from 'commander';
import { examples } from './help.ts';

const KEY_FILE = [
  '--key-file <file>',
  'file that holds the key (or ROOKERY_BACKUP_KEY_FILE); without it, a passphrase',
] as const;
const FOLDER = [
  '--folder <folder>',
  'where backups are (or ROOKERY_BACKUP_FOLDER; default: backups below --home)',
] as const;

export function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .alias('backups')
    .description('make, list, check and restore encrypted backups');
  backup
    .command('create')
    .description('put everything of this home into one encrypted file, while it is in use')
    .option(...KEY_FILE)
    .option(...FOLDER)
    .option('--keep <count>', 'remove the oldest so that this many whole backups are left')
    .addHelpText(
      'after',
      examples(
        'openssl rand -base64 48 > ~/rookery-backup.key               make a key, and keep a copy elsewhere',
        'rookery backup create --key-file ~/rookery-backup.key --keep 7',
        'ROOKERY_BACKUP_PASSPHRASE=… rookery backup create -o json',
      ),
    )
    .action(async (_options, command: Command) =>
      (await import('./backup-create.ts')).createBackup(command.optsWithGlobals()),
    );
  backup
    .command('list')
    .alias('ls')
    .description('list the backups in a folder, newest first; needs no key')
    .option(...FOLDER)
    .addHelpText('after', examples('rookery backup list', 'rookery backup list --folder /mnt/backups -o json'))
    .action(async (_options, command: Command) =>
      (await import('./backup-list.ts')).listBackups(command.optsWithGlobals()),
    );
  backup
    .command('verify')
    .description('read a backup to its last byte and say what is in it; changes nothing')
    .argument('<file>')
    .option(...KEY_FILE)
    .addHelpText(
      'after',
      examples('rookery backup verify rookery-20261117T060000Z.backup --key-file ~/rookery-backup.key'),
    )
    .action(async (file: string, _options, command: Command) =>
      (await import('./backup-list.ts')).verifyBackup(command.optsWithGlobals(), file),
    );
  backup
    .command('restore')
    .description('bring back a whole home that is not in use, or one cluster of any home')
    .argument('<file>')
    .option(...KEY_FILE)
    .option('--cluster <name>', 'only the store of this cluster, also while the control plane runs')
    .option('-n, --namespace <namespace>', 'namespace of the cluster object', 'default')
    .option('--replace', 'also where something is in its place; that is kept aside')
    .option('--timeout <seconds>', 'how long to wait for the cluster', '300')
    .addHelpText(
      'after',
      examples(
        'rookery backup restore x.backup --home ~/rookery-2           into an empty home',
        'rookery backup restore x.backup --replace                    in place of what is here',
        'rookery backup restore x.backup --cluster demo               a cluster whose store is lost',
      ),
    )
    .action(async (file: string, _options, command: Command) =>
      (await import('./backup-restore.ts')).restoreBackup(command.optsWithGlobals(), file),
    );
}
