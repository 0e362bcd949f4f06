/**
 * The rules of a schema, compiled: a tree that has only those parts of the schema that have rules at or below them. Made on
 * first use and kept as long as the schema itself is.
 */
import { entries, restSchema } from '../schema/children.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { type Environment, extend } from './check/environment.ts';
import { BOOL, optionalOf, STRING, type Type } from './check/type.ts';
import { ruleCost } from './cost/rule-cost.ts';
import { baseEnvironment, compile, type Program } from './engine.ts';
import { PlanError } from './run/plan.ts';
import { fieldsIn, type Registry, type SchemaType, schemaType } from './schema-type.ts';
import { CompileError } from './syntax/issue.ts';

export interface CompiledRule {
  rule: ValidationRule;
  program?: Program;
  message?: Program;
  usesOldSelf: boolean;
  error?: string;
  messageError?: string;
}

export interface RuleNode {
  schema: Schema;
  /** Undefined where the node has no rules itself. Compiled when first asked for. */
  rules?: () => { type: SchemaType | undefined; compiled: CompiledRule[] };
  /** Of a whole resource, which has apiVersion, kind and metadata by itself. */
  root: boolean;
  properties?: Map<string, RuleNode>;
  rest?: RuleNode;
  items?: RuleNode;
}

const withRules = new WeakMap<Schema, boolean>();

/** Whether a schema has rules anywhere; cheap, and does not load the engine. */
export function hasRules(schema: Schema): boolean {
  let known = withRules.get(schema);
  if (known === undefined) {
    const rest = restSchema(schema);
    known =
      (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
      (schema.items !== undefined && hasRules(schema.items)) ||
      (rest !== undefined && hasRules(rest)) ||
      Object.values(schema.properties ?? {}).some(hasRules);
    withRules.set(schema, known);
  }
  return known;
}

const trees = new WeakMap<Schema, Map<boolean, RuleNode | undefined>>();

/** `root`: the schema is that of a whole resource, which has apiVersion, kind and metadata by itself. */
export function ruleTree(schema: Schema, root: boolean): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  let both = trees.get(schema);
  if (both === undefined) {
    both = new Map();
    trees.set(schema, both);
  }
  if (!both.has(root)) both.set(root, grow(schema, root));
  return both.get(root);
}

/** Compiles all rules of a resource's schema, in steps. What is wrong with them is said later, by whoever looks. */
export function* compileSteps(schema: Schema): Generator<void, void> {
  const tree = ruleTree(schema, true);
  if (tree) yield* compileNode(tree);
}

function* compileNode(node: RuleNode): Generator<void, void> {
  if (node.rules) {
    const { type, compiled } = node.rules();
    for (const { program, message } of compiled) {
      if (type && program) ruleCost(program, type);
      if (type && message) ruleCost(message, type);
    }
    yield;
  }
  for (const child of node.properties?.values() ?? []) yield* compileNode(child);
  if (node.items) yield* compileNode(node.items);
  if (node.rest) yield* compileNode(node.rest);
}

function grow(schema: Schema, root: boolean): RuleNode | undefined {
  // What has no type cannot be seen by expressions.
  if (!hasRules(schema) || (!schema.type && !schema['x-kubernetes-int-or-string'])) return undefined;
  const node: RuleNode = { schema, root };
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length > 0) {
    let compiled: ReturnType<NonNullable<RuleNode['rules']>> | undefined;
    node.rules = () => {
      compiled ??= compileRules(rules, schema, root);
      return compiled;
    };
  }
  const rest = restSchema(schema);
  if (schema.items) node.items = grow(schema.items, isEmbedded(schema.items));
  if (rest) node.rest = grow(rest, isEmbedded(rest));
  for (const [key, property] of entries(schema.properties)) {
    const grown = grow(property, isEmbedded(property));
    if (grown === undefined) continue;
    node.properties ??= new Map();
    node.properties.set(key, grown);
  }
  return node;
}

const isEmbedded = (schema: Schema) => schema['x-kubernetes-embedded-resource'] === true;

function compileRules(rules: ValidationRule[], schema: Schema, root: boolean) {
  const registry: Registry = new Map();
  const type = schemaType(schema, root, 'selfType', registry);
  if (type === undefined) {
    const error = 'failed to convert to declType for CEL validation rules';
    return { type, compiled: rules.map((rule): CompiledRule => ({ rule, error, usesOldSelf: false })) };
  }
  const withOldSelf = (oldSelf: Type) => extend(baseEnvironment(), { self: type.type, oldSelf }, fieldsIn(registry));
  const plain = withOldSelf(type.type);
  let optional: Environment | undefined;
  const compiled = rules.map((rule) => {
    if (!rule.optionalOldSelf) return compileRule(rule, plain);
    optional ??= withOldSelf(optionalOf(type.type));
    return compileRule(rule, optional);
  });
  return { type, compiled };
}

function compileRule(rule: ValidationRule, env: Environment): CompiledRule {
  const compiled: CompiledRule = { rule, usesOldSelf: false };
  const program = attempt(rule.rule, env, '', BOOL, 'cel expression must evaluate to a bool');
  if (typeof program === 'string') return { ...compiled, error: program };
  compiled.program = program;
  compiled.usesOldSelf = program.checked.references.has('oldSelf');
  if (!rule.messageExpression) return compiled;
  const mistyped = 'messageExpression must evaluate to a string';
  const message = attempt(rule.messageExpression, env, 'messageExpression ', STRING, mistyped);
  if (typeof message === 'string') compiled.messageError = message;
  else compiled.message = message;
  return compiled;
}

/** The program, or upstream's text of why there is none. */
function attempt(source: string, env: Environment, what: string, type: Type, mistyped: string): Program | string {
  try {
    const program = compile(source, env);
    return program.checked.type.equals(type) ? program : mistyped;
  } catch (error) {
    if (error instanceof CompileError) return `${what}compilation failed: ${error.message}`;
    if (error instanceof PlanError) return `${what === '' ? 'program ' : what}instantiation failed: ${error.message}`;
    throw error;
  }
}
