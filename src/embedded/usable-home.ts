/** Whether a folder can be Rookery's home: said in words before anything is made in it. */
import { accessSync, constants, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { RookeryError } from '../errors.ts';

const HINT = 'choose another folder with --home (or ROOKERY_HOME)';

/**
 * Makes the folder (0700) unless it is there. One level at a time: `mkdir` with `recursive` answers ENOENT on a read-only disk, and never returns
 * below `/proc`.
 */
export function makeHome(path: string): void {
  const missing: string[] = [];
  let at = path;
  for (let found = look(at, path); !found; found = look(at, path)) {
    missing.unshift(at);
    at = dirname(at);
  }
  try {
    for (const folder of missing) mkdirSync(folder, { mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Two commands may make it at the same time.
    if (code === 'EEXIST') return makeHome(path);
    throw unusable(path, WHY[code ?? ''] ?? `it cannot be made: ${(error as Error).message}`, error);
  }
}

function look(at: string, path: string): Stats | undefined {
  try {
    const found = statSync(at);
    if (found.isDirectory()) return found;
    throw unusable(path, at === path ? 'it is a file, not a folder' : `${at} is a file, not a folder`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error instanceof RookeryError ? error : unusable(path, WHY[code ?? ''] ?? (error as Error).message, error);
  }
}

const WHY: Record<string, string> = {
  EROFS: 'the disk is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  ENOENT: 'no folder can be made there',
};

function unusable(path: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError('home.unusable', `${path} cannot be the home of Rookery: ${why}`, {
    hint: HINT,
    cause,
  });
}
