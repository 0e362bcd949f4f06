/** One expression, parsed, checked against its types, and made to count its steps. */
import { compilePattern } from '../schema/pattern.ts';
import { type Environment, engine } from './engine.ts';
import { has } from './library/has.ts';
import { MATCHES } from './library/regex.ts';
import { type CelNode, eachNode, instrument } from './meter.ts';

export interface Program {
  readonly ast: CelNode;
  /** The type of its result as far as it is known: `bool`, `string`, `dyn`, … */
  readonly type: string;
  readonly usesOldSelf: boolean;
  run(variables: Record<string, unknown>): unknown;
}

interface Place {
  pos?: number;
  start?: number;
  end?: number;
  op?: string;
  args?: unknown;
}

interface CelError {
  message: string;
  summary?: string;
  range?: { start: number };
  node?: Place;
}

/** Throws an Error worded as cel-go reports issues. */
export function compile(env: Environment, source: string): Program {
  let parsed: ReturnType<Environment['parse']>;
  try {
    parsed = env.parse(source);
  } catch (error) {
    throw new Error(issue(source, error as CelError, 'Syntax error: '));
  }
  const ast = parsed.ast as unknown as CelNode;
  let usesOldSelf = false;
  eachNode(ast, (node) => {
    if (node.op === 'id' && node.args === 'oldSelf') usesOldSelf = true;
    if (node.op === 'rcall' && (node.args as unknown[])[0] === 'matches') (node.args as unknown[])[0] = MATCHES;
    if (node.op === 'call' && (node.args as unknown[])[0] === 'has' && node.meta.macro) has(node);
  });
  const invalid = badLiteral(ast);
  if (invalid) throw new Error(issue(source, invalid, ''));
  const checked = parsed.check();
  if (!checked.valid) throw new Error(issue(source, checked.error as unknown as CelError, ''));
  instrument(ast);
  return { ast, type: checked.type ?? 'dyn', usesOldSelf, run: (variables) => parsed(variables) };
}

/** Patterns and durations written out in the expression are checked with it. */
function badLiteral(ast: CelNode): CelError | undefined {
  let found: CelError | undefined;
  eachNode(ast, (node) => {
    if (node.op !== 'call' && node.op !== 'rcall') return;
    const args = node.args as unknown[];
    const name = args[0];
    const literal = (args.at(-1) as (CelNode & { pos?: number })[]).at(-1);
    if (literal?.op !== 'value' || typeof literal.args !== 'string') return;
    const bad =
      ((name === MATCHES || name === 'matches') && compilePattern(literal.args) instanceof Error && 'matches') ||
      (name === 'duration' && node.op === 'call' && !DURATION.test(literal.args) && 'duration');
    if (bad) found ??= { message: `invalid ${bad} argument`, node: { pos: literal.pos } };
  });
  return found;
}

const DURATION = /^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;

/** `ERROR: <input>:1:6: undefined field 'x'`, with the line and a mark under the place. */
function issue(source: string, error: CelError, prefix: string): string {
  const at = position(source, error);
  const before = source.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n') - 1;
  const text = source.split('\n')[line - 1] ?? '';
  const message = prefix + reworded(error.summary ?? error.message);
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${'.'.repeat(column)}^`;
}

/** cel-go marks a selection at its dot, an operator at its sign, a call at its parenthesis. */
function position(source: string, { range, node }: CelError): number {
  const start = range?.start ?? node?.pos ?? 0;
  const operands = (Array.isArray(node?.args) ? node.args : []) as Place[];
  if (node?.op === '.') return Math.max(0, start - 1);
  if (node?.op === 'call') return Math.max(start, source.indexOf('(', start));
  if (node?.op === 'rcall') return Math.max(start, source.indexOf('(', operands[1]?.end ?? start));
  if (operands.length === 2 && node?.op && operands[0]?.end !== undefined) {
    return Math.max(start, source.indexOf(node.op, operands[0].end));
  }
  return start;
}

function reworded(text: string): string {
  return text
    .replace(/^Cannot index type '(.*)'$/, "type '$1' does not support field selection")
    .replace(/^.* predicate must return bool, got '(.*)'$/, "expected type 'bool' but found '$1'")
    .replace(/^No such key: (.*)$/, "undefined field '$1'")
    .replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')")
    .replace(/^no such overload: (\S+) (\S+) (\S+)$/, "found no matching overload for '_$2_' applied to '($1, $3)'")
    .replace(/^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/, (_, receiver, name, args) => {
      const shown = name === MATCHES ? 'matches' : name;
      if (!functionNames().has(name)) return `undeclared reference to '${name}' (in container '')`;
      return `found no matching overload for '${shown}' applied to '${receiver ? `${receiver}.` : ''}(${args})'`;
    });
}

let names: Set<string> | undefined;

function functionNames(): Set<string> {
  names ??= new Set(
    engine()
      .base.getDefinitions()
      .functions.map((f) => f.name),
  );
  return names;
}
