/** One policy, compiled: what it makes of a request. Follows pkg/admission/plugin/policy/validating/validator.go. */
import { TakesLong } from '../../allowance.ts';
import { type Admission, admissionVariables, compileAdmission } from '../../cel/admission-environment.ts';
import type { Environment } from '../../cel/check/environment.ts';
import { BOOL, NULL, STRING, type Type } from '../../cel/check/type.ts';
import { ComposedVariables } from '../../cel/composed-variables.ts';
import type { Program } from '../../cel/engine.ts';
import type { Variables } from '../../cel/run/frame.ts';
import { CelError, typeName, type Value } from '../../cel/values/value.ts';
import type { PolicySpec, Validation } from './policy.ts';

/** What one evaluation of a policy may cost, and its match conditions before it. */
const BUDGET = 10_000_000;
const MATCH_BUDGET = 2_500_000;
const MAX_MESSAGE = 5 * 1024;

export interface Decision {
  /** Undefined where the request may pass. */
  denied?: { message: string; reason: string };
}

export interface Annotation {
  key: string;
  value?: string;
  error?: string;
}

export interface Evaluation {
  decisions: Decision[];
  annotations: Annotation[];
}

interface Expression {
  source: string;
  program: Program | Error;
}

class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Runs expressions one after another as long as there is something left to spend. */
class Purse {
  private left: number;

  constructor(budget: number) {
    this.left = budget;
  }

  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw new OutOfBudget();
  }

  /** The value; an error as upstream words it for the policy's author. */
  run({ source, program }: Expression, variables: Variables): Value {
    if (program instanceof Error) return new CelError(`compilation error: ${program.message}`);
    const { value, cost } = program.run(variables);
    this.spend(cost);
    return value instanceof CelError
      ? new CelError(`expression '${source}' resulted in error: ${value.message}`)
      : value;
  }
}

export class Evaluator {
  private readonly spec: PolicySpec;
  private readonly variables: ComposedVariables;
  private readonly conditions: Expression[];
  private readonly validations: { validation: Validation; expression: Expression; message?: Expression }[];
  private readonly annotations: { key: string; expression: Expression }[];

  constructor(spec: PolicySpec) {
    this.spec = spec;
    const params = spec.paramKind !== undefined;
    this.variables = new ComposedVariables(spec.variables ?? [], { params, authorizer: true });
    const full = this.variables.environment({ params, authorizer: true });
    const plain = this.variables.environment({ params });
    const conditions = new ComposedVariables([], {}).environment({ params, authorizer: true });
    this.conditions = (spec.matchConditions ?? []).map(({ expression }) => compiled(expression, conditions, [BOOL]));
    this.validations = (spec.validations ?? []).map((validation) => ({
      validation,
      expression: compiled(validation.expression, full, [BOOL]),
      message: validation.messageExpression ? compiled(validation.messageExpression, plain, [STRING]) : undefined,
    }));
    this.annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: compiled(valueExpression, full, [STRING, NULL]),
    }));
  }

  /** Each step runs one expression: that may take a while. */
  *evaluate(admission: Admission): Generator<void, Evaluation> {
    const failed = (error: unknown): Evaluation => {
      if (!(error instanceof Error) || error instanceof TakesLong) throw error;
      return { decisions: [this.failure(error.message)], annotations: [] };
    };
    try {
      const isMeant = yield* this.matches({ ...admission, namespaceObject: undefined });
      if (!isMeant) return { decisions: [], annotations: [] };
      const decisions = yield* this.decide(admission);
      return { decisions, annotations: yield* this.annotate(admission) };
    } catch (error) {
      return failed(error);
    }
  }

  private failure(message: string): Decision {
    return this.spec.failurePolicy === 'Ignore' ? {} : { denied: { message, reason: '' } };
  }

  /** Throws an Error where a condition failed, none was false, and failures are not ignored. */
  private *matches(admission: Admission): Generator<void, boolean> {
    if (this.conditions.length === 0) return true;
    const purse = new Purse(MATCH_BUDGET);
    const variables = admissionVariables(admission);
    const problems: string[] = [];
    for (const condition of this.conditions) {
      const value = purse.run(condition, variables);
      yield;
      if (value === false) return false;
      if (value instanceof CelError) problems.push(value.message);
    }
    if (problems.length === 0) return true;
    if (this.spec.failurePolicy === 'Ignore') return false;
    throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
  }

  private *decide(admission: Admission): Generator<void, Decision[]> {
    const purse = new Purse(BUDGET);
    const variables = this.variables.bind(admissionVariables(admission), (cost) => purse.spend(cost));
    const values: Value[] = [];
    for (const { expression } of this.validations) {
      values.push(purse.run(expression, variables));
      yield;
    }
    const { authorizer: _, ...without } = admission;
    const forMessages = this.variables.bind(admissionVariables(without), (cost) => purse.spend(cost));
    let outOfBudget: Error | undefined;
    const messages: (Value | undefined)[] = [];
    try {
      for (const { message } of this.validations) {
        messages.push(message && purse.run(message, forMessages));
        yield;
      }
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      outOfBudget = error;
    }
    return this.validations.map(({ validation }, i) => {
      const value = values[i] as Value;
      if (value instanceof CelError) return this.failure(value.message);
      if (outOfBudget) return this.failure(`failed messageExpression: ${outOfBudget.message}`);
      if (value === true) return {};
      return { denied: { message: messageOf(validation, messages[i]), reason: validation.reason ?? 'Invalid' } };
    });
  }

  private *annotate(admission: Admission): Generator<void, Annotation[]> {
    if (this.annotations.length === 0) return [];
    const purse = new Purse(BUDGET);
    const { authorizer: _, ...without } = admission;
    const variables = this.variables.bind(admissionVariables(without), (cost) => purse.spend(cost));
    const values: Value[] = [];
    for (const { expression } of this.annotations) {
      values.push(purse.run(expression, variables));
      yield;
    }
    return this.annotations.map(({ key, expression }, i) => {
      const value = values[i] as Value;
      if (value instanceof CelError)
        return this.spec.failurePolicy === 'Ignore' ? { key } : { key, error: value.message };
      if (value === null) return { key };
      if (typeof value === 'string') return value.trim() === '' ? { key } : { key, value: value.trim() };
      const text = `valueExpression '${expression.source}' resulted in unsupported return type: ${typeName(value)}.`;
      return { key, error: `${text} Return type must be either string or null.` };
    });
  }
}

function compiled(source: string, env: Environment, types: readonly Type[]): Expression {
  try {
    return { source, program: compileAdmission(source, env, types) };
  } catch (error) {
    if (error instanceof TakesLong) throw error;
    return { source, program: error as Error };
  }
}

function messageOf({ expression, message }: Validation, computed: Value | undefined): string {
  const text = typeof computed === 'string' ? computed.trim() : '';
  if (text !== '' && Buffer.byteLength(text) <= MAX_MESSAGE && !text.includes('\n')) return text;
  return message?.trim() || `failed expression: ${expression.trim()}`;
}
