/**
 * Who runs next, for the whole process. All clusters share one event loop, so there is one number of seats, small enough
 * that one turn of the loop stays short. While seats are free a request takes one and goes on. When there are none,
 * requests wait, and a seat that is given back goes to the tenant that had least, there to the priority level that is
 * due, there to the queue that is due.
 *
 * - A released seat is free from the next turn of the event loop on: a request that is answered at once counts for its
 *   turn, so that a thousand small requests that arrive together do not become one long turn.
 * - No request waits that could run. For requests that need not wait, that next turn is all that is scheduled.
 * - A request that keeps its seat for long while others wait does not compute: it waits for a webhook or a slow client.
 *   Its seat goes to others. This is counted in ticks, which come later when the loop is slow.
 */
import type { Clock } from '../../clock.ts';
import { FairTime } from './fair-time.ts';
import type { Level } from './level.ts';
import { Seat, type SeatHolder, type SeatKeeper } from './seat.ts';
import type { Tenant } from './tenant.ts';
import { Refused, type SeatRequest, type Waiter } from './waiter.ts';

export interface DispatcherOptions {
  clock: Clock;
  /** Calls back in the next turn of the event loop. */
  nextTurn: (callback: () => void) => void;
  seats: number;
}

const TICK_MS = 10;
/** A seat that is held for so many ticks while others wait goes to others. */
const LONG_TICKS = 25;
/** Seats of a tenant's requests that have not ended, above which lists that wait for their readers lend theirs to other tenants only. */
const MOST_LISTS_UNDER_WAY = 48;
const MOST_WAITING_OF_TENANT = 1000;
const MOST_WAITING = 10_000;
/** Refusals take time, too: clients that come back at once would fill the turns with them. */
const REFUSALS_PER_TURN = 8;
/** Refusals that wait for their turn; more are answered at once. */
const MOST_REFUSALS = 5000;

