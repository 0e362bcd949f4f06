import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone } from '../json.ts';
import { checkTypes } from './check-types.ts';
import { applyDefaults } from './defaults.ts';
import { validateListTypes } from './list-type.ts';
import { compilePattern, matchesPattern } from './pattern.ts';
import { prune, pruneResource } from './prune.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

const texts = (value: unknown, schema: Schema, old?: unknown) =>
  validate(value, schema, '', old).map((e) => `${e.field}: ${e.message}`);

const spec = (property: Schema): Schema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { x: property } } },
});

describe('prune', () => {
  it('removes what the schema does not name and says where it was', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } } },
        },
      },
    };
    const object = {
      apiVersion: 'a/v1',
      kind: 'A',
      metadata: { name: 'x', foo: 1 },
      spec: { foo: 1, list: [{ a: 'x', bar: 2 }] },
    };
    expect(pruneResource(object, schema)).toEqual(['metadata.foo', 'spec.foo', 'spec.list[0].bar']);
    expect(object).toEqual({ apiVersion: 'a/v1', kind: 'A', metadata: { name: 'x' }, spec: { list: [{ a: 'x' }] } });
  });

  it('keeps below preserve-unknown-fields, but prunes named children again', () => {
    const schema: Schema = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: { type: 'string' } } } },
    };
    const object = { known: { a: '1', b: '2' }, free: { deep: [1, { x: 1 }] } };
    expect(prune(object, schema)).toEqual(['known.b']);
    expect(object).toEqual({ known: { a: '1' }, free: { deep: [1, { x: 1 }] } });
  });

  it('knows embedded resources', () => {
    const schema: Schema = {
      type: 'object',
      properties: { template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: {} } } },
    };
    const object = { template: { apiVersion: 'v1', kind: 'P', metadata: { name: 'a', bad: 1 }, spec: { a: 1 }, z: 1 } };
    expect(prune(object, schema)).toEqual(['template.metadata.bad', 'template.spec.a', 'template.z']);
  });

  it('walks cyclic schemas of built-in kinds along the value', () => {
    const node: Schema = { type: 'object', properties: { name: { type: 'string' } } };
    (node.properties as Record<string, Schema>).next = node;
    const object = { name: 'a', next: { name: 'b', typo: 1, next: { name: 'c', oops: 2 } } };
    expect(prune(object, node)).toEqual(['next.typo', 'next.next.oops']);
  });
});

describe('applyDefaults', () => {
  it('fills, replaces null where null is not allowed, and drops null without default', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        a: { type: 'string', default: 'x' },
        b: { type: 'string', nullable: true, default: 'x' },
        c: { type: 'string' },
        d: { type: 'object', default: {}, properties: { e: { type: 'integer', default: 3 } } },
      },
    };
    const object = { a: null, b: null, c: null };
    applyDefaults(object, schema);
    expect(object).toEqual({ a: 'x', b: null, d: { e: 3 } });
  });
});

