/**
 * The rules of a schema, compiled: a tree that has only those parts of the schema that have rules at or below them. Made on
 * first use and kept as long as the schema itself is.
 */
import { entries, restSchema } from '../schema/children.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { type CelType, celType, declareTypes, isPlain } from './cel-type.ts';
import { type Environment, engine } from './engine.ts';
import { compile, type Program } from './program.ts';

export interface CompiledRule {
  rule: ValidationRule;
  program?: Program;
  message?: Program;
  error?: string;
  messageError?: string;
}

export interface RuleNode {
  schema: Schema;
  /** Undefined where the node has no rules itself. Compiled when first asked for. */
  rules?: () => { type: CelType; compiled: CompiledRule[] };
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

function grow(schema: Schema, root: boolean): RuleNode | undefined {
  // What has no type cannot be seen by expressions.
  if (!hasRules(schema) || (!schema.type && !schema['x-kubernetes-int-or-string'])) return undefined;
  const node: RuleNode = { schema };
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length > 0) {
    let compiled: ReturnType<NonNullable<RuleNode['rules']>> | undefined;
    node.rules = () => {
      compiled ??= compileRules(rules, schema, root);
      return compiled;
    };
  }
  const rest = restSchema(schema);
  if (schema.items) node.items = grow(schema.items, false);
  if (rest) node.rest = grow(rest, false);
  for (const [key, property] of entries(schema.properties)) {
    const grown = grow(property, false);
    if (grown === undefined) continue;
    node.properties ??= new Map();
    node.properties.set(key, grown);
  }
  return node;
}

function compileRules(rules: ValidationRule[], schema: Schema, root: boolean) {
  const mentioned = new Set(
    rules.flatMap((r) => `${r.rule} ${r.messageExpression ?? ''}`.match(/[A-Za-z_]\w*/g) ?? []),
  );
  // Type names are kept by the engine for good: the same names for every CRD keep that bounded.
  const type = celType(schema, root, 'self', mentioned);
  if (type === undefined) {
    const error = 'failed to convert to declType for CEL validation rules';
    return { type: NO_TYPE, compiled: rules.map((rule): CompiledRule => ({ rule, error })) };
  }
  const env = environmentFor(type);
  const plain = env.clone().registerVariable('self', type.name).registerVariable('oldSelf', type.name);
  let optional: Environment | undefined;
  const compiled = rules.map((rule) => {
    if (rule.optionalOldSelf) {
      optional ??= env
        .clone()
        .registerVariable('self', type.name)
        .registerVariable('oldSelf', `optional<${type.name}>`);
    }
    return compileRule(rule, rule.optionalOldSelf && optional ? optional : plain);
  });
  return { type, compiled };
}

const NO_TYPE: CelType = { name: 'dyn', kind: 'dyn', max: 1, min: 1, convert: (value) => value };

function environmentFor(type: CelType): Environment {
  if (isPlain(type)) return engine().base;
  const env = engine().base.clone();
  declareTypes(type, env);
  return env;
}

function compileRule(rule: ValidationRule, env: Environment): CompiledRule {
  const compiled: CompiledRule = { rule };
  try {
    compiled.program = compile(env, rule.rule);
    if (!isType(compiled.program.type, 'bool')) compiled.error = 'cel expression must evaluate to a bool';
  } catch (error) {
    compiled.error = `compilation failed: ${(error as Error).message}`;
  }
  if (!rule.messageExpression) return compiled;
  try {
    compiled.message = compile(env, rule.messageExpression);
    if (!isType(compiled.message.type, 'string')) compiled.messageError = 'messageExpression must evaluate to a string';
  } catch (error) {
    compiled.messageError = `messageExpression compilation failed: ${(error as Error).message}`;
  }
  return compiled;
}

/** What the checker cannot know is left to run time. */
function isType(actual: string, expected: string): boolean {
  return actual === expected || actual.startsWith('dyn');
}
