/**
 * The last few objects that were asked for by name, parsed. Every write in a namespace asks for the namespace, every
 * request with a token for its ServiceAccount: without this each would be read and parsed again.
 */
import type { Key, Stored } from './store.ts';

/** Small: it costs memory in every cluster that is awake. */
const SIZE = 16;

export class Recent {
  /** A Map keeps insertion order: the first is the one not used for longest. */
  readonly #kept = new Map<string, Stored>();

  get(key: Key): Stored | undefined {
    const text = textOf(key);
    const found = this.#kept.get(text);
    if (!found) return undefined;
    this.#kept.delete(text);
    this.#kept.set(text, found);
    return found;
  }

  keep(stored: Stored): void {
    this.#kept.set(textOf(stored.key), stored);
    if (this.#kept.size > SIZE) this.#kept.delete(this.#kept.keys().next().value as string);
  }

  /** Has to be called for every change of a key. */
  forget(key: Key): void {
    if (this.#kept.size > 0) this.#kept.delete(textOf(key));
  }

  forgetAll(): void {
    this.#kept.clear();
  }
}

/** Names and namespaces of stored objects have no slash. */
function textOf(key: Key): string {
  return `${key.name}/${key.namespace}/${key.resource}`;
}
