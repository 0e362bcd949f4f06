/**
 * The rules of a schema, compiled: a tree that has only those parts of the schema that have rules at or below them. Made on
 * first use and kept as long as the schema itself is.
 */
import { entries, restSchema } from '../schema/children.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { type CelType, celType } from './cel-type.ts';
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
  type: CelType;
  rules: CompiledRule[];
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
  if (!both.has(root)) {
    const env = engine().base.clone();
    // Type names are kept by the engine for good: the same names for every CRD keep that bounded.
    const type = celType(schema, root, 'self', env);
    both.set(root, type && grow(schema, type, env));
  }
  return both.get(root);
}

function grow(schema: Schema, type: CelType, env: Environment): RuleNode {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const node: RuleNode = { schema, type, rules: rules.length > 0 ? compileRules(rules, type, env) : [] };
  const child = (sub: Schema | undefined, subType: CelType | undefined) =>
    sub && subType && hasRules(sub) ? grow(sub, subType, env) : undefined;
  node.items = child(schema.items, type.element);
  node.rest = child(restSchema(schema), type.element);
  if (type.fields) {
    const types = new Map([...type.fields.values()].map((field) => [field.key, field.type]));
    for (const [key, property] of entries(schema.properties)) {
      const grown = child(property, types.get(key));
      if (grown === undefined) continue;
      node.properties ??= new Map();
      node.properties.set(key, grown);
    }
  }
  return node;
}

function compileRules(rules: ValidationRule[], type: CelType, env: Environment): CompiledRule[] {
  const plain = env.clone().registerVariable('self', type.name).registerVariable('oldSelf', type.name);
  let optional: Environment | undefined;
  return rules.map((rule) => {
    if (rule.optionalOldSelf) {
      optional ??= env.clone().registerVariable('self', type.name).registerVariable('oldSelf', `optional<${type.name}>`);
    }
    return compileRule(rule, rule.optionalOldSelf && optional ? optional : plain);
  });
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
