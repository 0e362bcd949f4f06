/** What is wrong with a JSON text, in the words of Go's decoder: V8 knows the place, and what it expected there. */

const CONTEXTS: [said: RegExp, context: string][] = [
  [/^Expected property name/, 'looking for beginning of object key string'],
  [/^Expected double-quoted property name/, 'looking for beginning of object key string'],
  [/^Expected ':'/, 'after object key'],
  [/^Expected ',' or '}'/, 'after object key:value pair'],
  [/^Expected ',' or ']'/, 'after array element'],
  [/^Bad control character/, 'in string literal'],
  [/^Bad escaped character/, 'in string escape code'],
  [/^Unexpected non-whitespace character/, 'after top-level value'],
];

export function jsonProblem(text: string, { message }: Error): string {
  const at = placeOf(text, message);
  const character = text.charAt(at);
  if (character === '' || /^Unterminated|^Unexpected end/.test(message)) return 'unexpected end of JSON input';
  const context = CONTEXTS.find(([said]) => said.test(message))?.[1] ?? 'looking for beginning of value';
  return `invalid character ${quoted(character)} ${context}`;
}

function placeOf(text: string, message: string): number {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  // Short texts are quoted whole, with the character first and no position.
  const [, token] = /^Unexpected token '(.+?)'/su.exec(message) ?? [];
  return token === undefined ? text.length : Math.max(0, text.indexOf(token));
}

function quoted(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  return `'${JSON.stringify(character).slice(1, -1)}'`;
}
