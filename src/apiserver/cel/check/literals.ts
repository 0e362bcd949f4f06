/** Literals that can be seen to be wrong without running: durations, times, patterns, mixed lists, format strings. */
import { compilePattern } from '../../schema/pattern.ts';
import { formatIssues } from '../library/format-string.ts';
import { children, type Expr } from '../syntax/ast.ts';
import type { Issue } from '../syntax/issue.ts';
import { parseGoDuration, parseTime } from '../values/time.ts';
import type { Checked } from './checker.ts';
import type { Type } from './type.ts';

export function literalIssues(checked: Checked): Issue[] {
  const issues: Issue[] = [];
  const at = (id: number) => checked.positions[id] as number;
  const say = (id: number, message: string) => issues.push({ at: at(id), message });
  walk(checked.expr, false, (expr, exempt) => {
    if (expr.kind === 'call') argumentIssue(expr.name, expr.args[0], say);
    if (expr.kind === 'call' && expr.name === 'format' && expr.target) formatIssues(expr, checked.types, say);
    if (exempt) return;
    if (expr.kind === 'list') {
      const types = expr.elements.map((element, i) => {
        const type = checked.types.get(element.id) as Type;
        return [element.id, expr.optionals.includes(i) ? (type.params[0] ?? type) : type] as const;
      });
      sameTypes(types, say, true);
    }
    if (expr.kind === 'map') {
      const typed = (each: Expr) => [each.id, checked.types.get(each.id) as Type] as const;
      sameTypes(
        expr.entries.map((entry) => typed(entry.key)),
        say,
        false,
      );
      const values = expr.entries.map(({ value, optional }) => {
        const [id, type] = typed(value);
        return [id, optional ? (type.params[0] ?? type) : type] as const;
      });
      sameTypes(values, say, false);
    }
  });
  return issues;
}

/** `exempt`: inside a call of format, which may mix types. */
function walk(expr: Expr, exempt: boolean, visit: (expr: Expr, exempt: boolean) => void): void {
  visit(expr, exempt);
  const inside = exempt || (expr.kind === 'call' && expr.name === 'format');
  for (const child of children(expr)) walk(child, inside, visit);
}

function argumentIssue(name: string, arg: Expr | undefined, say: (id: number, message: string) => void): void {
  if (arg?.kind !== 'literal') return;
  const { value } = arg;
  const bad =
    (name === 'duration' && (typeof value !== 'string' || parseGoDuration(value) === undefined)) ||
    (name === 'timestamp' && isBadTime(value)) ||
    (name === 'matches' && typeof value === 'string' && compilePattern(value) instanceof Error);
  if (bad) say(arg.id, `invalid ${name} argument`);
}

function isBadTime(value: unknown): boolean {
  if (typeof value === 'bigint') return value < -62135596800n || value > 253402300799n;
  return typeof value !== 'string' || typeof parseTime(value) !== 'bigint';
}

function sameTypes(
  types: readonly (readonly [number, Type])[],
  say: (id: number, message: string) => void,
  once: boolean,
): void {
  const [first, ...rest] = types;
  for (const [id, type] of rest) {
    if (type.equals(first?.[1] as Type)) continue;
    say(id, `expected type '${first?.[1]}' but found '${type}'`);
    if (once) return;
  }
}
