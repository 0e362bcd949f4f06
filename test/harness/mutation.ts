/**
 * Objects made and broken by their schemas: first something that the schema allows, then changes at random places, of
 * which the schema knows what should be there.
 */
import type { Schema } from '../../src/apiserver/schema/schema.ts';
import type { Chance } from './seeded.ts';

type Json = Record<string, unknown>;

/** Names that every JavaScript object has, or that mean something to some parser. */
const TRAPS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '', '.', '$patch', '$retainKeys'];
const TEXTS = [
  ...TRAPS,
  ...['x', '-', '0', 'a/b', 'ü\0', 'A'.repeat(300), '9'.repeat(40), '*', '100m', '1Gi', '1e999', '-1', '{}', '\ud800'],
  ...['v1', 'apps/v1', 'Always', 'None', 'Deployment', 'default', '2020-01-01T00:00:00Z', '10.0.0.1', '::1', '50%'],
  ...['self.x == 1', 'object.spec', '{.spec}', '.status.replicas', 'a in (b)', '(?=x)', '@every 1m', 'kubernetes.io/x'],
];
const NUMBERS = [0, 1, -1, 1.5, 80, 65_536, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308];
const STRANGE = [null, true, 7, 'x', [], [null], {}, [[]], [{}], { '': null }];

export class Mutation {
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Something the schema allows, as far as it tells. */
  valid(schema: Schema | undefined, depth = 0): unknown {
    const { pick } = this.#chance;
    if (schema?.enum?.length) return pick(schema.enum);
    if (schema?.['x-kubernetes-int-or-string']) return pick([1, 80, '50%', 'http']);
    switch (schema?.type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return Array.from({ length: this.#below(depth > 6 ? 1 : 3) }, () => this.valid(schema.items, depth + 1));
      case 'string':
        return schema.format === 'date-time'
          ? '2020-01-01T00:00:00Z'
          : pick(['a', 'b', 'web', 'x-1', 'http', ...TEXTS]);
      case 'integer':
      case 'number':
        return pick([1, 2, 80, ...NUMBERS]);
      case 'boolean':
        return this.#chance() < 0.5;
      default:
        return this.#chance() < 0.1 ? '100m' : this.#strange();
    }
  }

  /** Changes a few places of an object that has this schema. */
  mutate(object: Json, schema: Schema | undefined): Json {
    const copy = structuredClone(object);
    for (let times = this.#below(4); times > 0; times--) this.#mutateOne(copy, schema);
    return copy;
  }

  /** Operations of a JSON patch on such an object. */
  jsonPatch(object: Json, schema: Schema | undefined): unknown {
    const { pick } = this.#chance;
    const operation = () => {
      const { path, schema: here } = pick(placesOf(object, schema));
      const pointer = `/${path.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
      const op = pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']);
      const value = this.#chance() < 0.5 ? this.valid(here) : this.#strange();
      return {
        op,
        path: this.#chance() < 0.9 ? pointer : pick(['', '/', '/-', '/metadata/-', 'x', ...TRAPS]),
        from: pick(['/metadata', '/spec', pointer]),
        value,
      };
    };
    return Array.from({ length: 1 + this.#below(4) }, operation);
  }

  /** A copy: what is made of it is changed later. */
  #strange(): unknown {
    return structuredClone(this.#chance.pick<unknown>(STRANGE));
  }

  #below(limit: number): number {
    return Math.floor(this.#chance() * limit);
  }

  #object(schema: Schema, depth: number): Json {
    const made: Json = {};
    const { properties = {}, required = [], additionalProperties } = schema;
    const likely = depth < 2 ? 0.6 : depth < 5 ? 0.25 : 0;
    for (const [key, child] of Object.entries(properties)) {
      if (required.includes(key) || this.#chance() < likely) set(made, key, this.valid(child, depth + 1));
    }
    if (typeof additionalProperties === 'object') {
      for (let i = this.#below(3); i > 0; i--) {
        set(made, this.#chance.pick(['a', 'b', 'cpu', ...TRAPS]), this.valid(additionalProperties, depth + 1));
      }
    }
    return made;
  }

  #mutateOne(object: Json, schema: Schema | undefined): void {
    const { pick } = this.#chance;
    const places = placesOf(object, schema);
    if (places.length === 0) return;
    const { container, key, schema: here, parent } = pick(places);
    const roll = this.#chance();
    if (roll < 0.2) remove(container, key);
    else if (roll < 0.45) set(container, key, this.valid(here, 2));
    else if (roll < 0.6) set(container, key, this.#strange());
    else if (roll < 0.7) set(container, key, pick<unknown>(typeof container[key] === 'number' ? NUMBERS : TEXTS));
    else if (roll < 0.8 && Array.isArray(container)) container.push(structuredClone(container[Number(key)]));
    else if (roll < 0.9) set(container, pick(TRAPS), this.#chance() < 0.5 ? pick(TEXTS) : this.#strange());
    else {
      const [name, child] = pick(Object.entries(parent?.properties ?? { x: undefined }));
      set(container, name, this.valid(child, 2));
    }
  }
}

interface Place {
  container: Json;
  key: string;
  path: string[];
  schema: Schema | undefined;
  parent: Schema | undefined;
}

function placesOf(value: unknown, schema: Schema | undefined, path: string[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Json;
  return Object.keys(container).flatMap((key) => {
    const child = childOf(schema, key, Array.isArray(value));
    const here = [...path, key];
    return [{ container, key, path: here, schema: child, parent: schema }, ...placesOf(container[key], child, here)];
  });
}

function childOf(schema: Schema | undefined, key: string, isArray: boolean): Schema | undefined {
  if (isArray) return schema?.items;
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** Own properties only: `__proto__` is a key like any other in JSON. */
function set(container: Json, key: string, value: unknown): void {
  if (Array.isArray(container) && !/^\d+$/.test(key)) container.push(value);
  else Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

function remove(container: Json, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}
