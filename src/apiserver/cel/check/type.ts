/** The types expressions are checked with. */
export type Kind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'param'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'uint';

/** Parts of one type. Maps of maps double with each step, and comparing them takes as long as they are large. */
const MAX_SIZE = 1000;

export class TypeTooLarge extends Error {
  override readonly name = 'TypeTooLarge';
}

export class Type {
  readonly kind: Kind;
  readonly name: string;
  readonly params: readonly Type[];
  private readonly size: number;

  constructor(kind: Kind, name: string, params: readonly Type[] = []) {
    this.kind = kind;
    this.name = name;
    this.params = params;
    this.size = params.reduce((sum, each) => sum + each.size, 1);
    if (this.size > MAX_SIZE) throw new TypeTooLarge('the type of the expression is too large');
  }

  equals(other: Type): boolean {
    if (this === other) return true;
    return (
      this.kind === other.kind &&
      this.name === other.name &&
      this.params.length === other.params.length &&
      this.params.every((param, i) => param.equals(other.params[i] as Type))
    );
  }

  /** As messages show it. */
  toString(): string {
    switch (this.kind) {
      case 'duration':
      case 'timestamp':
      case 'null':
        return this.kind;
      case 'error':
        return '!error!';
      default:
        return this.params.length === 0 ? this.name : `${this.name}(${this.params.join(', ')})`;
    }
  }

  get isDyn(): boolean {
    return this.kind === 'dyn';
  }

  get isOptional(): boolean {
    return this.kind === 'opaque' && this.name === OPTIONAL;
  }
}

const OPTIONAL = 'optional_type';

export const BOOL = new Type('bool', 'bool');
export const BYTES = new Type('bytes', 'bytes');
export const DOUBLE = new Type('double', 'double');
export const DURATION = new Type('duration', 'google.protobuf.Duration');
export const DYN = new Type('dyn', 'dyn');
export const ERROR = new Type('error', 'error');
export const INT = new Type('int', 'int');
export const NULL = new Type('null', 'null_type');
export const STRING = new Type('string', 'string');
export const TIMESTAMP = new Type('timestamp', 'google.protobuf.Timestamp');
export const UINT = new Type('uint', 'uint');
export const TYPE = new Type('type', 'type');

export const listOf = (element: Type) => new Type('list', 'list', [element]);
export const mapOf = (key: Type, value: Type) => new Type('map', 'map', [key, value]);
export const typeOfType = (type: Type) => new Type('type', 'type', [type]);
export const optionalOf = (type: Type) => new Type('opaque', OPTIONAL, [type]);
export const param = (name: string) => new Type('param', name);
export const struct = (name: string) => new Type('struct', name);

const NAMED: Record<string, Type> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  duration: DURATION,
  dyn: DYN,
  int: INT,
  null: NULL,
  string: STRING,
  timestamp: TIMESTAMP,
  uint: UINT,
};

/** `list(A)`, `map(string, dyn)`, `optional(T)`, `type(T)`, `!net.IP` (opaque), `kubernetes.URL` (a struct). */
export function parseType(text: string): Type {
  const known = NAMED[text];
  if (known) return known;
  if (/^[A-Z]$/.test(text)) return param(text);
  const parts = /^(list|map|optional|type)\((.*)\)$/.exec(text);
  if (!parts) return text.startsWith('!') ? new Type('opaque', text.slice(1)) : struct(text);
  const inner = splitTypes(parts[2] as string).map(parseType) as [Type, Type];
  switch (parts[1]) {
    case 'list':
      return listOf(inner[0]);
    case 'map':
      return mapOf(...inner);
    case 'optional':
      return optionalOf(inner[0]);
    default:
      return typeOfType(inner[0]);
  }
}

/** Splits at the commas that are not inside parentheses. */
export function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (char === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += char;
  }
  if (part.trim() !== '') parts.push(part.trim());
  return parts;
}
