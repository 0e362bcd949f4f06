/** `"%s has %d".format([…])`: at run time, and what can be said of it before. */
import { TakesLong } from '../../allowance.ts';
import { STRING, TYPE, type Type } from '../check/type.ts';
import { CostExceeded, step, stepOver } from '../run/meter.ts';
import type { Call, Expr } from '../syntax/ast.ts';
import { compareText } from '../values/numbers.ts';
import { formatDuration, formatTime } from '../values/time.ts';
import { CelError, Duration, List, MapValue, Timestamp, typeName, typeOf, Uint, type Value } from '../values/value.ts';
import { convert } from './convert.ts';

class FormatError extends Error {
  readonly id?: number;

  constructor(message: string, id?: number) {
    super(message);
    this.id = id;
  }
}

type Clause = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';

const WRONG: Record<string, string> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given',
  d: 'decimal clause can only be used on integers, was given',
  f: 'fixed-point clause can only be used on doubles, was given',
  e: 'scientific clause can only be used on doubles, was given',
  b: 'only integers and bools can be formatted as binary, was given',
  x: 'only integers, byte buffers, and strings can be formatted as hex, was given',
  o: 'octal clause can only be used on integers, was given',
};

function wrong(clause: string, type: string, id?: number): FormatError {
  return new FormatError(`${WRONG[clause.toLowerCase()]} ${type}`, id);
}

interface Args {
  size: number;
  format(index: number, clause: Clause, precision: number | undefined): string;
}

/** Walks a format string; each clause takes the next argument. */
function interpolate(format: string, args: Args): string {
  let out = '';
  let next = 0;
  for (let i = 0; i < format.length; ) {
    const char = format[i] as string;
    if (char !== '%') {
      out += char;
      i++;
      continue;
    }
    if (format[i + 1] === '%') {
      out += '%';
      i += 2;
      continue;
    }
    if (next >= args.size) throw new FormatError(`index ${next} out of range`);
    if (i + 1 >= format.length) throw new FormatError('unexpected end of string');
    const { clause, precision, length } = parseClause(format.slice(i + 1));
    try {
      out += args.format(next, clause, precision);
    } catch (error) {
      if (error instanceof CostExceeded || error instanceof TakesLong) throw error;
      throw new FormatError(`error during formatting: ${(error as Error).message}`, (error as FormatError).id);
    }
    i += 1 + length;
    next++;
  }
  return out;
}

function parseClause(text: string): { clause: Clause; precision?: number; length: number } {
  const failed = (message: string) => new FormatError(`could not parse formatting clause: ${message}`);
  const match = /^(?:\.(\d*))?/.exec(text) as RegExpExecArray;
  const clause = text[match[0].length];
  if (match[1] !== undefined) {
    const bad = 'error while parsing precision: ';
    if (clause === undefined) throw failed(`${bad}could not find end of precision specifier`);
    if (match[1] === '') {
      throw failed(`${bad}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`);
    }
  }
  if (clause === undefined || !'sdfebxXo'.includes(clause)) throw failed(`unrecognized formatting clause "${clause}"`);
  const precision = match[1] === undefined ? undefined : Number(match[1]);
  return { clause: clause as Clause, precision, length: match[0].length + 1 };
}

