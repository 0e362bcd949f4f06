/**
 * A schema as merging and ownership see it: what a value is (scalar, list, map), and whether its parts have owners of
 * their own. Compiled once per schema and lazily, since schemas of built-in kinds are cyclic.
 * The rules are kube-openapi's (pkg/schemaconv/openapi.go).
 */
import type { Schema } from '../schema/schema.ts';
import { withObjectMeta } from './object-schema.ts';

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListType {
  /** Items have identity: by `keys`, or by value in a set (no keys). Otherwise the list is one value. */
  associative: boolean;
  /** As declared, for messages. */
  keys: readonly string[];
  /** Sorted, for path elements. */
  sortedKeys: readonly string[];
  /** Values of `sortedKeys` an item may leave out. */
  keyDefaults: readonly unknown[];
  readonly item: Type;
}

export interface Field {
  /** `f:<name>`, made once. */
  element: string;
  readonly type: Type;
  /** What an absent field counts as, for kinds that are Go structs upstream. */
  absent: Record<string, never> | null | undefined;
}

export interface MapType {
  atomic: boolean;
  /** Named fields; owned through what is in them. */
  fields: Map<string, Field>;
  /** Fields whose absence counts as a value (see Field.absent). */
  always: readonly [string, Field][];
  /** Type of all other keys; undefined when there may be none. */
  readonly element: Type | undefined;
  /** Nothing known, everything allowed: schema changes cannot be told from it. */
  deduced: boolean;
}

/** At least one of these; more than one where the schema allows it, and the value decides. */
export interface Type {
  readonly scalar?: Scalar;
  readonly list?: ListType;
  readonly map?: MapType;
}

export interface CompileOptions {
  /** Built-in kinds: upstream they are Go structs, whose nested structs are there even when empty. */
  structs?: boolean;
}

const UNTYPED_ATOMIC: Type = {
  scalar: 'untyped',
  list: atomicList(() => UNTYPED_ATOMIC),
  map: {
    atomic: true,
    fields: new Map(),
    always: [],
    deduced: false,
    get element() {
      return UNTYPED_ATOMIC;
    },
  },
};

/** A value of unknown type: maps have owners per key, lists are one value. */
const DEDUCED: Type = {
  scalar: 'untyped',
  list: atomicList(() => UNTYPED_ATOMIC),
  map: {
    atomic: false,
    fields: new Map(),
    always: [],
    deduced: true,
    get element() {
      return DEDUCED;
    },
  },
};

/** What no value conforms to; stands in where the schema knows no such field. */
export const NOTHING: Type = {};

function atomicList(item: () => Type): ListType {
  return {
    associative: false,
    keys: [],
    sortedKeys: [],
    keyDefaults: [],
    get item() {
      return item();
    },
  };
}

type Cache = WeakMap<Schema, Type>;
const caches = new Map<string, Cache>();

/** The type of a kind's root schema. */
export function typeOf(schema: Schema, options: CompileOptions = {}): Type {
  const cache = cacheFor(`root ${options.structs ?? false}`);
  let type = cache.get(schema);
  if (!type) {
    type = new Compiler(options.structs ?? false).compile(withObjectMeta(schema), false);
    cache.set(schema, type);
  }
  return type;
}

function cacheFor(name: string): Cache {
  let cache = caches.get(name);
  if (!cache) {
    cache = new WeakMap();
    caches.set(name, cache);
  }
  return cache;
}

class Compiler {
  readonly structs: boolean;

  constructor(structs: boolean) {
    this.structs = structs;
  }

  /** `preserve`: an ancestor keeps unknown fields. */
  compile(schema: Schema, preserve: boolean): Type {
    const cache = cacheFor(`${this.structs} ${preserve}`);
    let type = cache.get(schema);
    if (!type) {
      type = this.build(schema, preserve);
      cache.set(schema, type);
    }
    return type;
  }

