/** Writes that go all the way and leave no trace: the transaction of a dry run is always rolled back. */
import type { Store, Transaction } from '../store/store.ts';

class RolledBack<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('dry run');
    this.result = result;
  }
}

export async function committed<T>(
  store: Store,
  dryRun: boolean | undefined,
  change: (tx: Transaction) => T,
): Promise<T> {
  if (!dryRun) return store.write(change);
  try {
    return await store.write<T>((tx) => {
      throw new RolledBack(change(tx));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T;
    throw error;
  }
}
