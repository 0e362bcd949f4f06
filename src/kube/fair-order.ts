/**
 * Which of the waiting keys is next. Higher priorities first; within a priority the lanes (namespaces) take turns, so
 * that one namespace with thousands of keys delays another's by one key each; within a lane first come, first served.
 * Every `AGEING`th turn goes to the key that has waited longest, whatever its priority: nothing waits for ever.
 */
import { Fifo } from './fifo.ts';

export interface WaitingKey {
  key: string;
  priority: number;
  /** Milliseconds since the epoch. */
  since: number;
  /** Set when it was taken, or replaced by one of another priority: skipped when met. */
  taken: boolean;
}

interface Level {
  lanes: Map<string, Fifo<WaitingKey>>;
  /** The lanes with something in them, in the order of their turns. */
  turns: Fifo<string>;
}

const AGEING = 8;

export class FairOrder {
  readonly #laneOf: (key: string) => string;
  readonly #levels = new Map<number, Level>();
  /** Everything in order of arrival, for the ageing turns. */
  readonly #arrivals = new Fifo<WaitingKey>();
  #priorities: number[] = [];
  #turn = 0;

  constructor(laneOf: (key: string) => string) {
    this.#laneOf = laneOf;
  }

  push(waiting: WaitingKey): void {
    let level = this.#levels.get(waiting.priority);
    if (!level) {
      level = { lanes: new Map(), turns: new Fifo() };
      this.#levels.set(waiting.priority, level);
      this.#priorities = [...this.#levels.keys()].sort((a, b) => b - a);
    }
    const name = this.#laneOf(waiting.key);
    let lane = level.lanes.get(name);
    if (!lane) {
      lane = new Fifo();
      level.lanes.set(name, lane);
      level.turns.push(name);
    }
    lane.push(waiting);
    this.#arrivals.push(waiting);
  }

  /** Takes the next key; undefined when there is none. */
  shift(): WaitingKey | undefined {
    const next = ++this.#turn % AGEING === 0 ? this.#oldest() : this.#inTurn();
    if (next) next.taken = true;
    // Keys taken in turn stay behind in the arrivals until met there; do not let them pile up.
    while (this.#arrivals.peek()?.taken) this.#arrivals.shift();
    return next;
  }

  #inTurn(): WaitingKey | undefined {
    for (const priority of this.#priorities) {
      const level = this.#levels.get(priority) as Level;
      while (level.turns.size > 0) {
        const name = level.turns.shift() as string;
        const lane = level.lanes.get(name) as Fifo<WaitingKey>;
        const next = firstWaiting(lane);
        if (lane.size > 0) level.turns.push(name);
        else level.lanes.delete(name);
        if (next) return next;
      }
    }
    return undefined;
  }

  #oldest(): WaitingKey | undefined {
    return firstWaiting(this.#arrivals);
  }
}

function firstWaiting(queue: Fifo<WaitingKey>): WaitingKey | undefined {
  let next = queue.shift();
  while (next?.taken) next = queue.shift();
  return next;
}
