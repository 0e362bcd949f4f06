/** From a kind's definition to its CustomResourceDefinition: zod → structural OpenAPI v3 with the Kubernetes markers. */
import { z } from 'zod';
import type { KindDefinition } from './kind.ts';
import type { KubeObject } from './object.ts';

type Json = Record<string, unknown>;

export function crdOf(kind: KindDefinition): KubeObject {
  const { group, version, plural, shortNames, categories, scope } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(kind.labels ? { labels: kind.labels } : {}) },
    spec: {
      group,
      names: {
        plural,
        singular: kind.kind.toLowerCase(),
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        shortNames,
        categories,
      },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(kind) },
          subresources: { status: {}, ...(kind.scale ? { scale: kind.scale } : {}) },
          additionalPrinterColumns: kind.columns.map(({ type = 'string', ...column }) => ({ type, ...column })),
        },
      ],
    },
  };
}

function rootSchema(kind: KindDefinition): Json {
  return {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structural(kind.spec),
      status: structural(kind.status),
    },
    ...(kind.rules ? { 'x-kubernetes-validations': kind.rules } : {}),
  };
}

/** What zod says, without what a structural schema may not say. */
export function structural(schema: z.ZodType): Json {
  return cleaned(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as Json);
}

function cleaned(schema: Json): Json {
  const result: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    // zod bounds every integer by what JavaScript can count to; that is no rule of ours.
    if (typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER) continue;
    if (key === '$schema' || (key === 'additionalProperties' && value === false)) continue;
    result[key] = value;
  }
  if (schema['x-kubernetes-int-or-string']) {
    // The form the API server wants: types only inside anyOf.
    result.anyOf = [{ type: 'integer' }, { type: 'string' }];
    delete result.type;
  }
  if (schema['x-kubernetes-preserve-unknown-fields']) delete result.additionalProperties;
  if (isObject(result.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(result.properties).map(([name, property]) => [name, cleaned(property as Json)]),
    );
  }
  if (isObject(result.items)) result.items = cleaned(result.items);
  if (isObject(result.additionalProperties)) result.additionalProperties = cleaned(result.additionalProperties);
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
