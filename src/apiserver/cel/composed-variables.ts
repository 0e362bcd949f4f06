/** `variables.x` of a policy: expressions with names, each run when it is first asked for, and once. */
import { TakesLong } from '../allowance.ts';
import { type AdmissionOptions, admissionEnvironment, compileAdmission } from './admission-environment.ts';
import { type Environment, extend } from './check/environment.ts';
import { struct, type Type } from './check/type.ts';
import type { Program } from './engine.ts';
import type { Variables } from './run/frame.ts';
import { CelError, MapValue, type Value } from './values/value.ts';

export interface VariableSource {
  name: string;
  expression: string;
}

const TYPE = 'kubernetes.variables';

/** The variables of a policy, compiled in their order: each may use those before it. */
export class ComposedVariables {
  private readonly programs = new Map<string, Program | Error>();
  private readonly types = new Map<string, Type>();

  constructor(sources: readonly VariableSource[], options: AdmissionOptions) {
    for (const { name, expression } of sources) {
      try {
        const program = compileAdmission(expression, this.environment(options));
        this.programs.set(name, program);
        this.types.set(name, program.checked.type);
      } catch (error) {
        if (error instanceof TakesLong) throw error;
        this.programs.set(name, error as Error);
        this.types.set(name, struct('error'));
      }
    }
  }

  /** What is wrong with a variable, if anything. */
  problem(name: string): Error | undefined {
    const program = this.programs.get(name);
    return program instanceof Error ? program : undefined;
  }

  environment(options: AdmissionOptions): Environment {
    return composedEnvironment(admissionEnvironment(options), this.types);
  }

  /** Adds `variables` to those of a request. What running them costs is told to `spend`. */
  bind(variables: Variables, spend: (cost: number) => void): Variables {
    const made = new Values(this.programs, (name) => (name === 'variables' ? made : variables(name)), spend);
    return (name) => (name === 'variables' ? made : variables(name));
  }
}

/** An environment with `variables` of these types. */
export function composedEnvironment(env: Environment, types: ReadonlyMap<string, Type>): Environment {
  const own = new Map(types);
  return extend(env, { variables: struct(TYPE) }, (type) => (type === TYPE ? own : undefined));
}

class Values extends MapValue {
  private readonly programs: ReadonlyMap<string, Program | Error>;
  private readonly variables: Variables;
  private readonly spend: (cost: number) => void;
  private readonly known = new Map<string, Value>();

  constructor(programs: ReadonlyMap<string, Program | Error>, variables: Variables, spend: (cost: number) => void) {
    super();
    this.programs = programs;
    this.variables = variables;
    this.spend = spend;
  }

  get size(): number {
    return this.programs.size;
  }

  *keys(): Iterable<Value> {
    yield* this.programs.keys();
  }

  find(key: Value): Value | undefined {
    const name = String(key);
    const program = this.programs.get(name);
    if (program === undefined) return undefined;
    let value = this.known.get(name);
    if (value === undefined) {
      value = this.evaluate(name, program);
      this.known.set(name, value);
    }
    return value;
  }

  private evaluate(name: string, program: Program | Error): Value {
    const about = `composited variable ${JSON.stringify(name)}`;
    if (program instanceof Error) return new CelError(`${about} fails to compile: ${program.message}`);
    const { value, cost } = program.run(this.variables);
    this.spend(cost);
    return value instanceof CelError ? new CelError(`${about} fails to evaluate: ${value.message}`) : value;
  }
}
