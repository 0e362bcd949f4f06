/**
 * How much a store holds: its objects, and the bytes of their JSON. Counted with every change and written down now and
 * then, so that opening a store counts only what came after: the changes since a crash.
 */
import type { Connection } from './format.ts';
import { readMeta, writeMeta } from './meta.ts';

export interface Usage {
  objects: number;
  bytes: number;
}

const SQL = {
  all: `SELECT count(*) AS objects, sum(octet_length(l.value)) AS bytes
    FROM current c CROSS JOIN log l ON l.rv = c.rv`,
  /** Of the states before these changes all are there as long as the changes are. */
  since: `SELECT sum((l.op = 1) - (l.op = 3)) AS objects,
      sum(coalesce(octet_length(l.value), 0) - coalesce(octet_length(p.value), 0)) AS bytes
    FROM log l LEFT JOIN log p ON p.rv = l.prev_rv WHERE l.rv > ?`,
} as const;

/** How much more there is when one JSON takes the place of another. */
export function growth(before: string | undefined, after: string | undefined): Usage {
  return { objects: count(after) - count(before), bytes: size(after) - size(before) };
}

const count = (json: string | undefined) => (json === undefined ? 0 : 1);
const size = (json: string | undefined) => (json === undefined ? 0 : Buffer.byteLength(json));

export class UsageCount {
  readonly #db: Connection;
  /** The newest version at the first look, and the one before which history is gone. */
  readonly #versions: () => { rv: number; compactedRv: number };
  #now: Usage | undefined;
  #savedRv: number | undefined;

  constructor(db: Connection, versions: () => { rv: number; compactedRv: number }) {
    this.#db = db;
    this.#versions = versions;
  }

  /** With what the transaction under way has done so far. Counted when first asked for. */
  get now(): Usage {
    this.#now ??= this.#counted();
    return this.#now;
  }

  add({ objects, bytes }: Usage): void {
    const { now } = this;
    this.#now = { objects: now.objects + objects, bytes: now.bytes + bytes };
  }

  /** For `reset` after a rollback. */
  get counted(): Usage | undefined {
    return this.#now;
  }

  reset(counted: Usage | undefined): void {
    this.#now = counted;
  }

  /** Not inside a transaction of the writer: what is counted has to be committed. */
  save(): void {
    const { rv } = this.#versions();
    if (this.#savedRv === rv) return;
    const { objects, bytes } = this.now;
    writeMeta(this.#db, 'usage', JSON.stringify({ rv, objects, bytes }));
    this.#savedRv = rv;
  }

  #counted(): Usage {
    const { rv, compactedRv } = this.#versions();
    const text = readMeta(this.#db, 'usage');
    const saved = text === undefined ? undefined : (JSON.parse(text) as Usage & { rv: number });
    if (!saved || saved.rv < compactedRv || saved.rv > rv) return this.#ask(SQL.all);
    this.#savedRv = saved.rv;
    if (saved.rv === rv) return { objects: saved.objects, bytes: saved.bytes };
    const more = this.#ask(SQL.since, saved.rv);
    return { objects: saved.objects + more.objects, bytes: saved.bytes + more.bytes };
  }

  #ask(sql: string, ...parameters: number[]): Usage {
    const { objects, bytes } = this.#db.prepare(sql).get(...parameters) as { objects: number; bytes: number | null };
    return { objects: objects ?? 0, bytes: bytes ?? 0 };
  }
}
