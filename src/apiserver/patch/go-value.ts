/** Values as Go's fmt prints them, for messages that are API. */

/** %v */
export function goPlain(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (typeof value !== 'object') return goNumber(value);
  const map = value as Record<string, unknown>;
  return `map[${Object.keys(map)
    .sort()
    .map((key) => `${key}:${goPlain(map[key])}`)
    .join(' ')}]`;
}

/** %#v */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value !== 'object') return goNumber(value);
  const map = value as Record<string, unknown>;
  const parts = Object.keys(map)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goSyntax(map[key])}`);
  return `map[string]interface {}{${parts.join(', ')}}`;
}

/** Floats of 1e21 and more, or below 1e-4, are written with an exponent of at least two digits. */
function goNumber(value: unknown): string {
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  const text = Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** The kind of Go value a JSON value is decoded to. */
export function goKind(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return 'slice';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map';
  }
}

/** %T, and what reflect.TypeOf prints. */
export function goType(value: unknown): string {
  const kind = goKind(value);
  if (kind === 'slice') return '[]interface {}';
  if (kind === 'map') return 'map[string]interface {}';
  return kind === 'nil' ? '%!s(<nil>)' : kind;
}

/** What Go's JSON decoder calls a value it cannot use. */
export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}
