/** x-kubernetes-validations: rules in CEL, held against values; texts are the real server's. */

import { NONE, sameKey, unchanged } from '../schema/correlation.ts';
import { parseFieldPath } from '../schema/field-path.ts';
import { goJson } from '../schema/go-json.ts';
import { childPath } from '../schema/prune.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';

import type { FieldError } from '../status.ts';
import { engine } from './engine.ts';
import { isSpent, OBJECT_BUDGET, refill } from './meter.ts';
import { type CompiledRule, type RuleNode, ruleTree } from './rule-tree.ts';

export { checkRuleSources } from './rule-sources.ts';
export { hasRules } from './rule-tree.ts';

type Json = Record<string, unknown>;

const MAX_MESSAGE = 5 * 1024;

/**
 * Errors of `value` under the rules of `schema`. With `old`, transition rules run where old and new parts can be matched,
 * and parts that did not change are not held against the writer.
 */
export function validateRules(value: unknown, schema: Schema, path = '', old?: unknown, root = false): FieldError[] {
  const tree = ruleTree(schema, root);
  if (tree === undefined) return [];
  refill(OBJECT_BUDGET);
  const errors: FieldError[] = [];
  visit(tree, value, old ?? NONE, old === undefined ? NONE : old, false, path, errors);
  return errors;
}

/**
 * `old` is what `oldSelf` shows; `peer` is what ratcheting compares with (they differ in nothing but lists without keys);
 * `kept` says that a whole around this value is known to be unchanged. False once the budget is spent.
 */
function visit(
  node: RuleNode,
  value: unknown,
  old: unknown,
  peer: unknown,
  kept: boolean,
  path: string,
  errors: FieldError[],
): boolean {
  if (value === null || value === undefined) return true;
  const same = kept || (peer !== NONE && unchanged(value, peer, node.schema));
  if (node.rules !== undefined && !run(node, value, old, same, path, errors)) return false;
  if (Array.isArray(value)) {
    if (!node.items) return true;
    const keys =
      node.schema['x-kubernetes-list-type'] === 'map' ? (node.schema['x-kubernetes-list-map-keys'] ?? []) : [];
    for (let i = 0; i < value.length; i++) {
      const before = Array.isArray(old) ? sameKey(old, value[i], keys) : NONE;
      if (!visit(node.items, value[i], before, before, same, `${path}[${i}]`, errors)) return false;
    }
    return true;
  }
  if (typeof value !== 'object') return true;
  const object = value as Json;
  const before = typeof old === 'object' && old !== null ? (old as Json) : undefined;
  for (const key in object) {
    const named = node.properties?.get(key);
    const child = named ?? node.rest;
    if (child === undefined) continue;
    const was = before !== undefined && Object.hasOwn(before, key) ? before[key] : NONE;
    const at = named ? childPath(path, key) : `${path}[${key}]`;
    if (!visit(child, object[key], was, was, same, at, errors)) return false;
  }
  return true;
}

/** Runs the rules of one node; false when the budget is spent and nothing further may run. */
function run(node: RuleNode, value: unknown, old: unknown, same: boolean, path: string, errors: FieldError[]): boolean {
  const at = path === '' ? '<nil>' : path;
  const type = node.schema.type ?? '';
  const say = (text: string) =>
    errors.push({ type: 'FieldValueInvalid', field: at, message: `Invalid value: ${JSON.stringify(type)}: ${text}` });
  const hasOld = old !== NONE && old !== null && old !== undefined;
  let self: unknown;
  let oldSelf: unknown;
  const rules = (node.rules as NonNullable<RuleNode['rules']>)();
  for (const compiled of rules.compiled) {
    const { rule, program } = compiled;
    if (compiled.error !== undefined || program === undefined) {
      say(`rule compile error: ${compiled.error}`);
      continue;
    }
    if (program.usesOldSelf && !hasOld && !rule.optionalOldSelf) continue;
    self ??= rules.type.convert(value);
    if (program.usesOldSelf && hasOld) oldSelf ??= rules.type.convert(old);
    const variables: Json = { self };
    if (program.usesOldSelf) variables.oldSelf = rule.optionalOldSelf ? optional(oldSelf, hasOld) : oldSelf;
    let result: unknown;
    try {
      result = program.run(variables);
    } catch (error) {
      if (!isSpent()) say(runtimeText(error, rule));
    }
    if (isSpent()) {
      say('validation failed due to running out of cost budget, no further validation rules will be run');
      return false;
    }
    if (result === undefined || result === true) continue;
    // Transition rules judge the change itself, so they are never forgiven for what was there before.
    if (same && !program.usesOldSelf) continue;
    errors.push(failure(compiled, value, type, variables, path));
    if (isSpent()) return false;
  }
  return true;
}

function optional(value: unknown, present: boolean): unknown {
  const { Optional } = engine().cel;
  return present ? Optional.of(value) : Optional.none();
}

function ruleText(rule: ValidationRule): string {
  return (rule.message || rule.rule).trim();
}

function runtimeText(error: unknown, rule: ValidationRule): string {
  const raw = (error as { summary?: string }).summary ?? (error instanceof Error ? error.message : String(error));
  const text = raw
    .replace(/^No such key:/, 'no such key:')
    .replace(/^no such key: index out of bounds, index (-?\d+) .*$/, 'index out of bounds: $1')
    .replace(/^integer overflow: .*$/, 'integer overflow');
  if (/^(no such overload|found no matching overload)/.test(text)) {
    const call = 'call arguments did not match a supported operator, function or macro signature for rule';
    return `'no such overload': ${call}: ${ruleText(rule)}`;
  }
  return `${text} evaluating rule: ${ruleText(rule)}`;
}

function failure(compiled: CompiledRule, value: unknown, type: string, variables: Json, path: string): FieldError {
  const { rule } = compiled;
  const keys = rule.fieldPath ? parseFieldPath(rule.fieldPath) : undefined;
  const full = keys ? childPath(path, keys.join('.')) : path;
  const field = full === '' ? '<nil>' : full;
  const detail =
    messageOf(compiled, variables) ?? (rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`);
  const shown = type === 'object' || type === 'array' ? '' : `: ${goJson(value)}`;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return { type: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
    case 'FieldValueRequired':
      return { type: 'FieldValueRequired', field, message: `Required value: ${detail}` };
    case 'FieldValueDuplicate':
      return { type: 'FieldValueDuplicate', field, message: `Duplicate value${shown}` };
    default:
      return { type: 'FieldValueInvalid', field, message: `Invalid value${shown}: ${detail}` };
  }
}

/** The text a messageExpression gives, or undefined where it gives none that can be used. */
function messageOf(compiled: CompiledRule, variables: Json): string | undefined {
  if (compiled.message === undefined || compiled.messageError !== undefined) return undefined;
  let text: unknown;
  try {
    text = compiled.message.run(variables);
  } catch {
    // Upstream logs this and falls back to the rule's own message.
    return undefined;
  }
  if (typeof text !== 'string') return undefined;
  const trimmed = text.trim();
  return trimmed === '' || trimmed.includes('\n') || Buffer.byteLength(trimmed) > MAX_MESSAGE ? undefined : trimmed;
}
