/** The right of one request to run, until it is released. */
import { charge } from './fair-time.ts';
import type { Level, Queue } from './level.ts';
import type { Tenant } from './tenant.ts';

export interface SeatHolder {
  tenant: Tenant;
  level: Level;
  /** The queue it waited in, if it waited. */
  queue?: Queue;
  /** How many seats it takes. */
  width: number;
  isList: boolean;
}

export class Seat {
  readonly holder: SeatHolder;
  /** The dispatcher's tick at its start. */
  readonly startedAt: number;
  readonly #onRelease: (seat: Seat) => void;
  #isReleased = false;
  #isCounted = true;

  constructor(holder: SeatHolder, startedAt: number, onRelease: (seat: Seat) => void) {
    this.holder = holder;
    this.startedAt = startedAt;
    this.#onRelease = onRelease;
    const { tenant, level, width } = holder;
    tenant.running += width;
    tenant.underWay += width;
    tenant.started(level, width);
    level.started(width);
  }

  /** The second time does nothing. `extra`: seats that it turned out to cost beyond its width. */
  release(extra = 0): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const { tenant, level, queue } = this.holder;
    if (extra > 0) for (const sharer of [tenant, level, queue]) if (sharer) charge(sharer, extra);
    this.#onRelease(this);
  }

  /** Its tenant may use the seats for another request, though this one has not ended. */
  lend(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    const { tenant, level, width } = this.holder;
    tenant.running -= width;
    level.running -= width;
  }

  /** For the dispatcher, once it is released. */
  end(): void {
    this.lend();
    this.holder.tenant.underWay -= this.holder.width;
  }
}
