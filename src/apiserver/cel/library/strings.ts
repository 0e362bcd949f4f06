/** The strings extension, version 2, and Kubernetes' `find` and `findAll`. Positions count characters, not UTF-16 units. */
import type { RE2JS } from 're2js';
import { compilePattern, mindPattern } from '../../schema/pattern.ts';
import { declare, type FunctionDeclaration, type Implementation } from '../check/declarations.ts';
import { stepOver, stepThrough } from '../run/meter.ts';
import { show } from '../values/show.ts';
import { CelError, Items, type List, type Value } from '../values/value.ts';
import { formatString } from './format-string.ts';

const fn = (run: (...args: never[]) => Value) => run as Implementation;

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

/** Almost all texts have no pairs, and there the two ways of counting agree. */
function runes(text: string): readonly string[] | string {
  return /[\ud800-\udfff]/.test(text) ? [...text] : text;
}

const joined = (part: readonly string[] | string) => (typeof part === 'string' ? part : part.join(''));

function charAt(text: string, index: bigint): Value {
  const all = runes(text);
  if (index < 0n || index > BigInt(all.length)) return outOfRange(index);
  return all[Number(index)] ?? '';
}

function indexOf(text: string, part: string, offset: bigint): Value {
  if (part === '') return offset;
  stepThrough(text, part);
  if (offset < 0n) return outOfRange(offset);
  const [all, sub] = [runes(text), runes(part)];
  if (offset >= BigInt(all.length)) return -1n;
  if (typeof all === 'string' && typeof sub === 'string') return BigInt(all.indexOf(sub, Number(offset)));
  for (let i = Number(offset); i + sub.length <= all.length; i++) if (isAt(all, sub, i)) return BigInt(i);
  return -1n;
}

function lastIndexOf(text: string, part: string, offset?: bigint): Value {
  stepThrough(text, part);
  const [all, sub] = [runes(text), runes(part)];
  if (part === '') return offset ?? BigInt(all.length);
  if (offset === undefined && Buffer.byteLength(text) < Buffer.byteLength(part)) return -1n;
  const from = offset ?? BigInt(all.length - 1);
  if (from < 0n) return outOfRange(from);
  if (from >= BigInt(all.length)) return -1n;
  for (let i = Math.min(Number(from), all.length - sub.length); i >= 0; i--) if (isAt(all, sub, i)) return BigInt(i);
  return -1n;
}

function isAt(all: readonly string[] | string, sub: readonly string[] | string, at: number): boolean {
  if (typeof all === 'string' && typeof sub === 'string') return all.startsWith(sub, at);
  for (let j = 0; j < sub.length; j++) if (all[at + j] !== sub[j]) return false;
  return true;
}

function replace(text: string, from: string, to: string, limit = -1n): Value {
  if (limit === 0n || from === to) return text;
  stepThrough(text, from);
  const parts = from === '' ? ['', ...text, ''] : text.split(from);
  if (from === '' && text === '') return to;
  const count = limit < 0n ? parts.length - 1 : Math.min(Number(limit), parts.length - 1);
  stepOver(text.length + parts.length + count * to.length);
  const glue = from;
  return (
    parts.slice(0, count + 1).join(to) +
    parts
      .slice(count + 1)
      .map((part) => glue + part)
      .join('')
  );
}

function split(text: string, separator: string, limit = -1n): Value {
  if (limit === 0n) return new Items([]);
  stepThrough(text, separator);
  const parts = separator === '' ? [...text] : text.split(separator);
  if (limit < 0n || BigInt(parts.length) <= limit) return new Items(parts);
  const count = Number(limit) - 1;
  return new Items([...parts.slice(0, count), parts.slice(count).join(separator)]);
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const all = runes(text);
  const length = BigInt(all.length);
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end);
  return joined(all.slice(Number(start), end === undefined ? undefined : Number(end)));
}

