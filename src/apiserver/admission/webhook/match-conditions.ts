/** The match conditions of one webhook: all must hold; one that does not spares the call, one that fails follows the policy. */
import { type Condition, type ConditionVariables, compileCondition } from '../../cel/condition.ts';

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

export class MatchConditions {
  readonly #sources: readonly Source[];
  readonly #ignoresFailure: boolean;
  /** Compiled when first needed; what cannot be compiled keeps its error. */
  #compiled: (Condition | Error)[] | undefined;

  constructor(sources: readonly Source[], ignoresFailure: boolean) {
    this.#sources = sources;
    this.#ignoresFailure = ignoresFailure;
  }

  /** Throws an Error when a condition failed, none was false, and failures are not ignored. */
  hold(variables: ConditionVariables): boolean {
    this.#compiled ??= this.#sources.map(({ expression }) => tryCompile(expression));
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
          if (this.#ignoresFailure) return false;
          throw error;
        }
        failures.push(this.#worded(index, error as Error));
      }
    }
    if (failures.length === 0) return true;
    if (this.#ignoresFailure) return false;
    throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`);
  }

  #worded(index: number, error: Error): string {
    if (this.#compiled?.[index] instanceof Error) return `compilation error: ${error.message}`;
    return `expression '${this.#sources[index]?.expression}' resulted in error: ${error.message}`;
  }
}

function tryCompile(expression: string): Condition | Error {
  try {
    return compileCondition(expression);
  } catch (error) {
    return error as Error;
  }
}
