/** Values made from a registry, kept as long as its revision stands. Revision 0 (no CRDs) is shared by all clusters. */
import type { Registry } from './registry.ts';

export class RevisionCache<T> {
  readonly #shared = new Map<string, T>();
  // Weak, so that a cluster that is dropped or put to sleep takes its documents along.
  readonly #own = new WeakMap<Registry, { revision: number; values: Map<string, T> }>();

  get(registry: Registry, name: string, make: () => T): T {
    const values = this.#valuesOf(registry);
    let value = values.get(name);
    if (value === undefined) {
      value = make();
      values.set(name, value);
    }
    return value;
  }

  #valuesOf(registry: Registry): Map<string, T> {
    if (registry.revision === 0) return this.#shared;
    let entry = this.#own.get(registry);
    if (entry?.revision !== registry.revision) {
      entry = { revision: registry.revision, values: new Map() };
      this.#own.set(registry, entry);
    }
    return entry.values;
  }
}
