/**
 * One step of a field path, in the very string fieldsV1 uses as a key: `f:name` a field, `k:{"name":"x"}` an item of a
 * list-map, `v:"x"` an item of a set, `i:0` an index. The string is canonical, so equality is `===`.
 */

/** A JSON scalar as Go's encoder writes it: like JSON.stringify, but HTML characters and line separators escaped. */
export function goScalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  const text = JSON.stringify(value);
  return /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text;
}

/** Maps and lists may be keys too (nobody means it); Go writes maps with sorted keys. */
function goJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return goScalar(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  const map = value as Record<string, unknown>;
  const parts = Object.keys(map)
    .sort()
    .map((key) => `${goScalar(key)}:${goJson(map[key])}`);
  return `{${parts.join(',')}}`;
}

export function valueElement(value: unknown): string {
  return `v:${goJson(value)}`;
}

/** `names` must be sorted; names without a value in `values` are left out. */
export function keyElement(names: readonly string[], values: readonly unknown[]): string {
  let text = 'k:{';
  for (let i = 0; i < names.length; i++) {
    if (values[i] === undefined) continue;
    if (text.length > 3) text += ',';
    text += `"${names[i]}":${goJson(values[i])}`;
  }
  return `${text}}`;
}

/** The canonical form of a serialised element, undefined if its type is unknown (then it is ignored). Throws when malformed. */
export function canonicalElement(text: string): string | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:');
  if (text[1] !== ':') throw new Error(`missing colon: ${text}`);
  const content = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return `v:${goJson(JSON.parse(content))}`;
    case 'k': {
      const key: unknown = JSON.parse(content);
      if (typeof key !== 'object' || key === null || Array.isArray(key)) throw new Error(`not an object: ${text}`);
      return `k:${goJson(key)}`;
    }
    case 'i':
      if (!/^[+-]?\d+$/.test(content)) throw new Error(`not an index: ${text}`);
      return `i:${Number.parseInt(content, 10)}`;
    default:
      return undefined;
  }
}

/** As messages show it: `.spec`, `[name="x"]`, `[="x"]`, `[0]`. */
export function showElement(element: string): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k': {
      const key = JSON.parse(content) as Record<string, unknown>;
      return `[${Object.keys(key)
        .map((name) => `${name}=${show(key[name])}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${show(JSON.parse(content))}]`;
    default:
      return `[${content}]`;
  }
}

export function showPath(path: readonly string[]): string {
  return path.map(showElement).join('');
}

function show(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[${value.map(show).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, child]) => `${name}=${show(child)}`)
      .join('');
  }
  return String(value);
}

const GO_ESCAPES: Record<string, string> = { '\u0007': '\\a', '\u000b': '\\v' };

/** Go's %q. */
export function goQuote(text: string): string {
  const quoted = JSON.stringify(text);
  if (/^[\x20-\x7e]*$/.test(text)) return quoted;
  return `"${Array.from(text, quoteOne).join('')}"`;
}

function quoteOne(char: string): string {
  const escaped = GO_ESCAPES[char];
  if (escaped) return escaped;
  const code = char.codePointAt(0) as number;
  if (code === 0x22 || code === 0x5c || [8, 9, 10, 12, 13].includes(code)) return JSON.stringify(char).slice(1, -1);
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char) || char === ' ') return char;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

const RANK: Record<string, number> = { '.': 0, f: 1, k: 2, v: 3, i: 4 };

/** The order fieldsV1 is written in: fields by name, then keys, values and indexes by what they hold. */
export function compareElements(a: string, b: string): number {
  const kind = a[0] as string;
  if (kind !== b[0]) return (RANK[kind] ?? 5) - (RANK[b[0] as string] ?? 5);
  if (kind === 'f' || kind === '.') return a < b ? -1 : a > b ? 1 : 0;
  const left: unknown = JSON.parse(a.slice(2));
  const right: unknown = JSON.parse(b.slice(2));
  return kind === 'k' ? compareMaps(left as object, right as object) : compareValues(left, right);
}

function compareMaps(a: object, b: object): number {
  const left = Object.entries(a);
  const right = Object.entries(b);
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [name, value] = left[i] as [string, unknown];
    const [otherName, otherValue] = right[i] as [string, unknown];
    if (name !== otherName) return name < otherName ? -1 : 1;
    const order = compareValues(value, otherValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const TYPES = ['number', 'string', 'boolean', 'list', 'map', 'null'];

function typeRank(value: unknown): number {
  if (value === null) return 5;
  if (Array.isArray(value)) return 3;
  return typeof value === 'object' ? 4 : TYPES.indexOf(typeof value);
}

function compareValues(a: unknown, b: unknown): number {
  const rank = typeRank(a) - typeRank(b);
  if (rank !== 0) return rank;
  if (Array.isArray(a)) return compareMaps(a, b as object);
  if (typeof a === 'object' && a !== null) return compareMaps(a, b as object);
  const left = a as string;
  const right = b as string;
  return left < right ? -1 : left > right ? 1 : 0;
}
