/** What CEL's strings extension (version 2) has and cel-js has not. */
import type { Library } from '../engine.ts';
import { chargeCharacters } from '../meter.ts';
import { array } from './lists.ts';

export function registerStrings(library: Library): void {
  library
    .add('string.replace(string, string): string', (text: string, from: string, to: string) =>
      replaceSome(text, from, to, -1),
    )
    .add('string.replace(string, string, int): string', (text: string, from: string, to: string, limit: bigint) =>
      replaceSome(text, from, to, Number(limit)),
    )
    .add('string.charAt(int): string', (text: string, at: bigint) => {
      const runes = [...text];
      const index = Number(at);
      if (index < 0 || index > runes.length) return library.fail(`index out of range: ${at}`);
      return runes[index] ?? '';
    })
    .add('string.format(list): string', (text: string, args: unknown[]) => format(library, text, array(args)));
  library.namespace('strings', { 'quote(string): string': (text: string) => JSON.stringify(text) });
}

function replaceSome(text: string, from: string, to: string, limit: number): string {
  // An empty pattern is found between all characters: what comes out may be much longer than what goes in.
  const found = from === '' ? text.length + 1 : text.split(from).length - 1;
  chargeCharacters((limit < 0 ? found : Math.min(found, limit)) * to.length);
  if (limit < 0) return text.replaceAll(from, () => to);
  let rest = text;
  let out = '';
  for (let n = 0; n < limit; n++) {
    const at = rest.indexOf(from);
    if (at < 0) break;
    out += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return out + rest;
}

function format(library: Library, text: string, args: unknown[]): string {
  let next = 0;
  return text.replace(/%(%|(?:\.(\d+))?([sdfexXob]))|%/g, (clause, body, precision, verb) => {
    if (body === '%') return '%';
    if (body === undefined)
      return library.fail(`could not parse formatting clause: unrecognized formatting clause "${clause}"`);
    if (next >= args.length) return library.fail(`index ${next} out of range`);
    const value = args[next++];
    if (verb === 's') return show(value);
    if (verb === 'd') return typeof value === 'bigint' ? String(value) : show(value);
    if (verb === 'b') return typeof value === 'boolean' ? String(Number(value)) : BigInt(value as bigint).toString(2);
    if (verb === 'o') return BigInt(value as bigint).toString(8);
    if (verb === 'f') return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
    if (verb === 'e') return exponent(Number(value), precision === undefined ? 6 : Number(precision));
    const hex = typeof value === 'string' ? Buffer.from(value).toString('hex') : BigInt(value as bigint).toString(16);
    return verb === 'X' ? hex.toUpperCase() : hex;
  });
}

function exponent(value: number, precision: number): string {
  return value.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
}

function show(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (Array.isArray(value) || value instanceof Set) return `[${array(value).map(quoted).join(', ')}]`;
  if (typeof value === 'object' && (value.constructor === Object || value instanceof Map)) {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return `{${entries
      .map(([k, v]) => `${quoted(k)}: ${quoted(v)}`)
      .sort()
      .join(', ')}}`;
  }
  return String(value);
}

/** Strings inside aggregates are quoted. */
function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : show(value);
}
