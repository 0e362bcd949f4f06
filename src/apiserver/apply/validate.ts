/** Whether a configuration fits its type; the texts are upstream's (structured-merge-diff typed/validate.go). */
import { chargeWork } from '../allowance.ts';
import { goPlain, goSyntax, goType } from '../patch/go-value.ts';
import { FIELD_WORK } from './field-set.ts';
import { showElement } from './path-element.ts';
import { type ListType, type MapType, NOTHING, type Scalar, type Type } from './type.ts';
import { childElement, childType, ItemError, isMap, itemElement, type JsonMap, shapeOf } from './value.ts';

export interface TypeProblem {
  path: string;
  message: string;
}

export function typeProblems(type: Type, value: unknown): TypeProblem[] {
  const problems: TypeProblem[] = [];
  check(type, value, '', problems);
  return problems;
}

function check(type: Type, value: unknown, path: string, problems: TypeProblem[]): void {
  chargeWork(FIELD_WORK);
  switch (shapeOf(type, value)) {
    case 'map':
      if (isMap(value)) checkMap(type.map as MapType, value, path, problems);
      else if (value !== null) problems.push({ path, message: `expected map, got ${describe(value)}` });
      break;
    case 'list':
      if (Array.isArray(value)) checkList(type.list as ListType, value, path, problems);
      else if (value !== null) problems.push({ path, message: `expected list, got ${describe(value)}` });
      break;
    case 'scalar': {
      const message = scalarProblem(type.scalar as Scalar, value);
      if (message) problems.push({ path, message });
      break;
    }
    default:
      problems.push({ path, message: 'schema error: invalid atom: inlined' });
  }
}

/** As upstream joins them. */
export function showProblems(problems: TypeProblem[]): string {
  const texts = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  return texts.length === 1 ? (texts[0] as string) : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
}

function checkMap(map: MapType, value: JsonMap, path: string, problems: TypeProblem[]): void {
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    const at = path + showElement(childElement(map.fields.get(key), key));
    const type = childType(map, key);
    if (type === NOTHING) {
      problems.push({ path: at, message: 'field not declared in schema' });
      return;
    }
    check(type, child, at, problems);
  }
}

function checkList(list: ListType, items: unknown[], path: string, problems: TypeProblem[]): void {
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    let element = `i:${i}`;
    if (list.associative) {
      try {
        element = itemElement(list, items[i]);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        problems.push({ path, message: `element ${i}: ${error.message}` });
        return;
      }
      if (seen.has(element)) problems.push({ path, message: `duplicate entries for key ${showElement(element)}` });
      seen.add(element);
    }
    check(list.item, items[i], path + showElement(element), problems);
  }
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

/** A value as Go's %v prints the wrapper upstream holds it in. */
function describe(value: unknown): string {
  return `&{${goPlain(value)}}`;
}

function describeGoSyntax(value: unknown): string {
  return `&value.valueUnstructured{Value:${goSyntax(value)}}`;
}
