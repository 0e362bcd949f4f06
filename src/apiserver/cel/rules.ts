/** x-kubernetes-validations: rules in CEL, held against values; texts are the real server's. */
import { NONE, sameKey, unchanged } from '../schema/correlation.ts';
import { parseFieldPath } from '../schema/field-path.ts';
import { goJson } from '../schema/go-json.ts';
import { childPath } from '../schema/prune.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import type { Outcome } from './engine.ts';
import { type CompiledRule, type RuleNode, ruleTree } from './rule-tree.ts';
import type { Variables } from './run/frame.ts';
import { schemaValue } from './schema-value.ts';
import { CelError, NONE as NO_VALUE, Optional, type Value } from './values/value.ts';

export { checkRuleSources } from './rule-sources.ts';
export { compileSteps, hasRules } from './rule-tree.ts';

type Json = Record<string, unknown>;

/** What all rules together may cost on one object; the real server's limit. */
const OBJECT_BUDGET = 10_000_000;
const MAX_MESSAGE = 5 * 1024;

/** Errors, and how much may still be spent; below zero nothing further runs. */
interface Run {
  errors: FieldError[];
  /** Errors that are not held against the writer: what is wrong was so before. */
  warnings: FieldError[];
  budget: number;
  /** Cost since the last step. */
  pending: number;
}

export interface RuleResult {
  errors: FieldError[];
  warnings: FieldError[];
}

/**
 * Errors of `value` under the rules of `schema`. With `old`, transition rules run where old and new parts can be matched,
 * and parts that did not change are not held against the writer.
 */
export function validateRules(value: unknown, schema: Schema, path = '', old?: unknown, root = false): FieldError[] {
  const steps = ruleSteps(value, schema, path, old, root);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value.errors;
}

/** The same in steps: between two of them, someone else may have the event loop. */
export function* ruleSteps(
  value: unknown,
  schema: Schema,
  path = '',
  old?: unknown,
  root = false,
): Generator<void, RuleResult> {
  const run: Run = { errors: [], warnings: [], budget: OBJECT_BUDGET, pending: 0 };
  const tree = ruleTree(schema, root);
  if (tree !== undefined) yield* visit(tree, value, old ?? NONE, false, path, run);
  return run;
}

