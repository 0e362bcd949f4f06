/**
 * The JSONPath of printer columns and selectable fields, as client-go/util/jsonpath evaluates it: fields, quoted
 * fields, indexes, slices, wildcards, unions, recursive descent, filters. Parsed once into steps.
 */
import { chargeWork } from '../allowance.ts';

type Step =
  | { kind: 'field'; name: string }
  | { kind: 'slice'; from?: number; to?: number; step?: number; single: boolean }
  | { kind: 'wildcard' }
  | { kind: 'recursive' }
  | { kind: 'union'; paths: Step[][] }
  | { kind: 'filter'; left: Step[]; operator: string; right: Step[] }
  | { kind: 'value'; value: string | number | boolean };

type Json = Record<string, unknown>;

/** Evaluates one path; all matches in order, none where keys are missing. */
export type JsonPath = (root: unknown) => unknown[];

/** Throws an Error where the path cannot be parsed; evaluation throws where upstream reports an error. */
export function compileJsonPath(path: string): JsonPath {
  const steps = new PathParser(path).parse();
  return (root) => evaluate(steps, [root]);
}

/** The first match only, if any, of a path that cannot fail; of others all, since a later match may. */
export function compileFirstMatch(path: string): JsonPath {
  const steps = new PathParser(path).parse();
  if (!steps.every(({ kind }) => CANNOT_FAIL.has(kind))) return (root) => evaluate(steps, [root]);
  return (root) => {
    const found = firstMatch(steps, 0, root);
    return found ? [found.value] : [];
  };
}

const CANNOT_FAIL = new Set<Step['kind']>(['field', 'wildcard', 'recursive', 'value']);

/** Depth first: in the order in which `evaluate` finds them. */
function firstMatch(steps: Step[], at: number, value: unknown): { value: unknown } | undefined {
  const step = steps[at];
  if (!step) return { value };
  chargeWork(1);
  switch (step.kind) {
    case 'field':
      return isMap(value) && Object.hasOwn(value, step.name) ? firstMatch(steps, at + 1, value[step.name]) : undefined;
    case 'value':
      return firstMatch(steps, at + 1, step.value);
    case 'wildcard':
      return firstOf(childrenOf(value), (child) => firstMatch(steps, at + 1, child));
    default:
      return firstBelow(steps, at + 1, value);
  }
}

/** The first match below a container that is not empty: in itself, then in its children. */
function firstBelow(steps: Step[], at: number, value: unknown): { value: unknown } | undefined {
  const children = childrenOf(value);
  if (children.length === 0) return undefined;
  return firstMatch(steps, at, value) ?? firstOf(children, (child) => firstBelow(steps, at, child));
}

function firstOf<T>(values: unknown[], find: (value: unknown) => T | undefined): T | undefined {
  for (const value of values) {
    const found = find(value);
    if (found) return found;
  }
  return undefined;
}

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return [];
  const values = Object.values(value);
  chargeWork(values.length);
  return values;
}

class PathParser {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Step[] {
    const steps = this.#steps('');
    if (this.#at < this.#text.length) throw this.#error();
    return steps;
  }

  #error(): Error {
    return new Error(`unrecognized character in action: ${JSON.stringify(this.#text.slice(this.#at))}`);
  }

