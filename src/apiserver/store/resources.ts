/** Resource names as the small numbers the rows carry. Few, so all are held in memory. */
import type { Connection } from './format.ts';

export class Resources {
  readonly #db: Connection;
  #ids = new Map<string, number>();
  #names = new Map<number, string>();

  constructor(db: Connection) {
    this.#db = db;
    this.reload();
  }

  /** Also after a rollback: it may have taken new names with it. */
  reload(): void {
    const rows = this.#db.prepare('SELECT id, name FROM resource').all() as { id: number; name: string }[];
    this.#ids = new Map(rows.map((row) => [row.name, row.id]));
    this.#names = new Map(rows.map((row) => [row.id, row.name]));
  }

  /** Absent: nothing of this resource was ever stored. */
  id(name: string): number | undefined {
    return this.#ids.get(name);
  }

  all(): [name: string, id: number][] {
    return [...this.#ids];
  }

  name(id: number): string {
    return this.#names.get(id) ?? '';
  }

  /** Only inside a transaction. */
  intern(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = Number(this.#db.prepare('INSERT INTO resource(name) VALUES (?)').run(name).lastInsertRowid);
    this.#ids.set(name, id);
    this.#names.set(id, name);
    return id;
  }
}
