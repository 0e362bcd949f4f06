/**
 * The file: its tables, its settings and how it is recognised. A file that is not ours, is cut short or comes from a
 * newer Rookery is refused before SQLite gets to write a single byte to it.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { broken, newer, storeFailure } from './failure.ts';

export type Connection = Database.Database;

/** `PRAGMA user_version`; raise it together with a migration. */
const FORMAT = 1;
/** `PRAGMA application_id`: "Rook". */
const APPLICATION = 0x526f6f6b;

/**
 * `log` is the truth: one row per change, never updated. `current` points at the newest row of each live key, so the
 * value exists once. `log_key` (the rowid, rv, is its last column) answers "this key as of rv". `marks` says when a
 * revision was the newest. Resource names are interned: they would otherwise be in three trees for every row.
 */
const SCHEMA = `
  CREATE TABLE resource(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE log(
    rv INTEGER PRIMARY KEY,
    resource INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    op INTEGER NOT NULL,
    prev_rv INTEGER NOT NULL,
    value
  );
  CREATE INDEX log_key ON log(resource, namespace, name);
  CREATE TABLE current(
    resource INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    rv INTEGER NOT NULL,
    PRIMARY KEY(resource, namespace, name)
  ) WITHOUT ROWID;
  CREATE TABLE marks(rv INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

export interface FormatOptions {
  synchronous: 'normal' | 'full';
  readonly: boolean;
}

/** Opens the file, creating it when it is missing or empty. */
export function openFile(file: string, options: FormatOptions): Connection {
  let db: Connection | undefined;
  try {
    const memory = file === ':memory:';
    if (!memory && !options.readonly) touch(file);
    const fresh = memory || statSync(file).size === 0;
    if (!memory) mustHaveLog(file);
    if (!fresh) inspect(file);
    // Waiting for a lock would block the event loop, and no one else has business in the file: fail at once.
    db = new Database(file, { readonly: options.readonly, timeout: 0 });
    configure(db, options);
    if (fresh) create(db);
    checkVersion(file, db.pragma('application_id', { simple: true }), db.pragma('user_version', { simple: true }));
    return db;
  } catch (error) {
    if (db) closeFile(file, db);
    throw storeFailure(error, file);
  }
}

/** SQLite copies the log into the file and removes it when a connection that may write is closed, also a log that an earlier process left. */
export function closeFile(file: string, db: Connection): void {
  clearMark(file, db);
  db.close();
}

/** To be called before the connection is closed. */
export function clearMark(file: string, db: Connection): void {
  if (file !== ':memory:' && !db.readonly) unclosed.clear(file);
}

/**
 * Says that there are writes in the log that the file does not have yet: without the log the file would look whole and be an old one. Made after the
 * first commit and removed before the store is closed, by whichever process does that, so that neither a crash nor a power cut leaves it without a log.
 */
export const unclosed = {
  path: (file: string) => `${file}-unclosed`,
  mark: (file: string) => closeSync(openSync(unclosed.path(file), 'w', 0o600)),
  clear: (file: string) => rmSync(unclosed.path(file), { force: true }),
};

function mustHaveLog(file: string): void {
  if (existsSync(`${file}-wal`) || !existsSync(unclosed.path(file))) return;
  throw broken(file, `its log (${basename(file)}-wal) is lost, and what was written last with it`);
}

/** Reads every page. Throws `store.broken` for a file that is not whole. */
export function checkFile(file: string): void {
  mustHaveLog(file);
  inspect(file);
  let db: Connection | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
    const said = db.pragma('quick_check(1)', { simple: true });
    if (said !== 'ok') throw broken(file, String(said));
  } catch (error) {
    throw storeFailure(error, file);
  } finally {
    db?.close();
  }
}

/** SQLite would make it readable by everyone; -wal takes over the mode of the file. */
function touch(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

function configure(db: Connection, options: FormatOptions): void {
  // One process owns the file: no shared memory file, no lock calls per transaction, and a second server is kept out.
  if (!options.readonly) db.pragma('locking_mode = EXCLUSIVE');
  db.pragma('cache_size = -128');
  db.pragma('temp_store = MEMORY');
  db.pragma(`synchronous = ${SYNCHRONOUS[options.synchronous]}`);
  // `Checkpoints` does that.
  db.pragma('wal_autocheckpoint = 0');
}

/** SQLite's own `normal` waits for the disk at checkpoints and at nothing else; `Checkpoints` waits in its place. */
const SYNCHRONOUS = { normal: 'OFF', full: 'FULL' } as const;

/**
 * Nothing is worth an fsync yet: a file that a power cut takes before its first checkpoint held nothing that `normal`
 * promises to keep. Eight of them were most of the time it took to make a cluster, and they stopped everyone else.
 */
function create(db: Connection): void {
  db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma('journal_mode = WAL');
  db.exec(
    `BEGIN IMMEDIATE; ${SCHEMA} PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${FORMAT}; COMMIT;`,
  );
}

function checkVersion(file: string, application: unknown, version: unknown): void {
  if (application !== APPLICATION) throw broken(file, 'it belongs to another program');
  if (typeof version !== 'number' || version < 1) throw broken(file, 'it says no format');
  if (version > FORMAT) throw newer(file, version, FORMAT);
}

/** Reads the header of a closed store (https://www.sqlite.org/fileformat.html#the_database_header) without SQLite. */
function inspect(file: string): void {
  const header = Buffer.alloc(100);
  const fd = openSync(file, 'r');
  let size: number;
  try {
    size = fstatSync(fd).size;
    if (readSync(fd, header, 0, 100, 0) < 100) throw broken(file, 'it is cut short');
  } finally {
    closeSync(fd);
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') throw broken(file, 'it is not an SQLite file');
  if (existsSync(`${file}-wal`)) return inspectWithLog(file);
  checkVersion(file, header.readUInt32BE(68), header.readUInt32BE(60));
  const page = header.readUInt16BE(16);
  if (size < header.readUInt32BE(28) * (page === 1 ? 65536 : page)) throw broken(file, 'it is cut short');
}

/**
 * After a crash the newest header may be in the write-ahead log. Only a read-only connection never copies the log into
 * the file when it closes.
 */
function inspectWithLog(file: string): void {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    checkVersion(file, db.pragma('application_id', { simple: true }), db.pragma('user_version', { simple: true }));
  } finally {
    db.close();
  }
}
