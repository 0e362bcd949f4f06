/** Splits an expression into tokens, as the CEL grammar has them. */
import { type Issue, MAX_ISSUES } from './issue.ts';

export type TokenKind =
  | 'punctuation'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'ident'
  | 'escaped'
  | 'word'
  | 'end';

export interface Token {
  kind: TokenKind;
  text: string;
  at: number;
}

const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const STRING = [
  `"""(?:${ESCAPE}|[^\\\\])*?"""`,
  `'''(?:${ESCAPE}|[^\\\\])*?'''`,
  `"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`,
  `'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`,
  `[rR]"""[^]*?"""`,
  `[rR]'''[^]*?'''`,
  `[rR]"[^"\\n\\r]*"`,
  `[rR]'[^'\\n\\r]*'`,
].join('|');

const FORMS: [TokenKind | 'skip', RegExp][] = [
  ['skip', /[\t \r\n\f]+|\/\/[^\n]*/y],
  ['bytes', new RegExp(`[bB](?:${STRING})`, 'y')],
  ['string', new RegExp(STRING, 'y')],
  ['double', /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y],
  ['uint', /0x[0-9a-fA-F]+[uU]|\d+[uU]/y],
  ['int', /0x[0-9a-fA-F]+|\d+/y],
  ['ident', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['escaped', /`[A-Za-z0-9_.\-/ ]+`/y],
  ['punctuation', /==|!=|<=|>=|&&|\|\||[[\]{}().,\-!?:+*/%<>]/y],
];

const WORDS = new Set(['in', 'true', 'false', 'null']);

export function tokenize(source: string, issues: Issue[]): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const token = next(source, at);
    if (token === undefined) {
      if (issues.length === MAX_ISSUES) {
        issues.push({ at, message: `Syntax error: More than ${MAX_ISSUES} syntax errors` });
        break;
      }
      const bad = unrecognized(source, at);
      issues.push({ at, message: `Syntax error: token recognition error at: '${shown(bad)}'` });
      at += bad.length;
      continue;
    }
    at += token.text.length;
    if (token.kind !== 'skip') tokens.push({ ...token, kind: token.kind });
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length });
  return tokens;
}

function next(source: string, at: number): { kind: TokenKind | 'skip'; text: string; at: number } | undefined {
  for (const [kind, form] of FORMS) {
    form.lastIndex = at;
    const text = form.exec(source)?.[0];
    if (text !== undefined) return { kind: kind === 'ident' && WORDS.has(text) ? 'word' : kind, text, at };
  }
  return undefined;
}

/** An open quote swallows what follows it, up to where the string could no longer go on. */
function unrecognized(source: string, at: number): string {
  const quote = source[at] as string;
  if (quote === '"' || quote === "'") {
    const rest = new RegExp(`${quote}(?:${ESCAPE}|[^\\\\${quote}\\n\\r])*\\\\?.?`, 'y');
    rest.lastIndex = at;
    return (rest.exec(source)?.[0] as string) ?? quote;
  }
  if (quote === '&' || quote === '|' || quote === '=') return source.slice(at, at + 2);
  return String.fromCodePoint(source.codePointAt(at) as number);
}

function shown(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
}
