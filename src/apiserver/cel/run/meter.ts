/**
 * What running an expression costs, in cel-go's units. Evaluation is synchronous, so one meter for the process is enough.
 */
import { chargeWork } from '../../allowance.ts';

export class CostExceeded extends Error {
  override readonly name = 'CostExceeded';
}

/** One instance: making an error with its stack is slow. */
const EXCEEDED = new CostExceeded('operation cancelled: actual cost limit exceeded');

let cost = 0;
let limit = 0;
let steps = 0;

/**
 * Steps of work in one evaluation, however little they cost: a list of a list twice, twenty times over, is small to
 * upstream's prices and has a million elements when it is compared, flattened or written out.
 */
const MAX_STEPS = 2_000_000;

export function startMeter(budget: number): void {
  cost = 0;
  limit = budget;
  steps = 0;
}

/** Sets the meter aside while something else is metered; the returned function takes it up again. */
export function pauseMeter(): () => void {
  const [before, bound, done] = [cost, limit, steps];
  return () => {
    cost = before;
    limit = bound;
    steps = done;
  };
}

export function meteredCost(): number {
  return cost;
}

export function charge(amount: number): void {
  cost += amount;
  if (cost > limit) throw EXCEEDED;
  chargeWork(amount);
}

/** Refuses work that could not be paid for anyway, before it is done. */
export function afford(amount: number): void {
  if (cost + amount > limit) {
    cost += amount;
    throw EXCEEDED;
  }
}

/** For work on texts. */
export function stepOver(characters: number): void {
  step(Math.floor(characters / 16));
}

/** For looking a text up in another: in the worst case each place of the one is compared with all of the other. */
export function stepThrough(text: string, part: string): void {
  step(Math.floor((text.length * part.length) / 256));
}

/** Refuses work whose result would be too many steps, before it is done. */
export function stepsAhead(count: number): void {
  if (steps + count > MAX_STEPS) throw EXCEEDED;
  chargeWork(count);
}

export function step(count = 1): void {
  // What is compared while nothing runs (defaults of a plan) is on nobody's account.
  if (limit === 0) return;
  steps += count;
  if (steps > MAX_STEPS) throw EXCEEDED;
  chargeWork(count);
}