describe('validate words errors like kube-apiserver', () => {
  it.each<[string, unknown, Schema, string[]]>([
    [
      'pattern',
      'abc',
      { type: 'string', pattern: '^[0-9]+$' },
      [`spec.x: Invalid value: "abc": spec.x in body should match '^[0-9]+$'`],
    ],
    [
      'type',
      'a',
      { type: 'integer' },
      ['spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"'],
    ],
    [
      'null',
      null,
      { type: 'integer' },
      ['spec.x: Invalid value: "null": spec.x in body must be of type integer: "null"'],
    ],
    ['enum', 'x', { type: 'string', enum: ['a', 'b'] }, ['spec.x: Unsupported value: "x": supported values: "a", "b"']],
    [
      'minimum',
      0,
      { type: 'integer', minimum: 1 },
      ['spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1'],
    ],
    [
      'maximum',
      5,
      { type: 'integer', maximum: 5, exclusiveMaximum: true },
      ['spec.x: Invalid value: 5: spec.x in body should be less than 5'],
    ],
    ['maxLength', 'abcd', { type: 'string', maxLength: 3 }, ['spec.x: Too long: may not be more than 3 bytes']],
    ['maxItems', [1, 2], { type: 'array', maxItems: 1 }, ['spec.x: Too many: 2: must have at most 1 item']],
    [
      'minItems',
      [],
      { type: 'array', minItems: 1 },
      ['spec.x: Invalid value: 0: spec.x in body should have at least 1 items'],
    ],
    ['required', {}, { type: 'object', required: ['y'] }, ['spec.x.y: Required value']],
    [
      'format',
      'noon',
      { type: 'string', format: 'date-time' },
      ['spec.x: Invalid value: "noon": spec.x in body must be of type date-time: "noon"'],
    ],
    [
      'int-or-string',
      true,
      { 'x-kubernetes-int-or-string': true },
      ['spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"'],
    ],
    ['int32 is no constraint in CRDs', 2 ** 40, { type: 'integer', format: 'int32' }, []],
    [
      'oneOf',
      {},
      { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
        'spec.x.a: Required value',
      ],
    ],
  ])('%s', (_, value, schema, expected) => {
    expect(texts({ spec: { x: value } }, spec(schema))).toEqual(expected);
  });

  it('does not hold unchanged parts against an update', () => {
    const schema = spec({ type: 'string', maxLength: 2 });
    const old = { spec: { x: 'too long' } };
    expect(texts({ spec: { x: 'too long' } }, schema, old)).toEqual([]);
    expect(texts({ spec: { x: 'other' } }, schema, old)).toEqual(['spec.x: Too long: may not be more than 2 bytes']);
  });

  it('finds duplicates in sets and maps', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        s: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        m: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      },
    };
    const found = validateListTypes({ s: ['a', 'a', 'a'], m: [{ k: 1 }, { k: 2 }, { k: 1 }] }, schema);
    expect(found.map((e) => `${e.field}: ${e.message}`)).toEqual([
      's[1]: Duplicate value: "a"',
      'm[2]: Duplicate value: {"k":1}',
    ]);
  });

  it('is linear for evil patterns', () => {
    const started = performance.now();
    texts({ spec: { x: `${'a'.repeat(50_000)}!` } }, spec({ type: 'string', pattern: '^(a+)+$' }));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('checkTypes', () => {
  const deployment: Schema = {
    type: 'object',
    properties: {
      metadata: {
        type: 'object',
        properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } },
      },
      spec: {
        type: 'object',
        properties: { replicas: { type: 'integer', format: 'int32' }, paused: { type: 'boolean' } },
      },
    },
  };
  it('words the decoding error', () => {
    const problem = (object: unknown) => {
      try {
        checkTypes(object, deployment, 'Deployment');
        return undefined;
      } catch (error) {
        return (error as TypeError).message;
      }
    };
    expect(problem({ spec: { replicas: 'two' } })).toBe(
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
    expect(problem({ spec: { replicas: 3_000_000_000 } })).toBe(
      'json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
    expect(problem({ spec: [] })).toBe(
      'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec',
    );
  });
  it('drops null', () => {
    const object = { spec: { replicas: null }, metadata: { labels: { a: null } } };
    checkTypes(object, deployment, 'Deployment');
    expect(object).toEqual({ spec: {}, metadata: { labels: { a: '' } } });
  });
});

// ---- properties ------------------------------------------------------------------------------------------------

describe('names that every object of JavaScript has', () => {
  const schema = JSON.parse(`{
    "type": "object",
    "properties": {
      "constructor": { "type": "string", "default": "d" },
      "held": { "type": "object", "default": { "__proto__": { "x": 1 } } }
    }
  }`) as Schema;
  it('are fields like others', () => {
    const value = JSON.parse('{"held":null,"toString":1}');
    expect(prune(value, schema)).toEqual(['toString']);
    applyDefaults(value, schema);
    expect(JSON.stringify(value)).toBe('{"held":{"__proto__":{"x":1}},"constructor":"d"}');
  });
});

const { schema: anySchema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Schema>({ type: 'string' }, { type: 'string', default: 'd' }, { type: 'integer', nullable: true }),
    fc.record({ type: fc.constant('array' as const), items: tie('schema') }) as fc.Arbitrary<Schema>,
    fc.record({ type: fc.constant('object' as const), additionalProperties: tie('schema') }) as fc.Arbitrary<Schema>,
    fc
      .record({
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 3 }),
        preserve: fc.boolean(),
        fill: fc.boolean(),
      })
      .map(
        ({ properties, preserve, fill }): Schema => ({
          type: 'object',
          properties,
          ...(preserve ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
          ...(fill ? { default: {} } : {}),
        }),
      ),
  ),
}));
const anyValue = fc.jsonValue({ maxDepth: 4 }).map((v) => clone(v));

describe('properties', () => {
  it('pruning and defaulting are idempotent, and defaulting adds nothing to prune', () => {
    fc.assert(
      fc.property(anySchema, anyValue, (schema, value) => {
        prune(value, schema);
        expect(prune(value, schema)).toEqual([]);
        applyDefaults(value, schema);
        const once = clone(value);
        applyDefaults(value, schema);
        expect(value).toEqual(once);
        expect(prune(value, schema)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('an update never has errors that a create would not have', () => {
    const words = (list: { field: string; message: string }[]) => list.map((e) => `${e.field}: ${e.message}`);
    fc.assert(
      fc.property(anySchema, anyValue, anyValue, (schema, value, old) => {
        const create = words(validate(value, schema));
        for (const text of words(validate(value, schema, '', old))) expect(create).toContain(text);
      }),
    );
  });
});

describe('patterns', () => {
  it('mean the same whichever engine runs them', () => {
    const part = fc.constantFrom('[a-c]', '[^a]', 'a', '\\.', '[a-z-]', '[.]', '-');
    const many = fc.constantFrom('', '', '', '?', '{1,2}', '+', '*');
    const pattern = fc.tuple(
      fc.array(
        fc.tuple(part, many).map((p) => p.join('')),
        { maxLength: 4 },
      ),
      fc.constantFrom('', '$'),
    );
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom('a', 'b', 'z', '.', '-', '\n', '😀'), maxLength: 6 }),
        ([parts, end], text) => {
          const source = `^${parts.join('')}${end}`;
          const re = compilePattern(source);
          if (re instanceof Error) throw re;
          expect([source, text, matchesPattern(source, text)]).toEqual([source, text, re.matcher(text).find()]);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
