/**
 * Start-time fair queueing, for one level of the tree (tenants of the server, priority levels of a tenant, queues of a
 * level). Time is counted in seats: who starts a request pays its width, divided by its weight, and the one that has paid
 * least goes next. Who was idle starts at the present and saves nothing up.
 */
export interface Sharer {
  /** The virtual time at which its next request may start. */
  due: number;
  readonly weight: number;
}

export class FairTime {
  #now = 0;

  start(sharer: Sharer, width: number): void {
    this.#now = Math.max(sharer.due, this.#now);
    sharer.due = this.#now + width / sharer.weight;
  }

  /** The one whose turn it is. Among equals the first. */
  least<T extends Sharer>(sharers: Iterable<T>): T | undefined {
    let found: T | undefined;
    for (const sharer of sharers) {
      if (sharer.due <= this.#now) sharer.due = this.#now;
      if (!found || sharer.due < found.due) found = sharer;
    }
    return found;
  }
}

/** What a request turned out to cost beyond its width is paid by the next ones of the same sharer. */
export function charge(sharer: Sharer, seats: number): void {
  sharer.due += seats / sharer.weight;
}
