/**
 * The tables in terms of keys and versions: every SQL statement about objects is here. Knows nothing of queues, watchers
 * or time. Statements are prepared when first used, so a store that is only read stays small.
 */
import type { Statement } from 'better-sqlite3';
import type { Connection } from './format.ts';
import { Recent } from './recent.ts';
import { Resources } from './resources.ts';
import type { ChangeEvent, Key, ResealCursor, Stored } from './store.ts';
import type { Values } from './values.ts';
import { Deletion, Version } from './version.ts';

const ADDED = 1;
const MODIFIED = 2;
const DELETED = 3;

const SQL = {
  get: `SELECT c.rv, l.value FROM current c CROSS JOIN log l ON l.rv = c.rv
    WHERE c.resource = ? AND c.namespace = ? AND c.name = ?`,
  page: `SELECT c.namespace, c.name, c.rv, l.value FROM current c CROSS JOIN log l ON l.rv = c.rv
    WHERE c.resource = ? AND (c.namespace, c.name) > (?, ?) ORDER BY c.namespace, c.name LIMIT ?`,
  pageIn: `SELECT c.namespace, c.name, c.rv, l.value FROM current c CROSS JOIN log l ON l.rv = c.rv
    WHERE c.resource = ? AND c.namespace = ? AND c.name > ? ORDER BY c.name LIMIT ?`,
  keyAfter: `SELECT namespace, name FROM log WHERE resource = ? AND (namespace, name) > (?, ?)
    ORDER BY namespace, name LIMIT 1`,
  keyAfterIn: 'SELECT namespace, name FROM log WHERE resource = ? AND namespace = ? AND name > ? ORDER BY name LIMIT 1',
  asOf: `SELECT rv, op, value FROM log WHERE resource = ? AND namespace = ? AND name = ? AND rv <= ?
    ORDER BY rv DESC LIMIT 1`,
  count: 'SELECT count(*) AS n FROM current WHERE resource = ?',
  countIn: 'SELECT count(*) AS n FROM current WHERE resource = ? AND namespace = ?',
  append: 'INSERT INTO log(rv, resource, namespace, name, op, prev_rv, value) VALUES (?, ?, ?, ?, ?, ?, ?)',
  point: 'INSERT OR REPLACE INTO current(resource, namespace, name, rv) VALUES (?, ?, ?, ?)',
  unpoint: 'DELETE FROM current WHERE resource = ? AND namespace = ? AND name = ?',
  unappend: 'DELETE FROM log WHERE rv = ?',
  changes: `SELECT l.rv, l.resource, l.namespace, l.name, l.op, l.prev_rv, l.value, p.value AS prev_value
    FROM log l LEFT JOIN log p ON p.rv = l.prev_rv WHERE l.rv > ? AND l.rv <= ? ORDER BY l.rv`,
  changesOf: `SELECT l.rv, l.resource, l.namespace, l.name, l.op, l.prev_rv, l.value, p.value AS prev_value
    FROM log l LEFT JOIN log p ON p.rv = l.prev_rv
    WHERE l.rv > ? AND l.rv <= ? AND l.resource = ? ORDER BY l.rv`,
  newest: 'SELECT max(rv) AS rv FROM log',
  plain: "SELECT rv, namespace, name, value FROM log WHERE resource = ? AND typeof(value) = 'text'",
  sealed: `SELECT rv, namespace, name, value FROM log WHERE resource = ? AND (namespace, name, rv) > (?, ?, ?)
    ORDER BY namespace, name, rv LIMIT ?`,
  replace: 'UPDATE log SET value = ? WHERE rv = ?',
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
} as const;

type Column = string | Buffer;

interface PageRow {
  namespace: string;
  name: string;
  rv: number;
  value: Column;
}

interface ChangeRow {
  rv: number;
  resource: number;
  namespace: string;
  name: string;
  op: number;
  prev_rv: number;
  value: Column | null;
  prev_value: Column | null;
}

interface Range {
  resource: string;
  /** Absent or empty: all. */
  namespace?: string;
  after: { namespace: string; name: string };
  /** Absent: no limit. */
  limit?: number;
}

interface Slice {
  events: ChangeEvent[];
  reached: number;
}

export class Log {
  readonly #db: Connection;
  readonly #values: Values;
  readonly #resources: Resources;
  readonly #prepared = new Map<string, Statement>();
  readonly #recent = new Recent();

  constructor(db: Connection, values: Values) {
    this.#db = db;
    this.#values = values;
    this.#resources = new Resources(db);
  }

