/**
 * What running an expression costs, in cel-go's units. Evaluation is synchronous, so one meter for the process is enough.
 */
export class CostExceeded extends Error {
  override readonly name = 'CostExceeded';
}

/** One instance: making an error with its stack is slow. */
const EXCEEDED = new CostExceeded('operation cancelled: actual cost limit exceeded');

let cost = 0;
let limit = 0;

export function startMeter(budget: number): void {
  cost = 0;
  limit = budget;
}

/** Sets the meter aside while something else is metered; the returned function takes it up again. */
export function pauseMeter(): () => void {
  const [before, bound] = [cost, limit];
  return () => {
    cost = before;
    limit = bound;
  };
}

export function meteredCost(): number {
  return cost;
}

export function charge(amount: number): void {
  cost += amount;
  if (cost > limit) throw EXCEEDED;
}

/** Refuses work that could not be paid for anyway, before it is done. */
export function afford(amount: number): void {
  if (cost + amount > limit) {
    cost += amount;
    throw EXCEEDED;
  }
}
