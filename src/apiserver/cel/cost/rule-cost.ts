/** The worst cost of a rule on one value, worked out once: creating a CRD asks more than once. */
import type { Program } from '../engine.ts';
import { type SchemaType, sizesIn } from '../schema-type.ts';
import { estimateCost } from './estimate.ts';

const known = new WeakMap<Program, number>();

export function ruleCost(program: Program, type: SchemaType): number {
  let cost = known.get(program);
  if (cost === undefined) {
    cost = estimateCost(program.checked, sizesIn(type));
    known.set(program, cost);
  }
  return cost;
}
