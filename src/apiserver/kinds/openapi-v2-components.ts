/** Definitions of built-in kinds in the older form: references stand beside other words, there are no defaults. */
import type { Components } from './openapi-components.ts';

const SIMPLER: Record<string, object> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { format: 'int-or-string', type: 'string' },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: 'string' },
};

const V3_PREFIX = '#/components/schemas/';

export function referenceV2(name: string): { $ref: string } {
  return { $ref: `#/definitions/${name}` };
}

/** The other way round for a reference as OpenAPI v3 has it. */
export function convertReference({ $ref }: { $ref: string }): { $ref: string } {
  return referenceV2($ref.slice(V3_PREFIX.length));
}

/** From components of OpenAPI v3, which are made by the same tables. */
export function definitionsV2(components: Components): Components {
  const definitions: Components = {};
  for (const [name, schema] of Object.entries(components)) definitions[name] = SIMPLER[name] ?? convert(schema);
  return definitions;
}

function convert(schema: object): object {
  const {
    default: _,
    allOf,
    properties,
    items,
    additionalProperties,
    $ref,
    ...words
  } = schema as Record<string, unknown> & {
    allOf?: { $ref: string }[];
    properties?: Record<string, object>;
    items?: object;
    additionalProperties?: object;
    $ref?: string;
  };
  const to = allOf?.[0]?.$ref ?? $ref;
  return {
    ...(to ? convertReference({ $ref: to }) : {}),
    ...words,
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, convert(child)])) }
      : {}),
    ...(items ? { items: convert(items) } : {}),
    ...(additionalProperties ? { additionalProperties: convert(additionalProperties) } : {}),
  };
}
