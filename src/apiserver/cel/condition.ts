/**
 * Match conditions of webhooks and policies: one expression over a request, compiled once, that gives a yes, a no, or an
 * error. The variables are those of admission: `object`, `oldObject`, `request`, `namespaceObject`, `authorizer`.
 */
import { type Environment, engine } from './engine.ts';
import { isSpent, refill } from './meter.ts';
import { compile, type Program } from './program.ts';

/** JSON as the API has it; absent values are null in expressions. */
export interface ConditionVariables {
  object?: unknown;
  oldObject?: unknown;
  /** The AdmissionRequest, without `object` and `oldObject`. */
  request?: unknown;
  namespaceObject?: unknown;
}

export interface Condition {
  /** Throws an Error worded for the writer of the expression when it fails or costs too much. */
  evaluate(variables: ConditionVariables): boolean;
}

const NAMES = ['object', 'oldObject', 'request', 'namespaceObject'] as const;
const BUDGET = 400_000;

/** Throws an Error with the compiler's words when the expression is not one, or is not a yes-or-no one. */
export function compileCondition(expression: string): Condition {
  const program: Program = compile(environment(), expression);
  if (program.type !== 'bool' && !program.type.startsWith('dyn')) throw new Error('must evaluate to bool');
  return {
    evaluate(variables) {
      const values: Record<string, unknown> = {};
      for (const name of NAMES) values[name] = toCel(variables[name] ?? null);
      refill(BUDGET);
      let result: unknown;
      try {
        result = program.run(values);
      } catch (error) {
        if (isSpent()) throw new Error('operation cancelled: actual cost limit exceeded');
        throw new Error(
          ((error as { summary?: string }).summary ?? String(error)).replace(/^No such key:/, 'no such key:'),
        );
      }
      if (typeof result !== 'boolean') throw new Error(`expected a bool, got ${typeof result}`);
      return result;
    },
  };
}

let shared: Environment | undefined;

function environment(): Environment {
  if (shared === undefined) {
    shared = engine().base.clone();
    for (const name of NAMES) shared.registerVariable(name, 'dyn');
  }
  return shared;
}

/** Whole numbers are integers in CEL. */
function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toCel(child)]));
}
