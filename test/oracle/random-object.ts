/** The schema that random expressions are about, and objects that fit it. */
import type { Schema } from '../../src/apiserver/schema/schema.ts';
import type { Dice } from './dice.ts';

const text: Schema = { type: 'string', maxLength: 50 };
const integer: Schema = { type: 'integer' };
const item: Schema = {
  type: 'object',
  properties: { name: text, port: integer, tags: { type: 'array', maxItems: 3, items: text } },
};

export const SCHEMA: Schema = {
  type: 'object',
  properties: {
    n: integer,
    m: integer,
    d: { type: 'number' },
    s: text,
    t: { type: 'string' },
    e: { type: 'string', enum: ['one', 'three'] },
    b: { type: 'boolean' },
    bytes: { type: 'string', format: 'byte', maxLength: 20 },
    time: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    wait: { type: 'string', format: 'duration' },
    either: { 'x-kubernetes-int-or-string': true },
    maybe: { type: 'string', nullable: true, maxLength: 5 },
    list: { type: 'array', maxItems: 10, items: integer },
    unbound: { type: 'array', items: text },
    texts: { type: 'array', maxItems: 5, items: text },
    set: { type: 'array', maxItems: 5, 'x-kubernetes-list-type': 'set', items: text },
    doubles: { type: 'array', maxItems: 5, items: { type: 'number' } },
    waits: { type: 'array', maxItems: 5, items: { type: 'string', format: 'duration' } },
    nested: { type: 'array', maxItems: 4, items: { type: 'array', maxItems: 4, items: integer } },
    map: { type: 'object', maxProperties: 3, additionalProperties: integer },
    objects: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: item,
    },
    object: { ...item, required: ['name'] },
    'a-b': integer,
    in: integer,
    x__y: text,
  },
};

const WORDS = [
  '',
  'a',
  'ab',
  'one',
  'Hello World',
  'x,y,z',
  '10.0.0.1',
  '1.2.3',
  '1Gi',
  '2020-01-02T03:04:05Z',
  'über',
  '日本',
  '10.0.0.0/8',
  'https://a.example:8080/p?q=1',
  '1h',
  '%s',
  '::1',
  'v1.2',
  '😀x',
];

/** An object that fits; fields are left out now and then. Maps have one entry: Go walks them in no certain order. */
export function randomObject(dice: Dice): Record<string, unknown> {
  const maybe = (make: () => unknown) => (dice.roll(6) === 0 ? undefined : make());
  const word = () => dice.pick(WORDS);
  const number = () => dice.pick([0, 1, 2, 3, -1, 7, 100, 2147483647]);
  const many = (make: () => unknown, most: number) => Array.from({ length: dice.roll(most + 1) }, make);
  const one = (name = word()) => ({ name, port: maybe(number), tags: maybe(() => many(word, 3)) });
  const object: Record<string, unknown> = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'it' },
    n: maybe(number),
    m: maybe(number),
    d: maybe(() => dice.pick([0.5, 1.5, -2.25, 3.75, 1e10, 0.1])),
    s: maybe(word),
    t: maybe(word),
    e: maybe(() => dice.pick(['one', 'three'])),
    b: maybe(() => dice.roll(2) === 0),
    bytes: maybe(() => dice.pick(['', 'YQ==', 'aGVsbG8='])),
    time: maybe(() => dice.pick(['2020-01-02T03:04:05Z', '2021-12-31T23:59:59.5Z', '1999-07-01T00:00:00+02:00'])),
    day: maybe(() => '2020-02-29'),
    wait: maybe(() => dice.pick(['1h', '90s', '1h30m', '0s', '250ms'])),
    either: maybe(() => dice.pick<unknown>([1, 'x', '1'])),
    maybe: dice.pick([null, 'a', undefined]),
    list: maybe(() => many(number, 5)),
    unbound: maybe(() => many(word, 4)),
    texts: maybe(() => many(word, 4)),
    set: maybe(() => [...new Set(many(word, 4))]),
    doubles: maybe(() => many(() => dice.pick([0.5, 2.5, -1.5]), 3)),
    waits: maybe(() => many(() => dice.pick(['1s', '2m']), 3)),
    nested: maybe(() => many(() => many(number, 3), 3)),
    map: maybe(() => ({ k: number() })),
    objects: maybe(() => ['a', 'b', 'c'].slice(dice.roll(4)).map((name) => one(name))),
    object: maybe(() => one()),
    'a-b': maybe(number),
    in: maybe(number),
    x__y: maybe(word),
  };
  return JSON.parse(JSON.stringify(object));
}
