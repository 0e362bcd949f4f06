/** Values under a type: which of the type's shapes a value takes, and what identifies an item of a list. */
import { keyElement, valueElement } from './path-element.ts';
import { type Field, type ListType, type MapType, NOTHING, type Type } from './type.ts';

export type JsonMap = Record<string, unknown>;

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own property: `constructor` and `__proto__` are fine names for labels. */
export function get(map: JsonMap, key: string): unknown {
  const value = map[key];
  return typeof value === 'function' || key === '__proto__' ? (Object.hasOwn(map, key) ? value : undefined) : value;
}

export type Shape = 'scalar' | 'list' | 'map';

/** The shape of a type a value takes; null (or a value the type does not allow) takes the first there is. */
export function shapeOf(type: Type, value: unknown): Shape | undefined {
  if (value !== null) {
    if (typeof value !== 'object') {
      if (type.scalar) return 'scalar';
    } else if (Array.isArray(value)) {
      if (type.list) return 'list';
    } else if (type.map) {
      return 'map';
    }
  }
  if (type.map) return 'map';
  if (type.scalar) return 'scalar';
  return type.list ? 'list' : undefined;
}

/** Whether a value leaves open which shape it takes. */
function isOpen(type: Type, value: unknown): boolean {
  return value === null && Number(!!type.scalar) + Number(!!type.list) + Number(!!type.map) > 1;
}

/**
 * The shapes two values have to be looked at in: one when they agree, else the left one's, then the right one's.
 */
export function shapesOf(type: Type, left: unknown, right: unknown): [Shape | undefined, Shape | undefined] {
  const l = shapeOf(type, left);
  const r = shapeOf(type, right);
  return l === r && isOpen(type, left) === isOpen(type, right) ? [undefined, r] : [l, r];
}

export function childType(map: MapType, key: string): Type {
  return map.fields.get(key)?.type ?? map.element ?? NOTHING;
}

export function childElement(field: Field | undefined, key: string): string {
  return field ? field.element : `f:${key}`;
}

export class ItemError extends Error {}

/** The path element of an item of an associative list. Throws ItemError for an item without identity. */
export function itemElement(list: ListType, item: unknown): string {
  return list.sortedKeys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListType, item: unknown): string {
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (!isMap(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const values: unknown[] = [];
  let found = false;
  for (let i = 0; i < list.sortedKeys.length; i++) {
    let value = get(item, list.sortedKeys[i] as string);
    if (value === undefined) value = list.keyDefaults[i];
    if (value !== undefined) found = true;
    values.push(value);
  }
  if (!found) {
    const names = list.keys.map((key) => JSON.stringify(key)).join(' ');
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(list.sortedKeys, values);
}

function setElement(item: unknown): string {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

/** itemElement for values that are stored already: an item without identity has none, instead of an error. */
export function tryItemElement(list: ListType, item: unknown): string | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}
