/** Writes that go all the way and leave no trace: the transaction of a dry run is always rolled back. */
import type { KubeObject } from '../../api/object.ts';
import type { Store, Transaction } from '../store/store.ts';

class RolledBack<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('dry run');
    this.result = result;
  }
}

/** The answer to a dry run names the version that is still there (none for a new object), as nothing was written. */
export function unwritten(object: KubeObject, stillThere?: number): KubeObject {
  if (stillThere === undefined) delete object.metadata.resourceVersion;
  else object.metadata.resourceVersion = String(stillThere);
  return object;
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
