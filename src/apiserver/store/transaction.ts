/**
 * What one `write` function gets to work with. Keeps the list of what it changed, for the watchers, and to take it back
 * when the function throws: cheaper than a savepoint around each function, since hardly any throws after writing.
 */
import type { KubeObject } from '../../api/object.ts';
import { isStorageFailure } from './failure.ts';
import type { Log } from './log.ts';
import { same } from './sameness.ts';
import type { ChangeEvent, Key, Room, Stored, Transaction } from './store.ts';
import { growth, type UsageCount } from './usage.ts';
import { Text } from './version.ts';

const START = { namespace: '', name: '' };

/** Who is asked before a store grows, and how much it holds. */
export interface Account {
  room: Room;
  usage: UsageCount;
}

export class LogTransaction implements Transaction {
  readonly #log: Log;
  readonly #account: Account | undefined;
  #rv: number;
  #open = true;
  /** What `get` last returned: most functions put what they just read, and it may already be parsed. */
  #read: Stored | undefined;
  readonly events: ChangeEvent[] = [];
  /** SQLite failed under it: whatever the function made of that, nothing of this batch can be trusted. */
  failure: unknown;

  constructor(log: Log, rv: number, account?: Account) {
    this.#log = log;
    this.#account = account;
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
      const rv = this.#rv + 1;
      const json = text.at(rv);
      this.#charge(key, object, previous, json);
      const current = this.#log.put(key, rv, previous, json);
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
      this.#account?.usage.add(growth(previous.json, undefined));
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
    for (const event of this.events.reverse()) {
      const { type, current, previous } = event;
      this.#account?.usage.add(growth(type === 'DELETED' ? undefined : current.json, previous?.json));
      this.#log.undo(event);
    }
    this.events.length = 0;
  }

  /** Throws when there is no room. What is being deleted is let through: it makes some. */
  #charge(key: Key, object: KubeObject, previous: Stored | undefined, json: string): void {
    if (!this.#account) return;
    const { room, usage } = this.#account;
    const grown = growth(previous?.json, json);
    if (object.metadata.deletionTimestamp === undefined) room.admit(key, grown, usage.now);
    usage.add(grown);
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