const BESIDE: SeatKeeper = { paused() {}, resumed() {}, released: (seat) => seat.end() };

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #time = new FairTime();
  readonly #waitingTenants = new Set<Tenant>();
  /** Without those whose seats went to others. */
  readonly #seated = new Set<Seat>();
  readonly #keeper: SeatKeeper = {
    paused: (seat) => {
      this.#free(seat);
      const { isList, tenant } = seat.holder;
      // A list has all its objects in memory until it is read.
      if (!isList || tenant.underWay <= MOST_LISTS_UNDER_WAY) seat.lend();
      if (this.#waiting > 0) this.#awaitTurn();
    },
    resumed: (seat) => {
      seat.takeBack();
      this.#occupy(seat);
    },
    released: (seat) => {
      this.#released.push(seat);
      this.#awaitTurn();
    },
  };
  #released: Seat[] = [];
  #refusals: (() => void)[] = [];
  #refusedInTurn = 0;
  #taken = 0;
  #waiting = 0;
  #tick = 0;
  #isTurnAwaited = false;
  #stopTicking: (() => void) | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** A seat, if there is one now. */
  take(tenant: Tenant, level: Level, width: number, isList: boolean): Seat | undefined {
    if (!this.#hasSeat || level.waiting > 0 || !tenant.canRun(level)) return undefined;
    return this.#start({ tenant, level, width, isList });
  }

  /** A seat besides all others, for those that never wait. */
  takeBeside(tenant: Tenant, level: Level): Seat {
    return new Seat({ tenant, level, width: 0, isList: false }, this.#tick, BESIDE);
  }

  get #hasSeat(): boolean {
    return this.#taken < this.#options.seats;
  }

  #start(holder: SeatHolder): Seat {
    this.#time.start(holder.tenant, holder.width);
    const seat = new Seat(holder, this.#tick, this.#keeper);
    this.#occupy(seat);
    return seat;
  }

  /** A seat when it is this request's turn; fails with `Refused` when it does not come. */
  wait(tenant: Tenant, level: Level, request: SeatRequest): Promise<Seat> {
    return new Promise((resolve, reject) => {
      const isFull = tenant.waiting >= MOST_WAITING_OF_TENANT || this.#waiting >= MOST_WAITING;
      const waiter: Waiter = { ...request, settle: resolve };
      const mayWait = tenant.mayWait(level);
      const queue = mayWait && !isFull ? level.enqueue(waiter) : undefined;
      if (!queue) {
        const reason = mayWait ? 'queue-full' : 'concurrency-limit';
        level.counts[reason]++;
        return this.#refuse(() => reject(new Refused(reason)));
      }
      this.#entered(tenant);
      const leave = (reason: 'time-out' | 'cancelled') => {
        if (!queue.waiting.has(waiter)) return;
        cancel();
        level.leave(waiter, queue);
        this.#left(tenant);
        level.counts[reason]++;
        reject(new Refused(reason));
      };
      const cancel = this.#options.clock.after(request.patience, () => leave('time-out'));
      waiter.settle = (seat) => {
        cancel();
        resolve(seat);
      };
      request.onGone(() => leave('cancelled'));
    });
  }

  #entered(tenant: Tenant): void {
    tenant.waiting++;
    this.#waiting++;
    this.#waitingTenants.add(tenant);
    this.#keepTicking();
  }

  #left(tenant: Tenant): void {
    tenant.waiting--;
    this.#waiting--;
    if (tenant.waiting === 0) this.#waitingTenants.delete(tenant);
    if (this.#waiting > 0) return;
    this.#stopTicking?.();
    this.#stopTicking = undefined;
  }

  /** Gives seats to requests that wait, until there are no more of the one or the other. */
  #dispatch(): void {
    if (!this.#hasSeat) return;
    const able = new Map<Tenant, Level>();
    const look = (tenant: Tenant) => {
      const level = tenant.nextLevel();
      if (level) able.set(tenant, level);
      else able.delete(tenant);
    };
    for (const tenant of this.#waitingTenants) look(tenant);
    while (this.#hasSeat) {
      const tenant = this.#time.least(able.keys());
      const level = tenant && able.get(tenant);
      if (!level) return;
      const { waiter, queue } = level.next();
      this.#left(tenant);
      waiter.settle(this.#start({ tenant, level, queue, width: waiter.width, isList: waiter.isList }));
      look(tenant);
    }
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    this.#options.nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnAwaited = false;
    const released = this.#released;
    this.#released = [];
    for (const seat of released) {
      this.#free(seat);
      seat.end();
    }
    this.#dispatch();
    this.#refusedInTurn = 0;
    for (const refuse of this.#refusals.splice(0, REFUSALS_PER_TURN)) this.#refuse(refuse);
  }

  #refuse(refuse: () => void): void {
    // So that the next turn counts from zero.
    this.#awaitTurn();
    if (this.#refusedInTurn++ < REFUSALS_PER_TURN || this.#refusals.length >= MOST_REFUSALS) refuse();
    else this.#refusals.push(refuse);
  }

  #keepTicking(): void {
    this.#stopTicking ??= this.#options.clock.after(TICK_MS, () => {
      this.#stopTicking = undefined;
      this.#tick++;
      this.#takeFromLong();
      this.#dispatch();
      if (this.#waiting > 0) this.#keepTicking();
    });
  }

  /** Within its tenant, a list keeps its seats to its end: it computes all the time. */
  #takeFromLong(): void {
    for (const seat of this.#seated) {
      if (this.#tick - seat.startedAt < LONG_TICKS) continue;
      this.#free(seat);
      if (!seat.holder.isList) seat.lend();
    }
  }

  #occupy(seat: Seat): void {
    if (this.#seated.has(seat)) return;
    this.#seated.add(seat);
    this.#taken += seat.holder.width;
  }

  #free(seat: Seat): void {
    if (this.#seated.delete(seat)) this.#taken -= seat.holder.width;
  }
}
