/**
 * Pruning, defaults and validation of custom resources judged by apiextensions-apiserver: random schemas with bounds,
 * random objects that fit, nearly fit, or do not. ORACLE_RUNS sets the number of cases, ORACLE_SEED repeats a run.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyDefaults, dropNulls } from '../../src/apiserver/schema/defaults.ts';
import { validateListTypes } from '../../src/apiserver/schema/list-type.ts';
import { pruneResource } from '../../src/apiserver/schema/prune.ts';
import type { Schema } from '../../src/apiserver/schema/schema.ts';
import { validate } from '../../src/apiserver/schema/validate.ts';
import { buildOracle, Oracle } from './oracle.ts';
import { schemaArb, valueArb } from './schemas.ts';

const RUNS = Number(process.env.ORACLE_RUNS ?? 1000);
const settings = { numRuns: RUNS * 3, ...(process.env.ORACLE_SEED ? { seed: Number(process.env.ORACLE_SEED) } : {}) };
const TIMEOUT = 1_200_000;

/** Words that bound values, put on the nodes of a schema as they are met. */
const bounds = fc.record({
  text: fc.constantFrom<Partial<Schema>>(
    {},
    { maxLength: 0 },
    { minLength: 2 },
    { pattern: '^[xy]$' },
    { enum: ['x', 'y'] },
    { default: 'x' },
    { nullable: true },
  ),
  number: fc.constantFrom<Partial<Schema>>(
    {},
    { maximum: 1 },
    { minimum: 1 },
    { multipleOf: 2 },
    { enum: [0, 80] },
    { default: 80 },
  ),
  list: fc.constantFrom<Partial<Schema>>({}, { maxItems: 1 }, { minItems: 2 }, { default: [] }),
  map: fc.constantFrom<Partial<Schema>>(
    {},
    { maxProperties: 1 },
    { minProperties: 1 },
    { required: ['a'] },
    { default: {} },
    { nullable: true },
  ),
});

function bounded(
  schema: Schema,
  words: { text: Partial<Schema>; number: Partial<Schema>; list: Partial<Schema>; map: Partial<Schema> },
  depth = 0,
): Schema {
  const out: Schema = { ...schema };
  const keyed = schema['x-kubernetes-list-type'] === 'map';
  if (schema.items && !keyed) out.items = bounded(schema.items, words, depth + 1);
  if (typeof schema.additionalProperties === 'object')
    out.additionalProperties = bounded(schema.additionalProperties, words, depth + 1);
  if (schema.properties) {
    out.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, bounded(property, words, depth + 1)]),
    );
  }
  if (schema.type === 'string' && !schema.format) return { ...out, ...words.text };
  if (schema.type === 'integer') return { ...out, ...words.number };
  if (schema.type === 'array') return { ...out, ...words.list };
  return schema.type === 'object' && depth > 0 ? { ...out, ...words.map } : out;
}

describe.skipIf(!process.env.ROOKERY_ORACLE)('custom resources against upstream', () => {
  let oracle: Oracle;

  beforeAll(() => {
    oracle = new Oracle(buildOracle());
  }, TIMEOUT);
  afterAll(() => {
    console.log(`oracle: ${oracle.asked} custom resources`);
    oracle.close();
  });

  it(
    'pruned, defaulted, validated',
    async () => {
      const cases = fc.tuple(schemaArb(3), bounds, fc.boolean()).chain(([inner, words, wrong]) => {
        const spec = bounded(inner, words);
        const schema: Schema = { type: 'object', properties: { spec } };
        const value = valueArb(inner, { nulls: true, sloppy: wrong, wrong });
        return fc.record({ schema: fc.constant(schema), spec: value, more: fc.boolean() });
      });
      await fc.assert(
        fc.asyncProperty(cases, async ({ schema, spec, more }) => {
          const sent = {
            apiVersion: 'example.com/v1',
            kind: 'Thing',
            metadata: { name: 'it' },
            spec,
            ...(more ? { other: 1 } : {}),
          };
          const theirs = await oracle.ask({ op: 'structural', schema, object: sent });
          if (theirs.error !== undefined) return;
          const object = JSON.parse(JSON.stringify(sent));
          pruneResource(object, schema);
          dropNulls(object, schema);
          applyDefaults(object, schema);
          const errors = [...validate(object, schema), ...validateListTypes(object, schema)];
          const texts = errors.map(({ field, message }) => `${field}: ${message}`).sort();
          expect({ object, errors: texts }).toEqual({
            object: theirs.result.object,
            errors: [...(theirs.result.errors ?? [])].sort(),
          });
        }),
        settings,
      );
    },
    TIMEOUT,
  );
});
