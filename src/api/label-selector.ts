/** Label selectors: the text form of query parameters and the object form of specs, matched the same way. */

type Operator = 'in' | 'notin' | 'exists' | '!exists' | '>' | '<';

interface Requirement {
  key: string;
  operator: Operator;
  values: string[];
}

export type LabelSelector = readonly Requirement[];

export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export const EVERYTHING: LabelSelector = [];

export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

const QUALIFIED_NAME = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Parses `a=b,c!=d,e in (f,g),h,!i`. Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  const scanner = new Scanner(text);
  const requirements: Requirement[] = [];
  scanner.skipSpace();
  if (scanner.atEnd()) return EVERYTHING;
  for (;;) {
    requirements.push(parseRequirement(scanner));
    if (scanner.atEnd()) break;
    scanner.expect(',');
  }
  return requirements;
}

function parseRequirement(scanner: Scanner): Requirement {
  if (scanner.take('!')) return { key: checkKey(scanner.word()), operator: '!exists', values: [] };
  if (/[=<>()]/.test(scanner.peek())) {
    throw new SelectorError(`found '${scanner.peek()}', expected: !, identifier, or 'end of string'`);
  }
  const key = checkKey(scanner.word());
  if (scanner.atEnd() || scanner.peek() === ',') return { key, operator: 'exists', values: [] };
  if (scanner.take('!=')) return { key, operator: 'notin', values: [checkValue(key, scanner.word(true))] };
  if (scanner.take('==') || scanner.take('=')) {
    return { key, operator: 'in', values: [checkValue(key, scanner.word(true))] };
  }
  if (scanner.take('>')) return { key, operator: '>', values: [checkInteger(scanner.word())] };
  if (scanner.take('<')) return { key, operator: '<', values: [checkInteger(scanner.word())] };
  const operator = scanner.word();
  if (operator !== 'in' && operator !== 'notin') {
    throw new SelectorError(`unable to parse requirement: found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
  scanner.expect('(');
  const values: string[] = [];
  do values.push(checkValue(key, scanner.word(true)));
  while (scanner.take(','));
  if (!scanner.take(')')) {
    throw new SelectorError(`unable to parse requirement: found '${scanner.peek()}', expected: ',', ')' or identifier`);
  }
  return { key, operator, values };
}

/** `null` selects nothing, an empty object everything, as for workloads' selectors. */
export function selectorFromObject(selector: LabelSelectorObject | null | undefined): LabelSelector | undefined {
  if (!selector) return undefined;
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: 'in', values: [value] });
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    requirements.push({ key, operator: objectOperator(operator), values: values ?? [] });
  }
  return requirements;
}

export function matchesLabels(selector: LabelSelector, labels: Record<string, string> | undefined): boolean {
  for (const requirement of selector) {
    const { key } = requirement;
    if (!meets(requirement, labels && Object.hasOwn(labels, key) ? labels[key] : undefined)) return false;
  }
  return true;
}

/** The canonical text, requirements sorted by key, as `/scale` reports it. */
export function formatLabelSelector(selector: LabelSelector): string {
  return [...selector]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(formatRequirement)
    .join(',');
}

function formatRequirement({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key;
  if (operator === '!exists') return `!${key}`;
  if (operator === '>' || operator === '<') return `${key}${operator}${values[0]}`;
  if (operator === 'in' && values.length === 1) return `${key}=${values[0]}`;
  return `${key} ${operator} (${[...values].sort().join(',')})`;
}

function meets({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!exists':
      return value === undefined;
    default: {
      if (value === undefined || !/^-?\d+$/.test(value)) return false;
      const difference = BigInt(value) - BigInt(values[0] ?? '0');
      return operator === '>' ? difference > 0n : difference < 0n;
    }
  }
}

function objectOperator(operator: string): Operator {
  switch (operator) {
    case 'In':
      return 'in';
    case 'NotIn':
      return 'notin';
    case 'Exists':
      return 'exists';
    case 'DoesNotExist':
      return '!exists';
    default:
      throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`);
  }
}

function checkKey(key: string): string {
  if (key.length <= 317 && QUALIFIED_NAME.test(key)) return key;
  throw new SelectorError(
    `<nil>: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
  );
}

function checkValue(key: string, value: string): string {
  if (LABEL_VALUE.test(value)) return value;
  throw new SelectorError(
    `values[0][${key}]: Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
  );
}

function checkInteger(text: string): string {
  if (/^-?\d+$/.test(text)) return text;
  throw new SelectorError(
    `values[0]: Invalid value: ${JSON.stringify(text)}: for 'Gt', 'Lt' operators, the value must be an integer`,
  );
}

class Scanner {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  atEnd(): boolean {
    this.skipSpace();
    return this.#at >= this.#text.length;
  }

  peek(): string {
    this.skipSpace();
    return this.#text[this.#at] ?? '';
  }

  take(token: string): boolean {
    this.skipSpace();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) {
      throw new SelectorError(`unable to parse requirement: found '${this.peek()}', expected: '${token}'`);
    }
  }

  word(mayBeEmpty = false): string {
    this.skipSpace();
    const start = this.#at;
    while (this.#at < this.#text.length && !/[\s,()=!<>]/.test(this.#text[this.#at] as string)) this.#at++;
    const word = this.#text.slice(start, this.#at);
    if (!word && !mayBeEmpty) {
      throw new SelectorError(`unable to parse requirement: found '${this.peek()}', expected: identifier`);
    }
    return word;
  }
}
