/** CEL with Kubernetes' libraries, as Kubernetes 1.35 sets it up. */
import { type Checked, check } from './check/checker.ts';
import { type Environment, functionTable } from './check/environment.ts';
import { AUTHORIZER } from './library/authorizer.ts';
import { KUBERNETES } from './library/kubernetes.ts';
import { LISTS } from './library/lists.ts';
import { NET } from './library/net.ts';
import { COMPREHENSIONS, OPTIONALS } from './library/optionals.ts';
import { STANDARD } from './library/standard.ts';
import { STRINGS } from './library/strings.ts';
import { rootFrame, type Variables } from './run/frame.ts';
import { CostExceeded, meteredCost, pauseMeter, startMeter } from './run/meter.ts';
import { plan } from './run/plan.ts';
import { parse } from './syntax/parser.ts';
import { CelError, type Value } from './values/value.ts';

/** What one evaluation may cost; the real server's limit. */
export const CALL_LIMIT = 1_000_000;

let base: Environment | undefined;

/** Without variables: those are what an expression is about. */
export function baseEnvironment(): Environment {
  base ??= {
    functions: functionTable([
      ...STANDARD,
      ...KUBERNETES,
      ...AUTHORIZER,
      ...OPTIONALS,
      ...STRINGS,
      ...LISTS,
      ...NET,
      ...COMPREHENSIONS,
    ]),
    variables: new Map(),
    fieldsOf: () => undefined,
  };
  return base;
}

export interface Outcome {
  /** An error where evaluation failed. */
  value: Value;
  cost: number;
  /** True where it was ended because it cost too much. */
  exceeded: boolean;
}

export interface Program {
  readonly checked: Checked;
  run(variables: Variables, limit?: number): Outcome;
}

/** Throws a CompileError where the expression is wrong, a PlanError where it could only ever fail. */
export function compile(source: string, env: Environment): Program {
  const checked = check(parse(source), env);
  const node = plan(checked, env);
  return {
    checked,
    run(variables, limit = CALL_LIMIT) {
      // An expression may use variables that are expressions themselves.
      const resume = pauseMeter();
      startMeter(limit);
      try {
        const value = node.eval(rootFrame(variables));
        return { value, cost: meteredCost(), exceeded: false };
      } catch (error) {
        if (error instanceof CostExceeded) {
          return { value: new CelError(error.message), cost: meteredCost(), exceeded: true };
        }
        // An expression can build texts longer than the engine takes.
        if (error instanceof RangeError) {
          return { value: new CelError(`internal error: ${error.message}`), cost: meteredCost(), exceeded: false };
        }
        throw error;
      } finally {
        resume();
      }
    },
  };
}
