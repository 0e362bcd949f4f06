/**
 * Match conditions of webhooks and policies: one expression over a request, compiled once, that gives a yes, a no, or an
 * error. The variables are those of admission: `object`, `oldObject`, `request`, `namespaceObject`, `authorizer`.
 */
import { type Admission, admissionEnvironment, admissionVariables, compileAdmission } from './admission-environment.ts';
import { BOOL } from './check/type.ts';
import { CelError } from './values/value.ts';

/** JSON as the API has it; absent values are null in expressions. */
export type ConditionVariables = Admission;

export interface Condition {
  /** Throws an Error worded for the writer of the expression when it fails or costs too much; `spend` is told the cost. */
  evaluate(variables: ConditionVariables, spend?: (cost: number) => void): boolean;
}

/** Throws an Error with the compiler's words when the expression is not one, or is not a yes-or-no one. */
export function compileCondition(expression: string): Condition {
  const program = compileAdmission(expression, admissionEnvironment({ authorizer: true }), [BOOL]);
  return {
    evaluate(variables, spend) {
      const { value, cost } = program.run(admissionVariables(variables));
      spend?.(cost);
      if (value instanceof CelError) throw new Error(value.message);
      return value === true;
    },
  };
}
