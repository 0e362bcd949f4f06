/** What SQLite says, as errors of ours: whether waiting helps, or the file, or a newer Rookery. */
import { RookeryError } from '../../errors.ts';

/** better-sqlite3 throws `SqliteError` with `code: 'SQLITE_…'`; told by shape so that importing this loads nothing. */
function sqliteCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return error instanceof Error && typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

export function isStorageFailure(error: unknown): boolean {
  return sqliteCode(error) !== undefined;
}

/** There is no room on the disk. A quota of the file system, and any other trouble, SQLite only calls an I/O error. */
export function isFull(error: unknown): boolean {
  return sqliteCode(error) === 'SQLITE_FULL';
}

/** The RookeryError for a failure of SQLite or the file system; anything else comes back as it was. */
export function storeFailure(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (isDriverMissing(error)) return driverMissing(error);
  if (code === undefined && !(error instanceof Error && 'syscall' in error)) return error;
  const said = (error as Error).message;
  if (code === undefined) return isWaiting(error) ? failed(file, said, error) : unreachable(file, error as Error);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return broken(file, said, error);
  // All statements are ours: one that makes no sense means that the tables are not.
  if (code === 'SQLITE_ERROR') return broken(file, said, error);
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return busy(file, error);
  if (isFull(error)) {
    return new RookeryError('store.full', `no room left to write ${file}: ${said}`, {
      class: 'retryable',
      hint: 'Free disk space; nothing of the failed write was kept.',
      cause: error,
    });
  }
  return failed(file, `${said} (${code})`, error);
}

/** The disk did not take what was written. */
function isWaiting(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall === 'fsync';
}

function failed(file: string, why: string, cause: unknown): RookeryError {
  return new RookeryError('store.failed', `cannot read or write ${file}: ${why}`, { class: 'retryable', cause });
}

/** The store itself goes on; a full disk passes. */
export function snapshotFailure(error: unknown, file: string): RookeryError {
  return new RookeryError('store.snapshot', `the snapshot ${file} cannot be written: ${(error as Error).message}`, {
    class: 'retryable',
    hint: 'Free disk space, or make the folder writable.',
    cause: error,
  });
}

/** Not built, or for another version of Node; said in many lines by whoever loads it. */
function isDriverMissing(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    (error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_FAILED' ||
    error.message.startsWith('Could not locate the bindings')
  );
}

function driverMissing(cause: Error): RookeryError {
  return new RookeryError('store.driver', `SQLite cannot be loaded by Node ${process.versions.node}`, {
    hint: 'Run `npm rebuild better-sqlite3` where Rookery is installed: it was not built, or for another Node.',
    cause,
  });
}

function unreachable(file: string, error: Error): RookeryError {
  return new RookeryError('store.unreachable', `cannot open ${file}: ${error.message}`, { cause: error });
}

export function broken(file: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError('store.broken', `${file} is not a readable Rookery store: ${why}`, {
    hint: 'The file was left as it is. Restore it from a backup: rookery backup restore',
    cause,
  });
}

/** SQLite keeps no checksums: a page that was changed may still be a page. */
export function unreadable(what: string, cause: unknown): RookeryError {
  return new RookeryError('store.broken', `the stored ${what} is not JSON any more`, { cause });
}

export function newer(file: string, format: number, known: number): RookeryError {
  return new RookeryError(
    'store.newer',
    `${file} was written by a newer Rookery (format ${format}, this one knows ${known})`,
    { hint: 'The file was left as it is. Use that version of Rookery.' },
  );
}

export function busy(file: string, cause?: unknown): RookeryError {
  return new RookeryError('store.busy', `${file} is in use by another process or opened twice`, {
    class: 'retryable',
    hint: 'Stop the other Rookery that uses this data directory.',
    cause,
  });
}

export function closed(file: string): RookeryError {
  return new RookeryError('store.closed', `${file} is closed`, { class: 'retryable' });
}
