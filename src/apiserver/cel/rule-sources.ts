/** Rules as their authors wrote them: refused with the CRD where they do not compile, or could cost too much. */
import type { CheckRules, Place } from '../crd/schema-rules.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { type FieldError, field } from '../status.ts';
import { ruleCost } from './cost/rule-cost.ts';
import { cap } from './cost/size.ts';
import type { Program } from './engine.ts';
import { type CompiledRule, hasRules, type RuleNode, ruleTree } from './rule-tree.ts';
import { MAX_REQUEST, type SchemaType } from './schema-type.ts';

/** What one rule may cost on the largest objects its schema allows, and all rules of a schema together. */
const RULE_LIMIT = 10_000_000;
const SCHEMA_LIMIT = 100_000_000;

interface Found {
  node: RuleNode;
  /** How often the value can occur in an object; undefined where nothing bounds it. */
  occurrences: number | undefined;
}

type Typed = Found & { type: SchemaType };

interface Cost {
  path: string;
  cost: number;
}

export interface RuleSources {
  check: CheckRules;
  /** Errors about all rules of the schema together; to be asked last. */
  total(path: string): FieldError[];
}

/** For the schema of a whole resource. */
export function checkRuleSources(root: Schema): RuleSources | undefined {
  if (!hasRules(root)) return undefined;
  const tree = ruleTree(root, true);
  const nodes = new Map<Schema, Found>();
  if (tree) collect(tree, 1, nodes);
  const costs: Cost[] = [];
  return {
    check(schema, path, place) {
      const found = nodes.get(schema);
      const rules = found?.node.rules?.();
      if (found === undefined || rules === undefined) return [];
      const { type } = rules;
      if (type === undefined) return [untyped(path)];
      return rules.compiled.flatMap((rule, i) =>
        ruleErrors({ ...found, type }, rule, `${path}.x-kubernetes-validations[${i}]`, place, costs),
      );
    },
    total(path) {
      const total = cap(costs.reduce((sum, { cost }) => sum + cost, 0));
      if (total <= SCHEMA_LIMIT) return [];
      const text = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
      // Those that hardly matter are not worth a line.
      const worst = costs
        .filter(({ cost }) => cost >= SCHEMA_LIMIT / 100)
        .sort((a, b) => b.cost - a.cost)
        .slice(0, 4);
      const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
      return [
        ...worst.map((entry) => field.forbidden(entry.path, text)),
        field.forbidden(path, overBudget(what, total, SCHEMA_LIMIT)),
      ];
    },
  };
}

function collect(node: RuleNode, occurrences: number | undefined, nodes: Map<Schema, Found>): void {
  nodes.set(node.schema, { node, occurrences });
  for (const child of node.properties?.values() ?? []) collect(child, occurrences, nodes);
  const bound = node.schema.type === 'array' ? node.schema.maxItems : node.schema.maxProperties;
  // Nothing else has elements: an object occurs as often as what it is in.
  const inside = occurrences === undefined || bound === undefined ? undefined : occurrences * Math.max(0, bound);
  if (node.items) collect(node.items, inside, nodes);
  if (node.rest) collect(node.rest, inside, nodes);
}

function ruleErrors(found: Typed, compiled: CompiledRule, at: string, place: Place, costs: Cost[]): FieldError[] {
  const { rule, program, message, error, messageError } = compiled;
  const errors: FieldError[] = [];
  if (error !== undefined) errors.push(badRule(`${at}.rule`, rule, error));
  else if (program) afford('estimated rule cost', `${at}.rule`, program, found, errors, costs);
  if (messageError !== undefined) errors.push(badRule(`${at}.messageExpression`, rule, messageError));
  else if (message) {
    const once = { ...found, occurrences: 1 };
    afford('estimated messageExpression cost', `${at}.messageExpression`, message, once, errors, costs);
  }
  if (compiled.usesOldSelf) {
    if (place.uncorrelatable !== undefined) {
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
      errors.push(field.invalid(`${at}.rule`, rule.rule, text));
    }
  } else if (rule.optionalOldSelf !== undefined) {
    const text = 'may not be set if oldSelf is not used in rule';
    errors.push(field.invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, text));
  }
  return errors;
}

function afford(
  what: string,
  path: string,
  program: Program,
  { type, occurrences }: Typed,
  errors: FieldError[],
  costs: Cost[],
): void {
  const times = occurrences ?? Math.floor(MAX_REQUEST / (type.min + 1));
  const cost = cap(ruleCost(program, type) * times);
  costs.push({ path, cost });
  if (cost > RULE_LIMIT) errors.push(field.forbidden(path, overBudget(what, cost, RULE_LIMIT)));
}

function overBudget(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

function untyped(path: string): FieldError {
  const at = `${path}.x-kubernetes-validations`;
  const text = 'failed to construct type information for x-kubernetes-validations rules';
  const why = 'unable to convert structural schema to CEL declarations';
  return { type: 'FieldValueInvalid', field: at, message: `Internal error: internal error: ${text}: ${why}` };
}

/** Upstream shows the rule as its internal form prints. */
function badRule(path: string, rule: ValidationRule, detail: string): FieldError {
  const shown = JSON.stringify({
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  return { type: 'FieldValueInvalid', field: path, message: `Invalid value: ${shown}: ${detail}` };
}
