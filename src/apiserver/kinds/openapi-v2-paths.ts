/** Paths of one resource in the older form, from those of OpenAPI v3. */
import type { Resource } from '../resource.ts';
import * as parameters from './openapi-parameters.ts';
import { resourcePaths } from './openapi-paths.ts';
import { convertReference } from './openapi-v2-components.ts';

interface Content {
  [mediaType: string]: { schema: object };
}
interface Operation {
  operationId: string;
  tags: string[];
  parameters?: parameters.Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
  [extension: string]: unknown;
}
interface Path {
  parameters: parameters.Parameter[];
  [method: string]: unknown;
}

/**
 * Parameters are written once for the whole document and referred to, except for those that kubectl before 1.27 looks
 * for in the operation itself, and the name.
 */
const INLINE = new Set(['name', 'dryRun', 'fieldValidation']);

export function sharedParameters(): Record<string, object> {
  const all = [parameters.NAMESPACE, parameters.PRETTY, ...parameters.PATCH, ...parameters.DELETE_COLLECTION];
  const shared: Record<string, object> = {};
  for (const parameter of [...all, ...parameters.LIST]) {
    if (!INLINE.has(parameter.name)) shared[parameter.name] = flat(parameter);
  }
  return shared;
}

export function resourcePathsV2(resource: Resource): Record<string, object> {
  const paths: Record<string, object> = {};
  for (const [path, item] of Object.entries(resourcePaths(resource) as Record<string, Path>)) {
    const { parameters: shared, ...operations } = item;
    paths[path] = {
      ...Object.fromEntries(Object.entries(operations).map(([method, one]) => [method, operationV2(one as Operation)])),
      parameters: shared.map(parameterV2),
    };
  }
  return paths;
}

function operationV2({ parameters: own, requestBody, responses, ...head }: Operation): object {
  const body = requestBody ? [bodyParameter(requestBody)] : [];
  const all = [...body, ...(own ?? []).map(parameterV2)];
  return {
    ...head,
    consumes: requestBody ? Object.keys(requestBody.content) : ['*/*'],
    produces: Object.keys(responses[200]?.content ?? {}),
    schemes: ['https'],
    ...(all.length > 0 ? { parameters: all } : {}),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, { description, content }]) => [
        code,
        { description, ...(content ? { schema: schemaOf(content) } : {}) },
      ]),
    ),
  };
}

function bodyParameter({ required, content }: NonNullable<Operation['requestBody']>): object {
  return { name: 'body', in: 'body', ...(required ? { required } : {}), schema: schemaOf(content) };
}

/** All media types of one answer carry the same thing. */
function schemaOf(content: Content): object {
  const [{ schema } = { schema: {} }] = Object.values(content);
  return '$ref' in schema ? convertReference(schema as { $ref: string }) : schema;
}

function parameterV2(parameter: parameters.Parameter): object {
  return INLINE.has(parameter.name) ? flat(parameter) : { $ref: `#/parameters/${parameter.name}` };
}

function flat({ schema, ...parameter }: parameters.Parameter): object {
  return { ...parameter, ...schema };
}