/** What Unicode calls white space, as Go's TrimSpace does. */
const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Step by step from both ends: a pattern for the end would start again at every space in between. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text[start] as string)) start++;
  while (end > start && SPACE.test(text[end - 1] as string)) end--;
  return text.slice(start, end);
}

function join(list: List, separator = ''): Value {
  const parts: string[] = [];
  for (const item of list.toArray()) {
    stepOver(typeof item === 'string' ? item.length + separator.length : 0);
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${show(item)}`);
    parts.push(item);
  }
  return parts.join(separator);
}

const ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): Value {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the bell is one of the characters escaped
  return `"${text.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => ESCAPES[char] as string)}"`;
}

function find(text: string, pattern: string, limit: number): string[] | CelError {
  const re: RE2JS | Error = compilePattern(pattern);
  if (re instanceof Error) return new CelError(`Illegal regex: ${re.message}`);
  mindPattern(re, text);
  const found: string[] = [];
  const matcher = re.matcher(text);
  let end = -1;
  while ((limit < 0 || found.length < limit) && matcher.find()) {
    // Nothing right after a match is no match of its own.
    if (matcher.end() === matcher.start() && matcher.start() === end) continue;
    end = matcher.end();
    found.push(matcher.group() ?? '');
  }
  return found;
}

function findAll(text: string, pattern: string, limit = -1n): Value {
  const found = find(text, pattern, Number(limit));
  return found instanceof CelError ? found : new Items(found);
}

export const STRINGS: FunctionDeclaration[] = [
  declare('charAt', { string_char_at_int: ['string.(int) string', fn(charAt)] }),
  declare('indexOf', {
    string_index_of_string: ['string.(string) int', fn((a: string, b: string) => indexOf(a, b, 0n))],
    string_index_of_string_int: ['string.(string, int) int', fn(indexOf)],
  }),
  declare('lastIndexOf', {
    string_last_index_of_string: ['string.(string) int', fn((a: string, b: string) => lastIndexOf(a, b))],
    string_last_index_of_string_int: ['string.(string, int) int', fn(lastIndexOf)],
  }),
  declare('lowerAscii', {
    string_lower_ascii: ['string.() string', fn((a: string) => a.replace(/[A-Z]+/g, (part) => part.toLowerCase()))],
  }),
  declare('replace', {
    string_replace_string_string: ['string.(string, string) string', fn(replace)],
    string_replace_string_string_int: ['string.(string, string, int) string', fn(replace)],
  }),
  declare('split', {
    string_split_string: ['string.(string) list(string)', fn((a: string, b: string) => split(a, b))],
    string_split_string_int: ['string.(string, int) list(string)', fn(split)],
  }),
  declare('substring', {
    string_substring_int: ['string.(int) string', fn((a: string, b: bigint) => substring(a, b))],
    string_substring_int_int: ['string.(int, int) string', fn(substring)],
  }),
  declare('trim', { string_trim: ['string.() string', fn(trim)] }),
  declare('upperAscii', {
    string_upper_ascii: ['string.() string', fn((a: string) => a.replace(/[a-z]+/g, (part) => part.toUpperCase()))],
  }),
  declare('format', { string_format: ['string.(list(dyn)) string', fn(formatString), 'variadic'] }),
  declare('strings.quote', { strings_quote: ['(string) string', fn(quote)] }),
  declare('join', {
    list_join: ['list(string).() string', fn((list: List) => join(list))],
    list_join_string: ['list(string).(string) string', fn(join)],
  }),
  declare('find', {
    string_find_string: [
      'string.(string) string',
      fn((text: string, pattern: string) => {
        const found = find(text, pattern, 1);
        return found instanceof CelError ? found : (found[0] ?? '');
      }),
    ],
  }),
  declare('findAll', {
    string_find_all_string: ['string.(string) list(string)', fn((a: string, b: string) => findAll(a, b))],
    string_find_all_string_int: ['string.(string, int) list(string)', fn(findAll)],
  }),
];
