/** The match conditions of one webhook: all must hold; one that does not spares the call, one that fails follows the policy. */
import { TakesLong } from '../../allowance.ts';
import { type Condition, type ConditionVariables, compileCondition } from '../../cel/condition.ts';
import { offload } from '../../offload/offload.ts';
import type { RequestScope } from '../../request-scope.ts';

interface Source {
  name: string;
  expression: string;
}

/** What the conditions of one webhook may cost together, in upstream's units. */
const BUDGET = 2_500_000;

class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

export interface ConditionSources {
  sources: readonly Source[];
  ignoresFailure: boolean;
}

export class MatchConditions {
  readonly #of: ConditionSources;
  /** Compiled when first needed; what cannot be compiled keeps its error. */
  #compiled: (Condition | Error)[] | undefined;

  constructor(of: ConditionSources) {
    this.#of = of;
  }

  /** As `hold`, without holding the event loop for long. */
  holdInTurns(variables: ConditionVariables, scope?: RequestScope): Promise<boolean> {
    const { authorizer, identity, ...values } = variables;
    const plain = authorizer ? { ...values, identity } : values;
    return offload(this.#steps(variables), 'conditions', [this.#of, plain], { scope, authorizer });
  }

  // biome-ignore lint/correctness/useYield: conditions are few and short; what takes long is offloaded
  *#steps(variables: ConditionVariables): Generator<void, boolean> {
    return this.hold(variables);
  }

  /** Throws an Error when a condition failed, none was false, and failures are not ignored. */
  hold(variables: ConditionVariables): boolean {
    const { sources, ignoresFailure } = this.#of;
    this.#compiled ??= sources.map(({ expression }) => tryCompile(expression));
    const failures: string[] = [];
    let left = BUDGET;
    const spend = (cost: number) => {
      left -= cost;
      if (left < 0) throw new OutOfBudget();
    };
    for (const [index, condition] of this.#compiled.entries()) {
      try {
        if (condition instanceof Error) throw condition;
        if (!condition.evaluate(variables, spend)) return false;
      } catch (error) {
        if (error instanceof OutOfBudget) {
          if (ignoresFailure) return false;
          throw error;
        }
        if (error instanceof TakesLong) throw error;
        failures.push(this.#worded(index, error as Error));
      }
    }
    if (failures.length === 0) return true;
    if (ignoresFailure) return false;
    throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`);
  }

  #worded(index: number, error: Error): string {
    if (this.#compiled?.[index] instanceof Error) return `compilation error: ${error.message}`;
    return `expression '${this.#of.sources[index]?.expression}' resulted in error: ${error.message}`;
  }
}

function tryCompile(expression: string): Condition | Error {
  try {
    return compileCondition(expression);
  } catch (error) {
    if (error instanceof TakesLong) throw error;
    return error as Error;
  }
}
