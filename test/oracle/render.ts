/** Values as the oracle's program writes them: equal values have equal texts. */
import { Type } from '../../src/apiserver/cel/check/type.ts';
import { formatTime } from '../../src/apiserver/cel/values/time.ts';
import {
  CelError,
  Duration,
  List,
  MapValue,
  Optional,
  Timestamp,
  typeName,
  Uint,
  type Value,
} from '../../src/apiserver/cel/values/value.ts';

export function render(value: Value): string {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value === null) return 'null';
  if (typeof value === 'number') return double(value);
  if (typeof value === 'string') return quote(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  if (value instanceof Timestamp) return `timestamp ${formatTime(value.nanos)}`;
  if (value instanceof Duration) return `duration ${value.nanos}`;
  if (value instanceof Optional) return value.value === undefined ? 'none' : `optional ${render(value.value)}`;
  if (value instanceof Type) return `type ${value.name}`;
  if (value instanceof CelError) return `error ${value.message}`;
  if (value instanceof List) return `[${value.toArray().map(render).join(', ')}]`;
  if (value instanceof MapValue) {
    const parts = [...value.keys()].map((key) => `${render(key)}: ${render(value.find(key) as Value)}`);
    return `{${parts.sort().join(', ')}}`;
  }
  return typeName(value);
}

function double(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = value.toExponential(12).replace(/e([+-])(\d)$/, 'e$10$2');
  return Object.is(value, -0) ? `-${text}` : text;
}

/** strconv.QuoteToASCII. */
function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (code >= 0x20 && code < 0x7f) out += char;
    else if (SHORT[char]) out += SHORT[char];
    else if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
    else out += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return `${out}"`;
}

const SHORT: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
