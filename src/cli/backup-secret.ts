/** The passphrase or key file of backups, from where people keep it. It is never an argument: every user of the machine can see those. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { RookeryError } from '../errors.ts';
import { type BackupSecret, readKeyFile } from '../vault/backup-key.ts';
import { Interrupted } from './interrupt.ts';

const PASSPHRASE_MIN = 8;

/** `isNew`: asked for twice, and not too short. */
export async function backupSecret(keyFile: string | undefined, isNew: boolean): Promise<BackupSecret> {
  const file = keyFile ?? process.env.ROOKERY_BACKUP_KEY_FILE;
  if (file) return readKeyFile(file);
  const text = process.env.ROOKERY_BACKUP_PASSPHRASE || (await asked(isNew));
  if (isNew && text.length < PASSPHRASE_MIN) {
    throw wrong(`a passphrase of fewer than ${PASSPHRASE_MIN} characters protects nothing`, 'choose a longer one');
  }
  return { kind: 'passphrase', text };
}

async function asked(isNew: boolean): Promise<string> {
  if (!process.stdin.isTTY) {
    throw wrong(
      'a backup needs a passphrase or a key file',
      'name a key file with --key-file (or ROOKERY_BACKUP_KEY_FILE), or set ROOKERY_BACKUP_PASSPHRASE',
    );
  }
  const first = await hidden('Passphrase of the backup: ');
  if (isNew && (await hidden('Once more: ')) !== first)
    throw wrong('the two are not the same', 'nothing was made; try again');
  return first;
}

/** What is typed is not shown. */
function hidden(question: string): Promise<string> {
  process.stderr.write(question);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  return new Promise<string>((resolve, reject) => {
    lines.question('', resolve);
    // Ctrl-C and Ctrl-D: the terminal is in raw mode, and readline alone would wait on.
    for (const end of ['SIGINT', 'close']) lines.once(end, () => reject(new Interrupted('nothing was changed')));
  }).finally(() => {
    lines.close();
    process.stderr.write('\n');
  });
}

function wrong(message: string, hint: string): RookeryError {
  return new RookeryError('backup.secret', message, { class: 'user', hint });
}