  /** Steps up to the end or one of the stop characters. */
  #steps(stop: string): Step[] {
    const steps: Step[] = [];
    const text = this.#text;
    while (this.#at < text.length) {
      const c = text[this.#at] as string;
      if (stop.includes(c) && stop !== '') break;
      if (c === ' ') this.#at++;
      else if (c === '@' || c === '$') this.#at++;
      else if (c === '[') steps.push(this.#bracket());
      else if (c === '.') {
        this.#at++;
        if (text[this.#at] === '.') {
          this.#at++;
          steps.push({ kind: 'recursive' });
        }
        if (text[this.#at] === '[' || this.#at >= text.length) continue;
        const name = this.#name();
        if (name !== '') steps.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name });
      } else if (c === '"' || c === "'") steps.push({ kind: 'value', value: this.#quoted(c) });
      else if (/[-+0-9]/.test(c)) steps.push(this.#number());
      else if (/[A-Za-z]/.test(c)) {
        const word = this.#name();
        if (word === 'true' || word === 'false') steps.push({ kind: 'value', value: word === 'true' });
        else throw new Error(`unrecognized identifier ${word}`);
      } else throw this.#error();
    }
    return steps;
  }

  #name(): string {
    let name = '';
    const text = this.#text;
    while (this.#at < text.length) {
      const c = text[this.#at] as string;
      if (c === '\\' && this.#at + 1 < text.length) {
        name += text[this.#at + 1];
        this.#at += 2;
      } else if (/[\s.,[\]$@(){}=<>!|&'"]/.test(c)) break;
      else {
        name += c;
        this.#at++;
      }
    }
    return name;
  }

  #quoted(quote: string): string {
    let value = '';
    this.#at++;
    while (this.#at < this.#text.length) {
      let c = this.#text[this.#at++] as string;
      if (c === quote) return value;
      if (c === '\\') c = this.#text[this.#at++] ?? '';
      value += c;
    }
    throw new Error('unterminated quoted string');
  }

  #number(): Step {
    const match = /^[-+]?\d+(\.\d+)?/.exec(this.#text.slice(this.#at));
    if (match === null) throw this.#error();
    this.#at += match[0].length;
    return { kind: 'value', value: Number(match[0]) };
  }

  #bracket(): Step {
    this.#at++;
    this.#spaces();
    if (this.#text.startsWith('?(', this.#at)) return this.#filter();
    const parts: Step[] = [];
    for (;;) {
      this.#spaces();
      const c = this.#text[this.#at];
      if (c === '"' || c === "'") parts.push({ kind: 'field', name: this.#quoted(c) });
      else if (c === '*') {
        this.#at++;
        parts.push({ kind: 'wildcard' });
      } else parts.push(this.#slice());
      this.#spaces();
      const next = this.#text[this.#at++];
      if (next === ']') break;
      if (next !== ',') throw new Error('unterminated array');
    }
    return parts.length === 1 ? (parts[0] as Step) : { kind: 'union', paths: parts.map((p) => [p]) };
  }

  #slice(): Step {
    const match = /^\s*([-+]?\d+)?\s*(:\s*([-+]?\d+)?)?\s*(:\s*([-+]?\d+)?)?/.exec(this.#text.slice(this.#at));
    if (match === null || match[0].trim() === '') throw new Error(`invalid array index ${this.#text.slice(this.#at)}`);
    this.#at += match[0].length;
    const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
    return {
      kind: 'slice',
      from: number(match[1]),
      to: number(match[3]),
      step: number(match[5]),
      single: match[2] === undefined,
    };
  }

  #filter(): Step {
    this.#at += 2;
    const left = this.#steps('=<>!)');
    const operator = /^(==|!=|<=|>=|<|>)/.exec(this.#text.slice(this.#at))?.[0] ?? '';
    this.#at += operator.length;
    const right = operator === '' ? [] : this.#steps(')');
    if (!this.#text.startsWith(')]', this.#at)) throw new Error('unterminated filter');
    this.#at += 2;
    return { kind: 'filter', left, operator: operator || 'exists', right };
  }

  #spaces(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }
}

/** More matches than any column is meant for: a few recursive steps make millions of a small object. */
const MATCHES_LIMIT = 1_000_000;

function evaluate(steps: Step[], input: unknown[]): unknown[] {
  let current = input;
  for (const step of steps) {
    if (current.length === 0) return current;
    chargeWork(current.length);
    current = apply(step, current);
    if (current.length > MATCHES_LIMIT) throw new Error(`more than ${MATCHES_LIMIT} matches`);
  }
  return current;
}

function apply(step: Step, input: unknown[]): unknown[] {
  switch (step.kind) {
    case 'field':
      return input.flatMap((v) => (isMap(v) && Object.hasOwn(v, step.name) ? [v[step.name]] : []));
    case 'value':
      return input.map(() => step.value);
    case 'wildcard':
      return children(input);
    case 'recursive':
      return descendants(input);
    case 'union':
      return step.paths.flatMap((path) => evaluate(path, input));
    case 'slice':
      return input.flatMap((v) => (v === null || v === undefined ? [] : slice(v, step)));
    case 'filter':
      return input.flatMap((v) => filter(v, step));
  }
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function children(input: unknown[]): unknown[] {
  const found: unknown[] = [];
  for (const value of input) {
    const values = childrenOf(value);
    if (found.length + values.length > MATCHES_LIMIT) throw new Error(`more than ${MATCHES_LIMIT} matches`);
    for (const one of values) found.push(one);
  }
  return found;
}

/** Every container that is not empty, each before those in it. */
function descendants(input: unknown[]): unknown[] {
  const found: unknown[] = [];
  const visit = (value: unknown): void => {
    const values = childrenOf(value);
    if (values.length === 0) return;
    if (found.push(value) > MATCHES_LIMIT) throw new Error(`more than ${MATCHES_LIMIT} matches`);
    for (const one of values) visit(one);
  };
  for (const value of input) visit(value);
  return found;
}

function slice(value: unknown, step: Extract<Step, { kind: 'slice' }>): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${typeof value} is not array or slice`);
  const size = value.length;
  let from = step.from ?? 0;
  if (from < 0) from += size;
  let to = step.single ? from + 1 : (step.to ?? size);
  if (to < 0) to += size;
  if (from === to) return [];
  if (from < 0 || from >= size) throw new Error(`array index out of bounds: index ${from}, length ${size}`);
  if (to < 0 || to > size) throw new Error(`array index out of bounds: index ${to - 1}, length ${size}`);
  if (from > to) throw new Error(`starting index ${from} is greater than ending index ${to}`);
  const by = step.step ?? 1;
  if (by <= 0) throw new Error('step must be > 0');
  return value.slice(from, to).filter((_, i) => i % by === 0);
}

function filter(value: unknown, step: Extract<Step, { kind: 'filter' }>): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${String(value)} is not array or slice and cannot be filtered`);
  return value.filter((item) => {
    const lefts = evaluate(step.left, [item]);
    if (step.operator === 'exists') return lefts.length > 0;
    const rights = evaluate(step.right, [item]);
    if (lefts.length === 0 || rights.length === 0) return false;
    if (lefts.length > 1 || rights.length > 1) throw new Error('can only compare one element at a time');
    return compare(lefts[0], step.operator, rights[0]);
  });
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left !== typeof right) throw new Error('incompatible types for comparison');
  const [a, b] = [left as number, right as number];
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  return operator === '<=' ? a <= b : a >= b;
}
