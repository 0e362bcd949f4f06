/** A transaction that keeps its writes to itself: dry runs go through `commit` and leave nothing behind. */
import type { KubeObject } from '../../api/object.ts';
import type { Key, Store, Stored, Transaction } from '../store/store.ts';

const keyText = (key: Key) => `${key.resource}\n${key.namespace}\n${key.name}`;

export function dryRunTransaction(store: Pick<Store, 'get' | 'list' | 'rv'>): Transaction {
  const written = new Map<string, Stored | undefined>();
  const readAll = (resource: string, namespace?: string): Stored[] => {
    const found: Stored[] = [];
    let after: { namespace: string; name: string } | undefined;
    for (;;) {
      const page = store.list({ resource, namespace, after });
      found.push(...page.items);
      const last = page.items.at(-1);
      if (!page.more || !last) return found;
      after = { namespace: last.key.namespace, name: last.key.name };
    }
  };
  return {
    get: (key) => (written.has(keyText(key)) ? written.get(keyText(key)) : store.get(key)),
    list(resource, namespace) {
      const kept = readAll(resource, namespace).filter((stored) => !written.has(keyText(stored.key)));
      const own = [...written.values()].filter(
        (stored): stored is Stored =>
          stored?.key.resource === resource && (namespace === undefined || stored.key.namespace === namespace),
      );
      return [...kept, ...own];
    },
    put(key, object) {
      const copy: KubeObject = structuredClone(object);
      const stored: Stored = { key, rv: store.rv, json: JSON.stringify(copy), object: () => copy };
      written.set(keyText(key), stored);
      return stored;
    },
    delete(key) {
      const before = this.get(key);
      written.set(keyText(key), undefined);
      return before;
    },
  };
}
