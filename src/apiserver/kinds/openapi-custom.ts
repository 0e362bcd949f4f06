/** Definitions of custom resources: the schema of the CRD with what every object has, and a list kind. */
import type { Resource } from '../resource.ts';
import { componentName, listComponentName } from './component-name.ts';
import { describeField } from './descriptions.ts';
import { addDefinition, addOperands, type Components, reference } from './openapi-components.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export function addCustomComponents(components: Components, resource: Resource): void {
  const { group, version, kind, listKind } = resource;
  const schema = resource.schema();
  components[componentName(resource)] = {
    ...schema,
    type: 'object',
    properties: { ...schema.properties, ...typeFields(), metadata: metadataField('ObjectMeta') },
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  };
  components[listComponentName(resource)] = {
    description: `A list of ${kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeFields(),
      items: { description: 'The objects.', type: 'array', items: reference(componentName(resource)) },
      metadata: metadataField('ListMeta'),
    },
    'x-kubernetes-group-version-kind': [{ group, kind: listKind, version }],
  };
  addDefinition(components, `${META}.ObjectMeta`);
  addDefinition(components, `${META}.ListMeta`);
  addOperands(components, resource);
}

function typeFields(): Record<string, object> {
  return {
    apiVersion: { description: describeField('', 'apiVersion'), type: 'string' },
    kind: { description: describeField('', 'kind'), type: 'string' },
  };
}

function metadataField(definition: 'ObjectMeta' | 'ListMeta'): object {
  const owner = definition === 'ObjectMeta' ? '' : 'List';
  return { description: describeField(owner, 'metadata'), allOf: [reference(`${META}.${definition}`)] };
}
