/** What the commands about backups have in common. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BackupFolder } from '../embedded/backup/backup-folder.ts';
import type { OnProgress } from '../embedded/backup/pack.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import type { GlobalOptions } from './connect.ts';
import type { OutputFormat } from './output.ts';

export interface BackupOptions extends GlobalOptions {
  folder?: string;
}

export function folderOf({ folder = process.env.ROOKERY_BACKUP_FOLDER }: BackupOptions, home: Home): BackupFolder {
  return new BackupFolder(folder ? resolve(folder) : join(home.path, 'backups'));
}

export function existingBackup(name: string): string {
  const file = resolve(name);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new RookeryError('backup.missing', `there is no file ${file}`, {
    class: 'user',
    hint: 'see `rookery backup list`',
  });
}

export function size(bytes: number): string {
  if (bytes < 2 ** 20) return `${Math.ceil(bytes / 2 ** 10)} KiB`;
  return bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

/** One line that is written over, for people who watch. */
export function progressLine(what: string, output: OutputFormat): OnProgress | undefined {
  const { stderr } = process;
  if (output !== 'table' || !stderr.isTTY) return undefined;
  return (done, total) => {
    const isOver = done >= total;
    stderr.write(`\r${what}: ${done} of ${total} files${isOver ? '\r\x1b[K' : ''}`);
  };
}
