/** CEL's grammar by recursive descent. Nodes are numbered in cel-go's order: some messages show the numbers. */
import { chargeWork } from '../../allowance.ts';
import type { Value } from '../values/value.ts';
import { Uint } from '../values/value.ts';
import type { Entry, Expr } from './ast.ts';
import { CompileError, type Issue, MAX_ISSUES } from './issue.ts';
import { type Token, tokenize } from './lexer.ts';
import { unescapeBytes, unescapeString } from './literal.ts';
import { MacroError, Maker, macroFor } from './macros.ts';

/** Reading one part of an expression, in units of work. */
const PART = 10;

export interface Parsed {
  source: string;
  expr: Expr;
  /** Where each node is, by its id. */
  positions: readonly number[];
}

const RESERVED = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);

const RELATIONS = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const OPERATORS: Record<string, string> = { in: '@in' };
const STARTS =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const MAX_DEPTH = 250;
const MAX_SIZE = 100_000;

/** Throws a CompileError where the text is no expression. */
export function parse(source: string): Parsed {
  if (source.length > MAX_SIZE && [...source].length > MAX_SIZE) {
    const message = `expression code point size exceeds limit: size: ${[...source].length}, limit ${MAX_SIZE}`;
    throw new CompileError(source, [{ at: -1, message }]);
  }
  return new Parser(source).parse();
}

/** Rules of upstream's grammar that may hold themselves; a chain of operators or selections counts as nested, too. */
type Rule = 'expression' | 'relation' | 'sum' | 'member';

/** Ends the parsing; the issue is in the list already. */
class Stop extends Error {}

class Parser {
  private readonly source: string;
  private readonly issues: Issue[] = [];
  private readonly tokens: Token[];
  private readonly positions: number[] = [0];
  private next = 0;
  private readonly entered: Record<Rule, number> = { expression: 0, relation: 0, sum: 0, member: 0 };
  /** Levels of operators and selections in an expression; none where it is absent. */
  private readonly heights = new Map<Expr, number>();

  constructor(source: string) {
    this.source = source;
    this.tokens = tokenize(source, this.issues);
  }

  parse(): Parsed {
    let expr: Expr | undefined;
    try {
      if (this.issues.length > MAX_ISSUES) throw new Stop();
      expr = this.expression();
      if (this.token.kind !== 'end') this.unexpected('<EOF>');
      if (this.heightOf(expr) > MAX_DEPTH) this.issues.push({ at: -1, message: 'max recursion depth exceeded' });
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
    }
    if (expr === undefined || this.issues.length > 0) throw new CompileError(this.source, this.issues);
    return { source: this.source, expr, positions: this.positions };
  }

  private get token(): Token {
    return this.tokens[this.next] as Token;
  }

  private is(text: string): boolean {
    const { kind } = this.token;
    return this.token.text === text && (kind === 'punctuation' || kind === 'word');
  }

  private take(text: string): Token | undefined {
    return this.is(text) ? (this.tokens[this.next++] as Token) : undefined;
  }

  private expect(text: string, expecting = `'${text}'`): Token {
    return this.take(text) ?? this.unexpected(expecting);
  }

  private id(at: number): number {
    this.positions.push(at);
    chargeWork(PART);
    return this.positions.length - 1;
  }

  private unexpected(expecting: string): never {
    const { kind, text, at } = this.token;
    const what = kind === 'end' || expecting.startsWith('{') ? 'mismatched' : 'extraneous';
    const shown = text.replaceAll('\n', '\\n');
    this.issues.push({ at, message: `Syntax error: ${what} input '${shown}' expecting ${expecting}` });
    throw new Stop();
  }

  /** A problem of meaning: parsing goes on. */
  private report(at: number, message: string): Expr {
    this.issues.push({ at, message });
    return { kind: 'literal', id: this.id(at), value: null };
  }

  private enter(rule: Rule): void {
    if (++this.entered[rule] <= MAX_DEPTH) return;
    this.issues.push({ at: -1, message: `expression recursion limit exceeded: ${MAX_DEPTH}` });
    throw new Stop();
  }

  private within(rule: Rule, parse: () => Expr): Expr {
    const before = this.entered[rule];
    this.enter(rule);
    const result = parse();
    this.entered[rule] = before;
    return result;
  }

  private heightOf(expr: Expr): number {
    return this.heights.get(expr) ?? 0;
  }

  private raised(expr: Expr, parts: readonly (Expr | undefined)[], levels: 0 | 1): Expr {
    let height = 0;
    for (const part of parts) if (part) height = Math.max(height, this.heightOf(part));
    if (height + levels > 0) this.heights.set(expr, height + levels);
    return expr;
  }

  private expression(): Expr {
    return this.within('expression', () => {
      const condition = this.logical('||', () => this.logical('&&', () => this.relation()));
      const question = this.take('?');
      if (!question) return condition;
      const id = this.id(question.at);
      const yes = this.logical('||', () => this.logical('&&', () => this.relation()));
      this.expect(':');
      return this.call(id, '_?_:_', undefined, [condition, yes, this.expression()], 1);
    });
  }