  private build(schema: Schema, inherited: boolean): Type {
    const inner = schema.allOf?.[0];
    // `allOf: [x]` is how OpenAPI v3 writes a reference with words of its own.
    if (inner && !schema.type && schema.allOf?.length === 1 && !schema.properties) {
      return this.build({ ...inner, ...schema, type: inner.type, allOf: undefined }, inherited);
    }
    const preserve = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
    switch (schema.type) {
      case undefined:
        return { scalar: 'untyped', list: this.list(schema, preserve), map: this.map(schema, preserve) };
      case 'object':
        return { map: this.map(schema, preserve) };
      case 'array':
        return { list: this.list(schema, preserve) };
      case 'string':
        // Formats such as date-time and int-or-string accept more than strings.
        return { scalar: !schema.format || schema.format === 'byte' ? 'string' : 'untyped' };
      case 'boolean':
        return { scalar: 'boolean' };
      default:
        return { scalar: 'numeric' };
    }
  }

  private list(schema: Schema, preserve: boolean): ListType {
    const { associative, keys } = identity(schema);
    const items = schema.items;
    const sortedKeys = [...keys].sort();
    const item = once(() => (items ? this.compile(this.embedded(items), preserve) : UNTYPED_ATOMIC));
    return {
      associative,
      keys,
      sortedKeys,
      keyDefaults: sortedKeys.map((key) => propertyOf(items, key)?.default ?? undefined),
      get item() {
        return item();
      },
    };
  }

  private map(schema: Schema, preserve: boolean): MapType {
    const fields = new Map<string, Field>();
    const required = new Set(this.structs ? schema.required : []);
    for (const name of Object.keys(schema.properties ?? {})) {
      fields.set(name, this.field(name, schema.properties?.[name] as Schema, required.has(name), preserve));
    }
    const element = once(() => this.element(schema, preserve));
    return {
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
      fields,
      always: [...fields].filter(([, field]) => field.absent !== undefined),
      deduced: fields.size === 0 && (element() === DEDUCED || element()?.scalar === 'untyped'),
      get element() {
        return element();
      },
    };
  }

  private field(name: string, schema: Schema, required: boolean, preserve: boolean): Field {
    const type = once(() => this.compile(this.embedded(schema), preserve));
    return {
      element: `f:${name}`,
      absent: this.structs ? absence(schema, required) : undefined,
      get type() {
        return type();
      },
    };
  }

  private element(schema: Schema, preserve: boolean): Type | undefined {
    const more = schema.additionalProperties;
    if (more === undefined) return preserve || !schema.properties ? DEDUCED : undefined;
    if (typeof more === 'object') return this.compile(this.embedded(more), preserve);
    return more ? DEDUCED : undefined;
  }

  private embedded(schema: Schema): Schema {
    if (!schema['x-kubernetes-embedded-resource']) return schema;
    const cache = cacheFor('embedded') as unknown as WeakMap<Schema, Schema>;
    let whole = cache.get(schema);
    if (!whole) {
      whole = withObjectMeta(schema);
      cache.set(schema, whole);
    }
    return whole;
  }
}

function identity(schema: Schema): { associative: boolean; keys: string[] } {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { associative: true, keys: [] };
    case 'map':
      return { associative: true, keys: schema['x-kubernetes-list-map-keys'] ?? [] };
    case 'atomic':
      return { associative: false, keys: [] };
  }
  // Lists of built-in kinds from before list types say it by their patch strategy.
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { associative: false, keys: [] };
  const key = schema['x-kubernetes-patch-merge-key'];
  return { associative: true, keys: key === undefined ? [] : [key] };
}

function propertyOf(schema: Schema | undefined, name: string): Schema | undefined {
  return schema?.properties?.[name] ?? schema?.allOf?.[0]?.properties?.[name];
}

/**
 * A struct that is no pointer is there even when empty (OpenAPI shows it by the default `{}`), and a list, map or
 * pointer without omitempty (OpenAPI shows it by `required`) is null when empty.
 */
function absence(schema: Schema, required: boolean): Record<string, never> | null | undefined {
  const { default: value } = schema;
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0)
    return {};
  const type = schema.type ?? schema.allOf?.[0]?.type;
  return required && (type === 'object' || type === 'array') ? null : undefined;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
