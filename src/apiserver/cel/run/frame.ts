/** Where names get their values from: the variables of the evaluation, and one frame more per loop around. */
import type { Value } from '../values/value.ts';

export type Variables = (name: string) => Value | undefined;

export interface Frame {
  readonly variables: Variables;
  readonly outer: Frame | undefined;
  accumulator: Value | undefined;
  first: Value;
  second: Value;
}

export function rootFrame(variables: Variables): Frame {
  return { variables, outer: undefined, accumulator: undefined, first: null, second: null };
}
