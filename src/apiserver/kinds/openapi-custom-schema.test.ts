import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema/schema.ts';
import { publishedV2, publishedV3 } from './openapi-custom-schema.ts';

const FIELDS = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { $ref: 'meta' } } as const;
const string: Schema = { type: 'string' };
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});

describe('schemas of CRDs in OpenAPI v2', () => {
  const cases: [what: string, schema: Schema, published: object][] = [
    ['defaults go', object({ a: { type: 'string', default: 'x' } }), object({ a: string })],
    [
      'junctors go',
      object({ a: string }, { allOf: [{ required: ['a'] }], oneOf: [{}], anyOf: [{}], not: { required: ['b'] } }),
      object({ a: string }),
    ],
    [
      'what may be null has no type, fields or items, and is not required',
      object(
        {
          a: { type: 'array', items: string, nullable: true },
          b: object({ c: string }, { nullable: true }),
          d: string,
        },
        { required: ['a', 'b', 'd'] },
      ),
      { type: 'object', properties: { a: {}, b: {}, d: string }, required: ['d'] },
    ],
    [
      'no list of required fields is left empty',
      object({ a: { type: 'string', nullable: true } }, { required: ['a'] }),
      { type: 'object', properties: { a: {} } },
    ],
    [
      'a list that keeps unknown fields has no type',
      { type: 'array', items: string, 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      'an embedded resource names its fields',
      object({ spec: object({}) }, { 'x-kubernetes-embedded-resource': true, required: ['kind'] }),
      {
        type: 'object',
        properties: { spec: { type: 'object', properties: {} }, ...FIELDS },
        required: ['kind', 'apiVersion'],
        'x-kubernetes-embedded-resource': true,
      },
    ],
    [
      'unless it keeps unknown fields',
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      'maps and markers stay',
      { type: 'object', additionalProperties: { type: 'integer', format: 'int32' }, 'x-kubernetes-map-type': 'atomic' },
      { type: 'object', additionalProperties: { type: 'integer', format: 'int32' }, 'x-kubernetes-map-type': 'atomic' },
    ],
  ];
  it.each(cases)('%s', (_, schema, published) => {
    const before = structuredClone(schema);
    expect(publishedV2(schema, FIELDS)).toEqual(published);
    expect(schema).toEqual(before);
  });
});

describe('schemas of CRDs in OpenAPI v3', () => {
  const either = [{ type: 'integer' }, { type: 'string' }];
  const marker = { 'x-kubernetes-int-or-string': true };

  it('names both types of a number or text', () => {
    expect(publishedV3(object({ a: marker }), FIELDS).properties?.a).toEqual({ ...marker, anyOf: either });
    const own: Schema = { ...marker, anyOf: [{ pattern: 'x' }], allOf: [{ minLength: 1 }] };
    expect(publishedV3(own, FIELDS)).toEqual({ ...own, allOf: [{ anyOf: either }, { minLength: 1 }] });
    const said = { ...marker, anyOf: either } as Schema;
    expect(publishedV3(said, FIELDS)).toEqual(said);
  });

  it('keeps null and defaults, and names the fields of an embedded resource', () => {
    const embedded: Schema = { type: 'object', 'x-kubernetes-embedded-resource': true, nullable: true, default: {} };
    expect(publishedV3(object({ a: embedded }), FIELDS).properties?.a).toEqual({
      ...embedded,
      properties: FIELDS,
      required: ['kind', 'apiVersion'],
    });
  });
});
