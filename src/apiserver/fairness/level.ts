/**
 * One priority level of one tenant: the requests that run in it and those that wait, in queues between which the seats
 * are shared evenly. Queues exist only while something waits in them.
 */
import { FairTime, type Sharer } from './fair-time.ts';
import type { LevelSpec, Limits } from './level-spec.ts';
import { handOf } from './shuffle-shard.ts';
import type { Refusal, Waiter } from './waiter.ts';

export class Queue implements Sharer {
  readonly weight = 1;
  readonly index: number;
  due = 0;
  readonly waiting = new Set<Waiter>();

  constructor(index: number) {
    this.index = index;
  }
}

export class Level implements Sharer {
  spec: LevelSpec;
  limits: Limits;
  due = 0;
  running = 0;
  waiting = 0;
  /** Requests that have not ended; `running` counts their seats. */
  executing = 0;
  dispatched = 0;
  /** Its object was deleted: it stays for what is in it. */
  isGone = false;
  readonly counts: Record<Refusal, number> = { 'queue-full': 0, 'concurrency-limit': 0, 'time-out': 0, cancelled: 0 };
  readonly #queues = new Map<number, Queue>();
  readonly #time = new FairTime();

  constructor(spec: LevelSpec, limits: Limits) {
    this.spec = spec;
    this.limits = limits;
  }

  get weight(): number {
    return Math.max(1, this.limits.nominal);
  }

  get queues(): Iterable<Queue> {
    return this.#queues.values();
  }

  /** The queue it waits in from now on; undefined when that is full. */
  enqueue(waiter: Waiter): Queue | undefined {
    const queue = this.#queueFor(waiter.flow);
    if (queue.waiting.size >= (this.spec.queuing?.queueLengthLimit ?? Number.POSITIVE_INFINITY)) return undefined;
    this.#queues.set(queue.index, queue);
    queue.waiting.add(waiter);
    this.waiting++;
    return queue;
  }

  /** The one that starts next, which is no longer in its queue then. Only for a level in which something waits. */
  next(): { waiter: Waiter; queue: Queue } {
    const queue = this.#time.least(this.#queues.values()) as Queue;
    const waiter = queue.waiting.values().next().value as Waiter;
    this.#time.start(queue, waiter.width);
    this.leave(waiter, queue);
    return { waiter, queue };
  }

  leave(waiter: Waiter, queue: Queue): void {
    if (!queue.waiting.delete(waiter)) return;
    this.waiting--;
    if (queue.waiting.size === 0) this.#queues.delete(queue.index);
  }

  /** The emptiest queue of the flow's hand. */
  #queueFor(flow: string): Queue {
    const { queues, handSize } = this.spec.queuing ?? NO_QUEUING;
    let found: Queue | undefined;
    for (const index of handOf(flow, queues, handSize)) {
      const queue = this.#queues.get(index) ?? new Queue(index);
      if (!found || queue.waiting.size < found.waiting.size) found = queue;
    }
    return found as Queue;
  }
}

/** Of levels that have none of their own, for requests that wait for the server and not for their level. */
const NO_QUEUING = { queues: 64, handSize: 1 };
