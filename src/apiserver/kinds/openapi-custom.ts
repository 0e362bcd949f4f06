/** Definitions of custom resources: the schema of the CRD with what every object has, and a list kind. */
import type { Resource } from '../resource.ts';
import { componentName, listComponentName } from './component-name.ts';
import { describeField } from './descriptions.ts';
import { addDefinition, addOperands, type Components, reference } from './openapi-components.ts';
import { type ObjectFields, type PublishedSchema, publishedV2, publishedV3 } from './openapi-custom-schema.ts';
import { referenceV2 } from './openapi-v2-components.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export function addCustomComponents(components: Components, resource: Resource): void {
  const meta = (name: string, description: string | undefined) => ({
    description,
    allOf: [reference(`${META}.${name}`)],
  });
  const { metadata: _, ...fields } = resource.schema().properties ?? {};
  const own = publishedV3({ ...resource.schema(), properties: fields }, objectFields(meta));
  components[componentName(resource)] = {
    ...own,
    type: 'object',
    properties: { ...own.properties, ...objectFields(meta) },
    ...extensions(resource, resource.kind),
  };
  components[listComponentName(resource)] = listOf(resource, reference(componentName(resource)), meta);
  addDefinition(components, `${META}.ObjectMeta`);
  addDefinition(components, `${META}.ListMeta`);
  addOperands(components, resource);
}

/** The same for OpenAPI v2, without what it refers to. */
export function customDefinitionsV2(resource: Resource): Components {
  const meta = (name: string, description: string | undefined) => ({ description, ...referenceV2(`${META}.${name}`) });
  const { metadata: _, ...fields } = resource.schema().properties ?? {};
  const schema = { ...resource.schema(), properties: fields };
  // With any field named, kubectl would refuse all others.
  const own: PublishedSchema = schema['x-kubernetes-preserve-unknown-fields']
    ? { type: 'object' }
    : withFields(publishedV2(schema, objectFields(meta)), objectFields(meta));
  return {
    [componentName(resource)]: { ...own, ...extensions(resource, resource.kind) },
    [listComponentName(resource)]: listOf(resource, referenceV2(componentName(resource)), meta),
  };
}

function withFields(schema: PublishedSchema, fields: ObjectFields): PublishedSchema {
  return { ...schema, type: 'object', properties: { ...schema.properties, ...fields } };
}

type MetaReference = (definition: string, description: string | undefined) => PublishedSchema;

function objectFields(meta: MetaReference): ObjectFields {
  return { ...typeFields(), metadata: meta('ObjectMeta', describeField('', 'metadata')) };
}

function listOf(resource: Resource, item: PublishedSchema, meta: MetaReference): PublishedSchema {
  return {
    description: `A list of ${resource.kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeFields(),
      items: { description: 'The objects.', type: 'array', items: item },
      metadata: meta('ListMeta', describeField('List', 'metadata')),
    },
    ...extensions(resource, resource.listKind),
  };
}

function extensions({ group, version, selectableFields }: Resource, kind: string): object {
  const selectable = Object.keys(selectableFields).map((fieldPath) => ({ fieldPath }));
  return {
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
    ...(selectable.length > 0 ? { 'x-kubernetes-selectable-fields': selectable } : {}),
  };
}

function typeFields(): ObjectFields {
  return {
    apiVersion: { description: describeField('', 'apiVersion'), type: 'string' },
    kind: { description: describeField('', 'kind'), type: 'string' },
  };
}
