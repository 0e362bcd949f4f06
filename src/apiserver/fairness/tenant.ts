/**
 * One cluster in the eyes of the dispatcher: its priority levels, which share its seats as Kubernetes says, lending
 * included. A level lends what it does not use, as long as none of its own requests waits.
 */
import { FairTime, type Sharer } from './fair-time.ts';
import type { FlowTable } from './flow-schemas.ts';
import { Level } from './level.ts';
import { type LevelSpec, type Limits, limitsOf } from './level-spec.ts';

export interface TenantSeats {
  /** All its requests together, exempt ones included. */
  all: number;
  /** What its limited levels share. */
  limited: number;
}

/** Requests under way that do not compute but wait for a webhook or a reader; as many seats as kube-apiserver has. */
const MOST_UNDER_WAY = 600;

export class Tenant implements Sharer {
  readonly name: string;
  readonly weight = 1;
  due = 0;
  running = 0;
  waiting = 0;
  /** Seats of all requests that have not ended, also of those whose seats went to others. */
  underWay = 0;
  readonly #seats: TenantSeats;
  readonly #levels = new Map<string, Level>();
  readonly #time = new FairTime();
  #table: Pick<FlowTable, 'levels'> | undefined;

  constructor(name: string, seats: TenantSeats) {
    this.name = name;
    this.#seats = seats;
  }

  get levels(): Iterable<Level> {
    return this.#levels.values();
  }

  level(name: string, table: Pick<FlowTable, 'levels'>): Level {
    if (this.#table !== table) this.#adopt(table);
    return this.#levels.get(name) as Level;
  }

  /** Levels keep who runs and waits in them; one that is gone stays until it is empty. */
  #adopt(table: Pick<FlowTable, 'levels'>): void {
    this.#table = table;
    const limits = limitsOf(table.levels, this.#seats.limited);
    const gone = new Set(this.#levels.keys());
    for (const spec of table.levels) {
      gone.delete(spec.name);
      this.#set(spec, limits.get(spec.name) as Limits);
    }
    for (const name of gone) {
      const level = this.#levels.get(name) as Level;
      level.isGone = true;
      if (level.waiting === 0) this.#levels.delete(name);
    }
  }

  #set(spec: LevelSpec, limits: Limits): void {
    const known = this.#levels.get(spec.name);
    if (!known) this.#levels.set(spec.name, new Level(spec, limits));
    else Object.assign(known, { spec, limits, isGone: false });
  }

  /** Whether one more request of this level may run now. */
  canRun(level: Level): boolean {
    if (this.running >= this.#seats.all || this.underWay >= MOST_UNDER_WAY) return false;
    if (level.spec.isExempt) return true;
    const { nominal, lendable, most } = level.limits;
    if (level.running < nominal - lendable) return true;
    if (level.running < nominal) return this.#limitedRunning() < this.#seats.limited;
    return level.running < most && this.#limitedRunning() < this.#seats.limited && this.#lent(level) > 0;
  }

  /** Whether a request without a seat may wait. Where a level has no queues, it may while only the server has none left. */
  mayWait(level: Level): boolean {
    const { queuing, isExempt } = level.spec;
    return isExempt || queuing !== undefined || (this.canRun(level) && level.waiting < level.limits.nominal);
  }

  #limitedRunning(): number {
    let running = 0;
    for (const level of this.#levels.values()) if (!level.spec.isExempt) running += level.running;
    return running;
  }

  /** Seats that others lend and that are not borrowed yet. */
  #lent(to: Level): number {
    let lent = 0;
    for (const level of this.#levels.values()) {
      const { nominal, lendable } = level.limits;
      if (level.running > nominal && !level.spec.isExempt) lent -= level.running - nominal;
      else if (level !== to && level.waiting === 0) lent += Math.min(lendable, Math.max(0, nominal - level.running));
    }
    return lent;
  }

  /** The level whose request starts next, if one can. Exempt ones go first. */
  nextLevel(): Level | undefined {
    if (this.waiting === 0 || this.running >= this.#seats.all) return undefined;
    const able: Level[] = [];
    for (const level of this.#levels.values()) {
      if (level.waiting === 0 || !this.canRun(level)) continue;
      if (level.spec.isExempt) return level;
      able.push(level);
    }
    return this.#time.least(able);
  }

  started(level: Level, width: number): void {
    this.#time.start(level, width);
  }
}
