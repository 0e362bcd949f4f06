/** Large objects are worked on in several turns of the event loop: between two stages, everyone else gets it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestScope } from './request-scope.ts';

/** Bytes or characters. Below this, all stages of a write together take a few milliseconds. */
export const LARGE = 128 * 1024;

export function isLarge(size: number | undefined): boolean {
  return size !== undefined && size > LARGE;
}

/** Between two stages of work on something of that size. Throws where the request that it is done for has ended. */
export async function yieldTurn(size: number | undefined, scope?: RequestScope): Promise<void> {
  if (!isLarge(size)) return;
  await nextTurn();
  scope?.check();
}

/** Milliseconds of work after which others get their turn. */
const SLICE = 8;

/** For work that waits now and then anyway: between two parts of it, others get their turn if it has been long. */
export class Turns {
  #started = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.#started < SLICE) return;
    await nextTurn();
    this.#started = performance.now();
  }
}

/** Does work that comes in steps at once: for a thread that has nothing else to do. */
export function toTheEnd<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Does work that comes in steps, in as many turns of the event loop as it needs, unless its request ends before. */
export async function inTurns<T>(steps: Generator<void, T>, scope?: RequestScope): Promise<T> {
  let started = performance.now();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (performance.now() - started < SLICE) continue;
    await nextTurn();
    scope?.check();
    started = performance.now();
  }
}
