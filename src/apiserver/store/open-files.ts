/**
 * The files this process has open as stores. Closing any descriptor of a file drops all locks the process has on it
 * (POSIX), so no one may even read such a file beside SQLite.
 */
import { resolve } from 'node:path';
import { RookeryError } from '../../errors.ts';

const open = new Set<string>();

export const openFiles = {
  add: (file: string): void => void open.add(resolve(file)),
  delete: (file: string): void => void open.delete(resolve(file)),
  has: (file: string): boolean => open.has(resolve(file)),
};

/** Throws `store.open` for a file that has to be closed first. */
export function mustBeClosed(file: string): void {
  if (!openFiles.has(file)) return;
  throw new RookeryError('store.open', `${file} is open: close the store first`, { class: 'retryable' });
}