  get(key: Key): Stored | undefined {
    const recent = this.#recent.get(key);
    if (recent) return recent;
    const id = this.#resources.id(key.resource);
    if (id === undefined) return undefined;
    const row = this.#sql('get').get(id, key.namespace, key.name) as { rv: number; value: Column } | undefined;
    if (!row) return undefined;
    const found = this.#version(key, row.rv, row.value);
    // What is sealed is not kept lying around in the clear.
    if (typeof row.value === 'string') this.#recent.keep(found);
    return found;
  }

  page(range: Range): Stored[] {
    const id = this.#resources.id(range.resource);
    if (id === undefined) return [];
    const { after, limit = -1 } = range;
    const rows = range.namespace
      ? this.#sql('pageIn').all(id, range.namespace, startIn(range.namespace, after), limit)
      : this.#sql('page').all(id, after.namespace, after.name, limit);
    return (rows as PageRow[]).map((row) =>
      this.#version({ resource: range.resource, namespace: row.namespace, name: row.name }, row.rv, row.value),
    );
  }

  /** The same page as it was at `rv`: two index seeks for each key, however often it was rewritten. */
  pageAsOf(range: Range, rv: number): Stored[] {
    const id = this.#resources.id(range.resource);
    const items: Stored[] = [];
    if (id === undefined) return items;
    let at = range.after;
    while (range.limit === undefined || items.length < range.limit) {
      const next = (
        range.namespace
          ? this.#sql('keyAfterIn').get(id, range.namespace, startIn(range.namespace, at))
          : this.#sql('keyAfter').get(id, at.namespace, at.name)
      ) as { namespace: string; name: string } | undefined;
      if (!next) break;
      at = next;
      const row = this.#sql('asOf').get(id, next.namespace, next.name, rv) as
        | { rv: number; op: number; value: Column }
        | undefined;
      if (!row || row.op === DELETED) continue;
      items.push(this.#version({ resource: range.resource, ...next }, row.rv, row.value));
    }
    return items;
  }

  count(resource: string, namespace?: string): number {
    const id = this.#resources.id(resource);
    if (id === undefined) return 0;
    const row = namespace ? this.#sql('countIn').get(id, namespace) : this.#sql('count').get(id);
    return (row as { n: number }).n;
  }

  /**
   * Changes in (after, upTo], in order. Stops once the rows read weigh more than `bytes`: `reached` says how far it came.
   */
  changes(after: number, upTo: number, resource: string | undefined, bytes: number): Slice {
    const id = resource === undefined ? undefined : this.#resources.id(resource);
    if (resource !== undefined && id === undefined) return { events: [], reached: upTo };
    const events: ChangeEvent[] = [];
    const rows =
      id === undefined ? this.#sql('changes').iterate(after, upTo) : this.#sql('changesOf').iterate(after, upTo, id);
    let read = 0;
    for (const row of rows as IterableIterator<ChangeRow>) {
      events.push(this.#event(row));
      read += (row.value?.length ?? 0) + (row.prev_value?.length ?? 0);
      if (read > bytes) return { events, reached: row.rv };
    }
    return { events, reached: upTo };
  }

  resources(): string[] {
    return this.#resources.all().map(([name]) => name);
  }

  newestRv(): number {
    return (this.#sql('newest').get() as { rv: number | null }).rv ?? 0;
  }

  // ---- inside a transaction ------------------------------------------------------------------------------------

  begin(): void {
    this.#sql('begin').run();
  }

  commit(): void {
    this.#sql('commit').run();
  }

  rollback(): void {
    // SQLite has already rolled back by itself after some failures (a full disk).
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    this.#resources.reload();
    this.#values.forget();
    this.#recent.forgetAll();
  }

  put(key: Key, rv: number, previous: Stored | undefined, json: string): Stored {
    const id = this.#resources.intern(key.resource);
    const op = previous ? MODIFIED : ADDED;
    this.#recent.forget(key);
    this.#sql('append').run(
      rv,
      id,
      key.namespace,
      key.name,
      op,
      previous?.rv ?? 0,
      this.#values.toColumn(key, rv, json),
    );
    this.#sql('point').run(id, key.namespace, key.name, rv);
    return new Version({ resource: key.resource, namespace: key.namespace, name: key.name }, rv, json);
  }

  /** The row holds no value: the last state is that of the row before it, which lives as long. */
  remove(rv: number, last: Stored): Stored {
    const { resource, namespace, name } = last.key;
    const id = this.#resources.intern(resource);
    this.#recent.forget(last.key);
    this.#sql('append').run(rv, id, namespace, name, DELETED, last.rv, null);
    this.#sql('unpoint').run(id, namespace, name);
    return new Deletion(last, rv);
  }

  /** Takes back the newest change of a key. */
  undo(event: ChangeEvent): void {
    const { resource, namespace, name } = event.current.key;
    const id = this.#resources.intern(resource);
    this.#recent.forget(event.current.key);
    this.#sql('unappend').run(event.rv);
    if (event.previous) this.#sql('point').run(id, namespace, name, event.previous.rv);
    else this.#sql('unpoint').run(id, namespace, name);
  }

  /**
   * Seals what was written before its resource was sealed. `secure_delete` overwrites the plaintext where it was; the
   * checkpoint empties the write-ahead log, whose old frames would otherwise show it on.
   */
  sealPlain(sealed: (resource: string) => boolean): void {
    const found = this.#resources.all().filter(([name]) => sealed(name));
    const rows = found.flatMap(([resource, id]) =>
      (this.#sql('plain').all(id) as (PageRow & { value: string })[]).map((row) => ({ ...row, resource })),
    );
    if (rows.length === 0) return;
    const synchronous = this.#db.pragma('synchronous', { simple: true });
    this.#db.pragma('synchronous = FULL');
    this.#db.pragma('secure_delete = ON');
    this.#db.transaction(() => {
      for (const { value, rv, ...key } of rows) {
        this.#sql('replace').run(this.#values.toColumn(key, rv, value), rv);
      }
    })();
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
    this.#db.pragma('secure_delete = OFF');
    this.#db.pragma(`synchronous = ${synchronous}`);
  }

  /** The next `count` rows of the sealed resources; those with an older key are sealed again. */
  reseal(
    isSealed: (resource: string) => boolean,
    isCurrent: (sealed: Buffer) => boolean,
    count: number,
    after?: ResealCursor,
  ): ResealCursor | undefined {
    const ids = this.#resources.all().filter(([name]) => isSealed(name));
    const [resource, id] = ids.sort((a, b) => a[1] - b[1]).find((each) => each[1] >= (after?.resource ?? 0)) ?? [];
    if (resource === undefined || id === undefined) return undefined;
    const from = after?.resource === id ? after : { namespace: '', name: '', rv: -1 };
    const rows = this.#sql('sealed').all(id, from.namespace, from.name, from.rv, count) as PageRow[];
    this.#db.transaction(() => {
      for (const { value, rv, namespace, name } of rows) {
        if (!Buffer.isBuffer(value) || isCurrent(value)) continue;
        const key = { resource, namespace, name };
        this.#sql('replace').run(this.#values.toColumn(key, rv, this.#values.fromColumn(key, rv, value)), rv);
      }
    })();
    const last = rows.at(-1);
    if (last && rows.length === count) return { resource: id, namespace: last.namespace, name: last.name, rv: last.rv };
    const isLast = !ids.some((each) => each[1] > id);
    return isLast ? undefined : { resource: id + 1, namespace: '', name: '', rv: -1 };
  }

  // ---- rows ----------------------------------------------------------------------------------------------------

  #version(key: Key, rv: number, value: Column): Version {
    return new Version(key, rv, this.#values.fromColumn(key, rv, value));
  }

  #event(row: ChangeRow): ChangeEvent {
    const key = { resource: this.#resources.name(row.resource), namespace: row.namespace, name: row.name };
    const previous = row.prev_value === null ? undefined : this.#version(key, row.prev_rv, row.prev_value);
    if (row.op === DELETED) {
      if (!previous) throw new Error(`deletion ${row.rv} has lost the state before it`);
      return { type: 'DELETED', rv: row.rv, current: new Deletion(previous, row.rv), previous };
    }
    const current = this.#version(key, row.rv, row.value as Column);
    return row.op === ADDED
      ? { type: 'ADDED', rv: row.rv, current }
      : { type: 'MODIFIED', rv: row.rv, current, previous };
  }

  #sql(name: keyof typeof SQL): Statement {
    let statement = this.#prepared.get(name);
    if (!statement) {
      statement = this.#db.prepare(SQL[name]);
      this.#prepared.set(name, statement);
    }
    return statement;
  }
}

/** The name to start after inside one namespace, when paging began in (or before, or after) it. */
function startIn(namespace: string, after: { namespace: string; name: string }): string {
  if (after.namespace === namespace) return after.name;
  return after.namespace < namespace ? '' : '\u{10ffff}';
}
