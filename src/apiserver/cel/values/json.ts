/** JSON as values without a schema: what policies see of objects. Converted where it is looked at, no further. */
import { chargeWork } from '../../allowance.ts';
import { CelError, List, MapValue, type Value } from './value.ts';

type Json = Record<string, unknown>;

/** Whole numbers are integers. */
export function jsonValue(json: unknown): Value {
  switch (typeof json) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return json;
    case 'number':
      return Number.isInteger(json) && Math.abs(json) < 2 ** 63 ? BigInt(json) : json;
    case 'object':
      if (json === null) return null;
      return Array.isArray(json) ? new JsonList(json) : new JsonMap(json as Json);
    default:
      return new CelError(`unsupported conversion to ref.Val: (${typeof json})`);
  }
}

class JsonList extends List {
  private readonly items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  at(index: number): Value {
    return jsonValue(this.items[index]);
  }
}

class JsonMap extends MapValue {
  private readonly json: Json;
  private count: number | undefined;

  constructor(json: Json) {
    super();
    this.json = json;
  }

  get size(): number {
    if (this.count === undefined) {
      this.count = Object.keys(this.json).length;
      chargeWork(this.count);
    }
    return this.count;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.json, key)) return undefined;
    const value = this.json[key];
    return value === undefined ? undefined : jsonValue(value);
  }

  *keys(): Iterable<Value> {
    for (const key of Object.keys(this.json)) if (this.json[key] !== undefined) yield key;
  }
}

/** The JSON behind a value, for answers and comparisons. */
export function toJson(value: Value): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof List) return value.toArray().map(toJson);
  if (value instanceof MapValue) {
    return Object.fromEntries([...value.keys()].map((key) => [String(key), toJson(value.find(key) as Value)]));
  }
  return value;
}
