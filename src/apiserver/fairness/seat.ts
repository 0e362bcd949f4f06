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

/** Is told what becomes of a seat. */
export interface SeatKeeper {
  paused(seat: Seat): void;
  resumed(seat: Seat): void;
  released(seat: Seat): void;
}

export class Seat {
  readonly holder: SeatHolder;
  /** The dispatcher's tick at its start. */
  readonly startedAt: number;
  readonly #keeper: SeatKeeper;
  #isReleased = false;
  #isCounted = false;

  constructor(holder: SeatHolder, startedAt: number, keeper: SeatKeeper) {
    this.holder = holder;
    this.startedAt = startedAt;
    this.#keeper = keeper;
    const { tenant, level, width } = holder;
    tenant.underWay += width;
    tenant.started(level, width);
    level.dispatched++;
    level.executing++;
    this.takeBack();
  }

  /** The second time does nothing. `extra`: seats that it turned out to cost beyond its width. */
  release(extra = 0): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const { tenant, level, queue } = this.holder;
    if (extra > 0) for (const sharer of [tenant, level, queue]) if (sharer) charge(sharer, extra);
    this.#keeper.released(this);
  }

  /** The request waits for its client: others may run meanwhile. */
  pause(): void {
    if (!this.#isReleased) this.#keeper.paused(this);
  }

  /** It goes on at once, even if there is one more now than there are seats. */
  resume(): void {
    if (!this.#isReleased) this.#keeper.resumed(this);
  }

  /** For the dispatcher: its tenant may use the seats for another request, though this one has not ended. */
  lend(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    const { tenant, level, width } = this.holder;
    tenant.running -= width;
    level.running -= width;
  }

  takeBack(): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    const { tenant, level, width } = this.holder;
    tenant.running += width;
    level.running += width;
  }

  /** For the dispatcher, once it is released. */
  end(): void {
    this.lend();
    const { tenant, level, width } = this.holder;
    tenant.underWay -= width;
    level.executing--;
  }
}
