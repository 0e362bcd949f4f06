/** Stores as files: a tenant is made by copying a prepared one, and gone when its files are. */
import { constants } from 'node:fs';
import { chmod, copyFile, rm, stat } from 'node:fs/promises';
import { RookeryError } from '../../errors.ts';
import { unclosed } from './format.ts';
import { mustBeClosed } from './open-files.ts';

/**
 * Copies the closed store `from` to the new file `to` (shared blocks where the file system can). What is still in a
 * write-ahead log would be lost, so a store that was not closed is refused. Settings (`meta`) are copied too: a template should hold no sealed values
 * and no keys, else all its copies share them.
 */
export async function cloneStore(from: string, to: string): Promise<void> {
  mustBeClosed(from);
  const wal = await stat(`${from}-wal`).catch(() => undefined);
  if (wal && wal.size > 0) {
    throw new RookeryError('store.open', `${from} cannot be copied: it is open or was not closed cleanly`, {
      class: 'retryable',
      hint: 'Open and close it once.',
    });
  }
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
}

/** Removes a closed store and what SQLite keeps beside it; nothing to remove is fine. */
export async function dropStore(file: string): Promise<void> {
  mustBeClosed(file);
  // The log first: left behind alone it would be replayed into the next store of that name.
  for (const path of [unclosed.path(file), `${file}-wal`, `${file}-shm`, file]) await rm(path, { force: true });
}
