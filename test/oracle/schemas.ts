/** Random structural schemas, and values that fit them (or nearly). Small alphabets, so that things meet. */
import fc from 'fast-check';
import type { Schema } from '../../src/apiserver/schema/schema.ts';

const STRING: Schema = { type: 'string' };
const names = ['a', 'b', 'c'];
const items = ['x', 'y', 'z', '<&>'];

const scalar = fc.constantFrom<Schema>(
  STRING,
  { type: 'integer' },
  { type: 'boolean' },
  { type: 'string', format: 'date-time' },
  { 'x-kubernetes-int-or-string': true },
);

/** The item schema of a list-map: keys `name` and sometimes `port` with a default. */
function keyed(inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc
    .record({ inner, two: fc.boolean(), defaulted: fc.boolean(), atomic: fc.integer({ min: 0, max: 5 }) })
    .map(({ inner, two, defaulted, atomic }) => ({
      type: 'array' as const,
      'x-kubernetes-list-type': 'map' as const,
      'x-kubernetes-list-map-keys': two ? ['port', 'name'] : ['name'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
      items: {
        type: 'object' as const,
        properties: {
          name: STRING,
          port: { type: 'integer' as const, ...(defaulted ? { default: 80 } : {}) },
          v: inner,
        },
        ...(atomic === 0 ? { 'x-kubernetes-map-type': 'atomic' as const } : {}),
      },
    }));
}

export function schemaArb(depth: number): fc.Arbitrary<Schema> {
  if (depth === 0) return scalar;
  const inner = schemaArb(depth - 1);
  const struct = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inner), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  });
  return fc.oneof(
    { weight: 2, arbitrary: scalar },
    {
      weight: 5,
      arbitrary: struct.map((fields): Schema => ({ type: 'object', properties: Object.fromEntries(fields) })),
    },
    {
      weight: 1,
      arbitrary: struct.map(
        (fields): Schema => ({
          type: 'object',
          properties: Object.fromEntries(fields),
          'x-kubernetes-map-type': 'atomic',
        }),
      ),
    },
    {
      weight: 1,
      arbitrary: struct.map(
        (fields): Schema => ({
          type: 'object',
          properties: Object.fromEntries(fields),
          'x-kubernetes-preserve-unknown-fields': true,
        }),
      ),
    },
    { weight: 2, arbitrary: inner.map((additionalProperties): Schema => ({ type: 'object', additionalProperties })) },
    { weight: 1, arbitrary: fc.constant<Schema>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) },
    { weight: 1, arbitrary: fc.constant<Schema>({ 'x-kubernetes-preserve-unknown-fields': true }) },
    { weight: 3, arbitrary: keyed(inner) },
    {
      weight: 2,
      arbitrary: fc.constant<Schema>({
        type: 'array',
        items: STRING,
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      }),
    },
    {
      weight: 1,
      arbitrary: inner.map((items): Schema => ({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' })),
    },
    { weight: 1, arbitrary: inner.map((items): Schema => ({ type: 'array', items })) },
  );
}

export interface ValueOptions {
  nulls: boolean;
  /** Items of sets and list-maps may occur twice. */
  sloppy: boolean;
  /** Values may be of the wrong type, fields unknown, keys missing. */
  wrong: boolean;
}

const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>('x', 1, true, null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 2 }),
  ),
})).value;

export function valueArb(schema: Schema, options: ValueOptions): fc.Arbitrary<unknown> {
  const plain = plainArb(schema, options);
  const extra: { weight: number; arbitrary: fc.Arbitrary<unknown> }[] = [];
  if (options.nulls) extra.push({ weight: 1, arbitrary: fc.constant(null) });
  if (options.wrong) extra.push({ weight: 1, arbitrary: anything });
  return extra.length > 0 ? fc.oneof({ weight: 14, arbitrary: plain }, ...extra) : plain;
}

function plainArb(schema: Schema, options: ValueOptions): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return schema.format
        ? fc.constantFrom('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z')
        : fc.constantFrom(...items);
    case 'integer':
      return fc.constantFrom(0, 1, 80, 443);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return listArb(schema, options);
    case 'object':
      return mapArb(schema, options);
    default:
      return schema['x-kubernetes-int-or-string'] ? fc.constantFrom<unknown>(1, 'x') : anything;
  }
}

function listArb(schema: Schema, options: ValueOptions): fc.Arbitrary<unknown> {
  const item = schema.items as Schema;
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') {
    const one = fc.constantFrom(...items);
    return options.sloppy ? fc.array(one, { maxLength: 4 }) : fc.uniqueArray(one, { maxLength: 4 });
  }
  if (type !== 'map') return fc.array(valueArb(item, options), { maxLength: 3 });
  const keys = schema['x-kubernetes-list-map-keys'] as string[];
  const one = mapArb(item, { ...options, nulls: false }).map((value) => value as Record<string, unknown>);
  if (options.wrong) return fc.array(one, { maxLength: 4 });
  const named = fc
    .tuple(one, fc.constantFrom(...items))
    .map(([value, name]): Record<string, unknown> => ({ ...value, name }));
  if (options.sloppy) return fc.array(named, { maxLength: 4 });
  const defaulted = item.properties?.port?.default;
  return fc.uniqueArray(named, {
    maxLength: 4,
    selector: (value) =>
      JSON.stringify(keys.map((key) => value[key] ?? (key === 'port' ? defaulted : undefined) ?? null)),
  });
}

function mapArb(schema: Schema, options: ValueOptions): fc.Arbitrary<unknown> {
  const parts: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) parts[name] = valueArb(property, options);
  const more = schema.additionalProperties;
  const free = schema['x-kubernetes-preserve-unknown-fields'] || options.wrong;
  if (typeof more === 'object') for (const name of names) parts[name] ??= valueArb(more, options);
  else if (free) for (const name of [...names, 'd']) parts[name] ??= anything;
  return fc.record(parts, { requiredKeys: [] });
}