/** `old` is what `oldSelf` shows; `kept` says that a whole around this value is known to be unchanged. */
function* visit(
  node: RuleNode,
  value: unknown,
  old: unknown,
  kept: boolean,
  path: string,
  run: Run,
): Generator<void, void> {
  if (value === null || value === undefined || run.budget < 0) return;
  const same = kept || (old !== NONE && unchanged(value, old, node.schema));
  if (node.rules !== undefined) yield* runRules(node, value, old, same, path, run);
  if (run.budget < 0 || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    if (!node.items) return;
    const keys =
      node.schema['x-kubernetes-list-type'] === 'map' ? (node.schema['x-kubernetes-list-map-keys'] ?? []) : [];
    for (let i = 0; i < value.length; i++) {
      const before = Array.isArray(old) ? sameKey(old, value[i], keys) : NONE;
      yield* visit(node.items, value[i], before, same, `${path}[${i}]`, run);
    }
    return;
  }
  const object = value as Json;
  const before = typeof old === 'object' && old !== null && !Array.isArray(old) ? (old as Json) : undefined;
  for (const key in object) {
    const named = node.properties?.get(key);
    const child = named ?? node.rest;
    if (child === undefined) continue;
    const was = before !== undefined && Object.hasOwn(before, key) ? before[key] : NONE;
    yield* visit(child, object[key], was, same, named ? childPath(path, key) : `${path}[${key}]`, run);
  }
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

function* runRules(
  node: RuleNode,
  value: unknown,
  old: unknown,
  same: boolean,
  path: string,
  run: Run,
): Generator<void, void> {
  const type = node.schema.type ?? '';
  const say = (text: string) => run.errors.push(invalid(path, JSON.stringify(type), text));
  const hasOld = old !== NONE && old !== null && old !== undefined;
  const rules = (node.rules as NonNullable<RuleNode['rules']>)();
  if (run.budget <= 0) {
    say(OUT_OF_BUDGET);
    run.budget = -1;
    return;
  }
  const self = schemaValue(value, node.schema, node.root);
  const oldSelf = hasOld ? schemaValue(old, node.schema, node.root) : undefined;
  const plain: Variables = (name) => (name === 'self' ? self : oldSelf);
  const optional: Variables = (name) =>
    name === 'self' ? self : oldSelf === undefined ? NO_VALUE : new Optional(oldSelf);
  for (const compiled of rules.compiled) {
    const { rule, program, usesOldSelf } = compiled;
    if (program === undefined) {
      say(`rule compile error: ${compiled.error}`);
      continue;
    }
    if (usesOldSelf && !hasOld && !rule.optionalOldSelf) continue;
    const outcome = program.run(rule.optionalOldSelf ? optional : plain);
    if (outcome.cost > run.budget) {
      say(OUT_OF_BUDGET);
      run.budget = -1;
      return;
    }
    run.budget -= outcome.cost;
    if (outcome.value instanceof CelError) {
      say(runtimeText(outcome.value.message, rule));
      if (outcome.exceeded) run.budget = -1;
    } else if (outcome.value !== true) fail(compiled, node, value, plain, same, path, run);
    if (run.budget < 0) return;
    run.pending += outcome.cost + RULE;
    if (run.pending < STEP) continue;
    run.pending = 0;
    yield;
  }
}

/** What a step may cost; running a rule at all is worth some of that. */
const STEP = 5_000;
const RULE = 50;

function invalid(path: string, shown: string, text: string): FieldError {
  const field = path === '' ? '<nil>' : path;
  return { type: 'FieldValueInvalid', field, message: `Invalid value${shown === '' ? '' : `: ${shown}`}: ${text}` };
}

function ruleText(rule: ValidationRule): string {
  return (rule.message || rule.rule).trim();
}

function runtimeText(problem: string, rule: ValidationRule): string {
  if (problem.startsWith('no such overload')) {
    const text = 'call arguments did not match a supported operator, function or macro signature for rule';
    return `'${problem}': ${text}: ${ruleText(rule)}`;
  }
  if (problem.startsWith('operation cancelled: actual cost limit exceeded')) {
    const text = 'no further validation rules will be run due to call cost exceeds limit for rule';
    return `'${problem}': ${text}: ${ruleText(rule)}`;
  }
  return `${problem} evaluating rule: ${ruleText(rule)}`;
}

/** Records that a rule does not hold. Transition rules judge the change itself, so they are never forgiven. */
function fail(
  compiled: CompiledRule,
  node: RuleNode,
  value: unknown,
  variables: Variables,
  same: boolean,
  path: string,
  run: Run,
): void {
  const { rule } = compiled;
  const to = same && !compiled.usesOldSelf ? run.warnings : run.errors;
  const keys = rule.fieldPath ? parseFieldPath(rule.fieldPath) : undefined;
  const at = keys ? childPath(path, keys.join('.')) : path;
  const type = node.schema.type ?? '';
  let detail: string | undefined;
  if (compiled.message !== undefined) {
    const outcome = compiled.message.run(variables);
    const spent = messageProblem(outcome, rule, run.budget);
    if (spent !== undefined) {
      to.push(invalid(at, JSON.stringify(type), spent));
      run.budget = -1;
      return;
    }
    run.budget -= outcome.cost;
    detail = messageOf(outcome.value);
  }
  detail ??= rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`;
  to.push(ruleError(rule, at, type === 'object' || type === 'array' ? '' : goJson(value), detail));
}

function ruleError({ reason }: ValidationRule, path: string, shown: string, detail: string): FieldError {
  const field = path === '' ? '<nil>' : path;
  switch (reason) {
    case 'FieldValueForbidden':
      return { type: reason, field, message: `Forbidden: ${detail}` };
    case 'FieldValueRequired':
      return { type: reason, field, message: `Required value: ${detail}` };
    case 'FieldValueDuplicate':
      return { type: reason, field, message: `Duplicate value${shown === '' ? '' : `: ${shown}`}` };
    default:
      return invalid(path, shown, detail);
  }
}

function messageProblem({ cost, exceeded }: Outcome, rule: ValidationRule, budget: number): string | undefined {
  if (cost > budget) {
    return 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
  }
  if (!exceeded) return undefined;
  const text = 'no further validation rules will be run due to call cost exceeds limit for messageExpression';
  return `${text}: ${JSON.stringify(rule.messageExpression)}`;
}

/** The text a messageExpression gives, or undefined where it gives none that can be used; upstream logs that. */
function messageOf(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  return trimmed === '' || trimmed.includes('\n') || Buffer.byteLength(trimmed) > MAX_MESSAGE ? undefined : trimmed;
}
