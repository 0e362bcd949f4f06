/** Data keys of a store that comes from elsewhere, wrapped with the master key of the place it comes to. */
import type { Store } from '../apiserver/store/store.ts';
import type { Keyring } from './keyring.ts';
import { DATA_KEYS, dataKeyContext } from './sealer.ts';

export function rewrapDataKeys(meta: Store['meta'], owner: string, from: Keyring, to: Keyring): void {
  const wrapped = JSON.parse(meta.get(DATA_KEYS) ?? '[]') as (string | null)[];
  const again = wrapped.map((text, i) => {
    const context = dataKeyContext(owner, i + 1);
    return text && to.wrap(from.unwrap(text, context), context);
  });
  meta.set(DATA_KEYS, JSON.stringify(again));
}