  /** Chains of one logical operator become balanced trees, which keeps them shallow. */
  private logical(operator: '||' | '&&', operand: () => Expr): Expr {
    const terms = [operand()];
    const ops: number[] = [];
    for (let token = this.take(operator); token; token = this.take(operator)) {
      terms.push(operand());
      ops.push(this.id(token.at));
    }
    const name = `_${operator}_`;
    const tree = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? (terms[middle] as Expr) : tree(low, middle - 1);
      const right = middle === high ? (terms[middle + 1] as Expr) : tree(middle + 1, high);
      const joined: Expr = { kind: 'call', id: ops[middle] as number, name, args: [left, right] };
      return this.raised(joined, [left, right], 0);
    };
    return ops.length === 0 ? (terms[0] as Expr) : tree(0, ops.length - 1);
  }

  private relation(): Expr {
    return this.within('relation', () => this.binary('relation', RELATIONS, () => this.sum()));
  }

  private sum(): Expr {
    const product = () => this.binary('sum', PRODUCTS, () => this.unary());
    return this.within('sum', () => this.binary('sum', SUMS, product));
  }

  private binary(rule: Rule, operators: ReadonlySet<string>, operand: () => Expr): Expr {
    let left = operand();
    for (;;) {
      const { kind, text, at } = this.token;
      if ((kind !== 'punctuation' && kind !== 'word') || !operators.has(text)) return left;
      this.next++;
      const id = this.id(at);
      this.enter(rule);
      const right = this.within(rule, operand);
      left = this.call(id, OPERATORS[text] ?? `_${text}_`, undefined, [left, right], 1);
    }
  }

  private unary(): Expr {
    const sign = this.token.text;
    if (this.is('!') || (this.is('-') && !this.isNegativeNumber())) {
      const { at } = this.token;
      let count = 0;
      while (this.take(sign)) count++;
      const odd = count % 2 === 1;
      const id = odd ? this.id(at) : 0;
      const operand = this.member();
      return odd ? this.call(id, `${sign}_`, undefined, [operand], 0) : operand;
    }
    return this.member();
  }

  private isNegativeNumber(): boolean {
    const after = this.tokens[this.next + 1]?.kind;
    return after === 'int' || after === 'double';
  }

  private member(): Expr {
    return this.within('member', () => this.selections(this.primary()));
  }

  private selections(of: Expr): Expr {
    let operand = of;
    for (;;) {
      const dot = this.take('.');
      if (dot) {
        this.enter('member');
        operand = this.selection(operand, dot);
        continue;
      }
      const bracket = this.take('[');
      if (!bracket) return operand;
      this.enter('member');
      const optional = this.take('?') !== undefined;
      const id = this.id(bracket.at);
      const index = this.expression();
      this.expect(']');
      operand = this.call(id, optional ? '_[?_]' : '_[_]', undefined, [operand, index], 1);
    }
  }

  private selection(operand: Expr, dot: Token): Expr {
    const optional = this.take('?') !== undefined;
    const { kind, text, at } = this.token;
    if (kind === 'escaped') {
      this.next++;
      return this.report(at, "unsupported syntax: '`'");
    }
    if (kind !== 'ident') this.noField(dot, optional);
    this.next++;
    if (optional) {
      const field: Expr = { kind: 'literal', id: this.id(at), value: text };
      const call: Expr = { kind: 'call', id: this.id(dot.at), name: '_?._', args: [operand, field] };
      return this.raised(call, [operand], 1);
    }
    const open = this.take('(');
    if (open) {
      const id = this.id(open.at);
      return this.call(id, text, operand, this.args(), 1);
    }
    const select: Expr = { kind: 'select', id: this.id(dot.at), operand, field: text, test: false };
    return this.raised(select, [operand], 1);
  }

  private noField(dot: Token, optional: boolean): never {
    const { kind, text, at } = this.token;
    if (kind === 'word') {
      const between = this.source.slice(dot.at, at + text.length);
      const message =
        text === 'in' || optional
          ? `no viable alternative at input '${between}'`
          : `mismatched input '${text}' expecting IDENTIFIER`;
      this.issues.push({ at, message: `Syntax error: ${message}` });
      throw new Stop();
    }
    const shown = `${dot.text}${kind === 'end' ? '' : text}`;
    this.issues.push({ at, message: `Syntax error: no viable alternative at input '${shown}'` });
    throw new Stop();
  }

  private args(): Expr[] {
    const args: Expr[] = [];
    if (this.take(')')) return args;
    do args.push(this.expression());
    while (this.take(','));
    this.expect(')', "{')', ','}");
    return args;
  }

  private primary(): Expr {
    const { kind, at } = this.token;
    if (this.take('(')) {
      const inner = this.expression();
      this.expect(')');
      return inner;
    }
    if (this.take('[')) return this.list(at);
    if (this.take('{')) return this.map(at);
    if (kind === 'ident' || this.is('.')) return this.name();
    const value = this.literal();
    if (value === undefined) this.unexpected(STARTS);
    return { kind: 'literal', id: this.id(at), value };
  }

  private name(): Expr {
    const dot = this.take('.');
    const { kind, text, at } = this.token;
    if (kind !== 'ident') this.unexpected('IDENTIFIER');
    const name = (dot ? '.' : '') + text;
    const struct = this.structName();
    if (struct !== undefined) return this.struct((dot ? '.' : '') + struct);
    this.next++;
    const open = this.take('(');
    if (RESERVED.has(text)) {
      if (open) this.args();
      return this.report(dot?.at ?? at, `reserved identifier: ${text}`);
    }
    if (!open) return { kind: 'ident', id: this.id(at), name };
    const id = this.id(open.at);
    return this.call(id, name, undefined, this.args(), 0);
  }

  /** The name before a `{`, where one follows; it is consumed then. */
  private structName(): string | undefined {
    let at = this.next;
    const names: string[] = [];
    for (;;) {
      const token = this.tokens[at] as Token;
      if (token.kind !== 'ident') return undefined;
      names.push(token.text);
      const after = this.tokens[at + 1] as Token;
      if (after.text === '{' && after.kind === 'punctuation') {
        this.next = at + 1;
        return names.join('.');
      }
      if (after.text !== '.' || after.kind !== 'punctuation') return undefined;
      at += 2;
    }
  }

  private struct(name: string): Expr {
    const open = this.expect('{');
    const id = this.id(open.at);
    const fields: Extract<Expr, { kind: 'struct' }>['fields'] = [];
    while (!this.is('}')) {
      const optional = this.take('?') !== undefined;
      const { kind, text } = this.token;
      if (kind !== 'ident') this.unexpected("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}");
      this.next++;
      const own = this.id(this.expect(':').at);
      fields.push({ id: own, name: text, value: this.expression(), optional });
      if (!this.take(',')) break;
    }
    this.expect('}');
    const values = fields.map(({ value }) => value);
    return this.raised({ kind: 'struct', id, name, fields }, values, 0);
  }

  private list(at: number): Expr {
    const id = this.id(at);
    const elements: Expr[] = [];
    const optionals: number[] = [];
    while (!this.is(']')) {
      if (this.take('?')) optionals.push(elements.length);
      elements.push(this.expression());
      if (!this.take(',')) break;
    }
    this.expect(']', "{']', ','}");
    return this.raised({ kind: 'list', id, elements, optionals }, elements, 0);
  }

  private map(at: number): Expr {
    const id = this.id(at);
    const entries: Entry[] = [];
    // Upstream numbers a colon before what stands on both its sides.
    while (!this.is('}')) {
      const own = this.id(at);
      const optional = this.take('?') !== undefined;
      const key = this.expression();
      this.positions[own] = this.expect(':').at;
      entries.push({ id: own, key, value: this.expression(), optional });
      if (!this.take(',')) break;
    }
    this.expect('}', "{'}', ','}");
    const parts = entries.flatMap(({ key, value }) => [key, value]);
    return this.raised({ kind: 'map', id, entries }, parts, 0);
  }

  private literal(): Value | undefined {
    const negative = this.is('-') && this.isNegativeNumber();
    const token = (negative ? this.tokens[this.next + 1] : this.token) as Token;
    const value = this.valueOf(token, negative);
    if (value !== undefined) this.next += negative ? 2 : 1;
    return value;
  }

  private valueOf({ kind, text, at }: Token, negative: boolean): Value | undefined {
    switch (kind) {
      case 'int': {
        const value = negative ? -BigInt(text) : BigInt(text);
        return BigInt.asIntN(64, value) === value ? value : this.bad(at, 'invalid int literal');
      }
      case 'uint': {
        const value = BigInt(text.slice(0, -1));
        return BigInt.asUintN(64, value) === value ? new Uint(value) : this.bad(at, 'invalid uint literal');
      }
      case 'double': {
        const value = Number(text) * (negative ? -1 : 1);
        return Number.isFinite(value) ? value : this.bad(at, 'invalid double literal');
      }
      case 'string':
      case 'bytes':
        try {
          return kind === 'string' ? unescapeString(text) : unescapeBytes(text);
        } catch (error) {
          return this.bad(at, (error as Error).message);
        }
      case 'word':
        return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : undefined;
      default:
        return undefined;
    }
  }

  private bad(at: number, message: string): Value {
    this.report(at, message);
    return null;
  }

  private call(id: number, name: string, target: Expr | undefined, args: Expr[], levels: 0 | 1): Expr {
    const expand = macroFor(name, args.length, target !== undefined);
    const plain: Expr = { kind: 'call', id, name, args, ...(target ? { target } : {}) };
    const parts = [target, ...args];
    if (!expand) return this.raised(plain, parts, levels);
    const at = this.positions[id] as number;
    const maker = new Maker(
      () => this.id(at),
      (other) => this.id(this.positions[other] as number),
    );
    try {
      return this.raised(expand(maker, target as Expr, args), parts, levels);
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.report(this.positions[error.id] as number, error.message);
    }
  }
}

const SUMS = new Set(['+', '-']);
const PRODUCTS = new Set(['*', '/', '%']);
