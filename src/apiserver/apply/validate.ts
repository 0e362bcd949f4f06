/** Whether a configuration fits its type; the texts are upstream's (structured-merge-diff typed/validate.go). */
import { showElement } from './path-element.ts';
import { type ListType, type MapType, NOTHING, type Scalar, type Type } from './type.ts';
import { childElement, childType, ItemError, isMap, itemElement, type JsonMap, shapeOf } from './value.ts';

export interface TypeProblem {
  path: string;
  message: string;
}

export function typeProblems(type: Type, value: unknown, path = ''): TypeProblem[] {
  switch (shapeOf(type, value)) {
    case 'map':
      if (value === null) return [];
      if (!isMap(value)) return [{ path, message: `expected map, got ${describe(value)}` }];
      return mapProblems(type.map as MapType, value, path);
    case 'list':
      if (value === null) return [];
      if (!Array.isArray(value)) return [{ path, message: `expected list, got ${describe(value)}` }];
      return listProblems(type.list as ListType, value, path);
    case 'scalar': {
      const message = scalarProblem(type.scalar as Scalar, value);
      return message ? [{ path, message }] : [];
    }
    default:
      return [{ path, message: 'schema error: invalid atom: inlined' }];
  }
}

/** As upstream joins them. */
export function showProblems(problems: TypeProblem[]): string {
  const texts = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  return texts.length === 1 ? (texts[0] as string) : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
}

function mapProblems(map: MapType, value: JsonMap, path: string): TypeProblem[] {
  const problems: TypeProblem[] = [];
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    const field = map.fields.get(key);
    const at = path + showElement(childElement(field, key));
    const type = childType(map, key);
    if (type === NOTHING) {
      problems.push({ path: at, message: 'field not declared in schema' });
      break;
    }
    problems.push(...typeProblems(type, child, at));
  }
  return problems;
}

function listProblems(list: ListType, items: unknown[], path: string): TypeProblem[] {
  const problems: TypeProblem[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    let element = `i:${i}`;
    if (list.associative) {
      try {
        element = itemElement(list, items[i]);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        problems.push({ path, message: `element ${i}: ${error.message}` });
        return problems;
      }
      if (seen.has(element)) problems.push({ path, message: `duplicate entries for key ${showElement(element)}` });
      seen.add(element);
    }
    problems.push(...typeProblems(list.item, items[i], path + showElement(element)));
  }
  return problems;
}

function scalarProblem(scalar: Scalar, value: unknown): string | undefined {
  if (value === null) return undefined;
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got ${describeGoSyntax(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${describe(value)}`;
    default:
      return typeof value === 'object' ? `expected any scalar, got ${describe(value)}` : undefined;
  }
}

function goType(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

/** A value as Go's %v prints the wrapper upstream holds it in. */
function describe(value: unknown): string {
  return `&{${goPlain(value)}}`;
}

function goPlain(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (typeof value === 'object') {
    const map = value as JsonMap;
    return `map[${Object.keys(map)
      .sort()
      .map((key) => `${key}:${goPlain(map[key])}`)
      .join(' ')}]`;
  }
  return String(value);
}

function describeGoSyntax(value: unknown): string {
  return `&value.valueUnstructured{Value:${goSyntax(value)}}`;
}

function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value === 'object') {
    const map = value as JsonMap;
    return `map[string]interface {}{${Object.keys(map)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${goSyntax(map[key])}`)
      .join(', ')}}`;
  }
  return String(value);
}