export function formatString(format: string, list: List): Value {
  try {
    return interpolate(format, {
      size: list.size,
      format: (index, clause, precision) => formatValue(list.at(index), clause, precision),
    });
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

function formatValue(value: Value, clause: Clause, precision: number | undefined): string {
  const integer = typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined;
  switch (clause) {
    case 's':
      return text(value);
    case 'd':
      if (integer !== undefined) return String(integer);
      break;
    case 'f':
    case 'e': {
      const double = asDouble(value);
      if (double !== undefined)
        return clause === 'f' ? fixed(double, precision ?? 6) : scientific(double).padStart(precision ?? 6);
      break;
    }
    case 'b':
      if (integer !== undefined) return integer.toString(2);
      if (typeof value === 'boolean') return value ? '1' : '0';
      break;
    case 'o':
      if (integer !== undefined) return integer.toString(8);
      break;
    default: {
      const hex =
        integer?.toString(16) ??
        (typeof value === 'string' || value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined);
      if (hex !== undefined) return clause === 'X' ? hex.toUpperCase() : hex;
    }
  }
  throw wrong(clause, typeName(value));
}

function asDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (value === 'NaN') return Number.NaN;
  if (value === 'Infinity') return Infinity;
  return value === '-Infinity' ? -Infinity : undefined;
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? '∞' : '-∞';
}

/** Numbers are written the American way, with commas. */
function fixed(value: number, precision: number): string {
  const known = special(value);
  if (known) return known;
  const [whole = '', fraction] = (precision > 100 ? value.toFixed(100) : value.toFixed(precision)).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const SUPERSCRIPT: Record<string, string> = { '-': '⁻', '+': '' };
'⁰¹²³⁴⁵⁶⁷⁸⁹'.split('').forEach((char, i) => {
  SUPERSCRIPT[i] = char;
});

/** Upstream takes the precision for a width, so that there are always six digits. */
function scientific(value: number): string {
  const known = special(value);
  if (known) return known;
  const [mantissa = '', exponent = '0'] = value.toExponential(6).split('e');
  const sign = exponent.startsWith('-') ? '-' : '';
  const power = `${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
  return `${mantissa}×10${[...power].map((char) => SUPERSCRIPT[char]).join('')}`;
}

const TEXTUAL = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'google.protobuf.Timestamp',
  'bytes',
  'google.protobuf.Duration',
  'type',
]);

function text(value: Value): string {
  if (value instanceof List) return listText(value);
  if (value instanceof MapValue) return mapText(value);
  if (value === null) return 'null';
  if (!TEXTUAL.has(typeName(value))) throw wrong('s', typeName(value));
  if (typeOf(value) === TYPE) return (value as Type).name;
  const converted = convert(value, STRING);
  if (typeof converted !== 'string')
    throw new FormatError(`could not convert argument ${JSON.stringify((converted as CelError).message)} to string`);
  return converted;
}

/** Inside lists and maps, values are written so that one can tell what they are. */
function member(value: Value): string {
  step();
  if (typeof value === 'string') {
    stepOver(value.length);
    return goQuote(value);
  }
  if (value instanceof Uint8Array) return `b${goQuote(text(value))}`;
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(6) : `"${special(value)?.replace('∞', '+Inf')}"`;
  if (value instanceof Timestamp) return `timestamp("${formatTime(value.nanos, value.offset)}")`;
  if (value instanceof Duration) return `duration("${formatDuration(value.nanos)}")`;
  if (value instanceof List) return listText(value);
  if (value instanceof MapValue) return mapText(value);
  if (!TEXTUAL.has(typeName(value)) && value !== null)
    throw new FormatError(`no formatting function for ${typeName(value)}`);
  return text(value);
}

function listText(list: List): string {
  return `[${list.toArray().map(member).join(', ')}]`;
}

function mapText(map: MapValue): string {
  const pairs: [string, string][] = [];
  for (const key of map.keys()) {
    if (!['string', 'bool', 'int', 'uint'].includes(typeName(key))) {
      throw new FormatError(`no formatting function for map key of type ${typeName(key)}`);
    }
    pairs.push([member(key), member(map.find(key) as Value)]);
  }
  pairs.sort(([a], [b]) => compareText(a, b));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

/** Go's %q: as JSON, but for a few escapes. */
function goQuote(value: string): string {
  return JSON.stringify(value)
    .replace(/\\u00([01][0-9a-f])/g, (_, hex) => (hex === '07' ? '\\a' : hex === '0b' ? '\\v' : `\\x${hex}`))
    .replaceAll('\x7f', '\\x7f');
}

const ALLOWED: Record<string, readonly string[]> = {
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
};

/** Format strings written out, with their arguments: clauses and arguments must fit. */
export function formatIssues(
  call: Call,
  types: ReadonlyMap<number, Type>,
  say: (id: number, message: string) => void,
): void {
  const [target, args] = [call.target, call.args[0]];
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || args?.kind !== 'list') return;
  let used = 0;
  const fits = (expr: Expr, clause: string): number | undefined => {
    const type = types.get(expr.id) as Type;
    if (!type.isDyn && !ALLOWED[clause.toLowerCase()]?.includes(type.kind)) return expr.id;
    if (clause !== 's') return undefined;
    const inner =
      expr.kind === 'list' ? expr.elements : expr.kind === 'map' ? expr.entries.flatMap((e) => [e.key, e.value]) : [];
    for (const each of inner) {
      const bad = fits(each, 's');
      if (bad !== undefined) return bad;
    }
    return undefined;
  };
  try {
    // The checker counts clauses as they ask, before it knows whether there are as many arguments.
    interpolate(target.value, {
      size: args.elements.length,
      format(index, clause) {
        used++;
        const bad = fits(args.elements[index] as Expr, clause);
        if (bad !== undefined) throw wrong(clause, (types.get(bad) as Type).name, bad);
        return '';
      },
    });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    say(error.id ?? call.id, error.message);
    return;
  }
  if (args.elements.length > used) {
    say(call.id, `too many arguments supplied to string.format (expected ${used}, got ${args.elements.length})`);
  }
}
