/**
 * What one `write` function gets to work with. Keeps the list of what it changed, for the watchers, and to take it back
 * when the function throws: cheaper than a savepoint around each function, since hardly any throws after writing.
 */
import type { KubeObject } from '../../api/object.ts';
import { isStorageFailure } from './failure.ts';
import type { Log } from './log.ts';
import { same } from './sameness.ts';
import type { ChangeEvent, Key, Room, Stored, Transaction } from './store.ts';
import { Text } from './version.ts';

const START = { namespace: '', name: '' };

export class LogTransaction implements Transaction {
  readonly #log: Log;
  readonly #room: Room | undefined;
  #rv: number;
  #open = true;
  /** What `get` last returned: most functions put what they just read, and it may already be parsed. */
  #read: Stored | undefined;
  readonly events: ChangeEvent[] = [];
  /** SQLite failed under it: whatever the function made of that, nothing of this batch can be trusted. */
  failure: unknown;

  constructor(log: Log, rv: number, room?: Room) {
    this.#log = log;
    this.#room = room;
    this.#rv = rv;
  }

  get rv(): number {
    return this.#rv;
  }

  get(key: Key): Stored | undefined {
    return this.#try(() => {
      this.#read = this.#newest(key);
      return this.#read;
    });
  }

  list(resource: string, namespace?: string): Stored[] {
    return this.#try(() => this.#log.page({ resource, namespace, after: START }));
  }

  put(key: Key, object: KubeObject, differs = false): Stored {
    return this.#try(() => {
      const previous = this.#newest(key);
      const text = new Text(object);
      if (previous) {
        object.metadata.resourceVersion = String(previous.rv);
        if (!differs && same(previous, object, text.at(previous.rv))) return previous;
      }
      if (this.#room && object.metadata.deletionTimestamp === undefined) this.#room.admit(key);
      const rv = this.#rv + 1;
      const current = this.#log.put(key, rv, previous, text.at(rv));
      this.#rv = rv;
      object.metadata.resourceVersion = String(rv);
      this.events.push(previous ? { type: 'MODIFIED', rv, current, previous } : { type: 'ADDED', rv, current });
      return current;
    });
  }

  delete(key: Key): Stored | undefined {
    return this.#try(() => {
      const previous = this.#newest(key);
      if (!previous) return undefined;
      const rv = this.#rv + 1;
      const current = this.#log.remove(rv, previous);
      this.#rv = rv;
      this.events.push({ type: 'DELETED', rv, current, previous });
      return current;
    });
  }

  /** No more use of it: a function that kept it must not write outside its turn. */
  end(): void {
    this.#open = false;
  }

  undo(): void {
    for (const event of this.events.reverse()) this.#log.undo(event);
    this.events.length = 0;
  }

  #newest(key: Key): Stored | undefined {
    const read = this.#read;
    // Writing in between makes it stale.
    this.#read = undefined;
    const same =
      read?.key.name === key.name && read.key.namespace === key.namespace && read.key.resource === key.resource;
    return same ? read : this.#log.get(key);
  }

  #try<T>(work: () => T): T {
    if (!this.#open) throw new Error('the transaction is over: a write function must be synchronous');
    try {
      return work();
    } catch (error) {
      if (isStorageFailure(error)) this.failure ??= error;
      throw error;
    }
  }
}
