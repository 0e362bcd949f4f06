/** How much a cluster may store, as a quota that is always there. Deletes, and changes that make nothing larger, always pass. */
import { type ApiError, forbidden } from '../status.ts';
import type { Key, Room } from '../store/store.ts';
import type { Usage } from '../store/usage.ts';

/** What messages call it. */
const QUOTA = 'cluster-storage';
const LEAST_HISTORY_BYTES = 8 * 2 ** 20;

export class ClusterRoom implements Room {
  readonly #disk: Room;
  readonly #limit: () => Usage;

  constructor(disk: Room, limit: () => Usage) {
    this.#disk = disk;
    this.#limit = limit;
  }

  admit(key: Key, growth: Usage, used: Usage): void {
    this.#disk.admit(key, growth, used);
    const limit = this.#limit();
    for (const what of ['objects', 'bytes'] as const) {
      if (growth[what] > 0 && used[what] + growth[what] > limit[what]) throw exceeded(key, what, growth, used, limit);
    }
  }

  /** Less, the less room there is. */
  historyBytes(used: Usage): number {
    const left = Math.max(this.#limit().bytes - used.bytes, LEAST_HISTORY_BYTES);
    return Math.min(left, this.#disk.historyBytes(used));
  }

  failed(isFull: boolean): void {
    this.#disk.failed(isFull);
  }
}

/** In the words of ResourceQuota. */
function exceeded(key: Key, what: keyof Usage, requested: Usage, used: Usage, limited: Usage): ApiError {
  const amount = (of: Usage) => `${what}=${of[what]}`;
  const slash = key.resource.indexOf('/');
  const subject = { group: key.resource.slice(0, slash), resource: key.resource.slice(slash + 1), name: key.name };
  return forbidden(
    subject,
    `exceeded quota: ${QUOTA}, requested: ${amount(requested)}, used: ${amount(used)}, limited: ${amount(limited)}`,
  );
}
