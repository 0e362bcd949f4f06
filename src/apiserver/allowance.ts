/**
 * How long one piece of work on what users wrote may hold the event loop. Expressions, patterns and schemas are worked on
 * by plain synchronous functions. They say how much they do as they go, and work that turns out to take long is given up,
 * to be done from the start by a thread of its own (see offload/).
 */
import { getHeapStatistics } from 'node:v8';
import { tooLarge } from './status.ts';

export class TakesLong extends Error {
  override readonly name = 'TakesLong';
}

/** One instance: making an error with its stack is slow. */
const TAKES_LONG = new TakesLong('this takes too long for one turn of the event loop');

/** Milliseconds one piece of work may take, of the clock's and of the processor's: who does not get the processor holds nobody up. */
const ALLOWANCE = 15;
/** Units of work, about a tenth of a microsecond each, before the clock is asked at all: most work ends before. */
const LEAST = 5_000;
/** Units between two looks at the clock. */
const PIECE = 1_000;
/** Units that are too much at once. */
const MUCH = 50_000;

let done = 0;
/** Units at which the clock is looked at; never, where nobody bounds the work. */
let mark = Number.POSITIVE_INFINITY;
let started: { at: number; used: number } | undefined;
let isGivenUp = false;

/** Says that so much work is about to be done. Throws TakesLong where that is more than the allowance has left. */
export function chargeWork(units: number): void {
  done += units;
  if (done > mark) look(units);
}

function look(units: number): void {
  if (heapLimit !== undefined) {
    mark = done + HEAP_PIECE;
    return checkHeap(heapLimit);
  }
  if (units > MUCH || isOver()) {
    isGivenUp = true;
    throw TAKES_LONG;
  }
  mark = done + PIECE;
}

/** Units between two looks at the heap. */
const HEAP_PIECE = 50_000;
let heapLimit: number | undefined;

/** For a worker thread: its work has no allowance of time, but one of memory. Beyond it, chargeWork throws an ApiError. */
export function limitHeap(bytes: number): void {
  heapLimit = bytes;
  mark = done;
}

function checkHeap(limit: number): void {
  const { used_heap_size: used, external_memory: outside } = getHeapStatistics();
  if (used + outside > limit) throw tooLarge('the server would need more memory for this request than it gives to one');
}

function isOver(): boolean {
  if (started === undefined) {
    started = { at: performance.now(), used: processorTime() };
    return false;
  }
  return performance.now() - started.at > ALLOWANCE && processorTime() - started.used > ALLOWANCE;
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Does work within an allowance of its own, or throws TakesLong, also where something in between caught that. */
export function bounded<T>(work: () => T): T {
  done = 0;
  mark = LEAST;
  started = undefined;
  isGivenUp = false;
  try {
    const result = work();
    if (isGivenUp) throw TAKES_LONG;
    return result;
  } finally {
    mark = Number.POSITIVE_INFINITY;
  }
}

/** Each step has an allowance of its own. */
export function* boundedSteps<T>(steps: Generator<void, T>): Generator<void, T> {
  for (;;) {
    const step = bounded(() => steps.next());
    if (step.done) return step.value;
    yield;
  }
}
