/** Definitions of built-in kinds for a document, with all they refer to and our descriptions. */
import type { Resource } from '../resource.ts';
import { componentName, definitionOfKind, listComponentName } from './component-name.ts';
import { describeDefinition, describeField } from './descriptions.ts';
import { type RawSchema, rawDefinition, resourceTable } from './tables.ts';

export type Components = Record<string, object>;

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export function reference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

export function addComponents(components: Components, resource: Resource): void {
  addDefinition(components, componentName(resource));
  if (resource.verbs.includes('list')) addDefinition(components, listComponentName(resource));
  for (const sub of resource.subresources) {
    const { group = resource.group, version = resource.version, kind } = sub;
    const name = kind && definitionOfKind(group, version, kind);
    if (name) addDefinition(components, name);
  }
  addOperands(components, resource);
}

/** What operations take and give besides the kind itself. */
export function addOperands(components: Components, resource: Resource): void {
  const verbs = new Set([...resource.verbs, ...resource.subresources.flatMap((sub) => sub.verbs)]);
  if (verbs.has('patch')) addDefinition(components, `${META}.Patch`);
  if (!verbs.has('delete')) return;
  addDefinition(components, `${META}.DeleteOptions`);
  addDefinition(components, `${META}.Status`);
}

/** Adds a definition and, through its references, all below it. */
export function addDefinition(components: Components, name: string): void {
  if (name in components) return;
  // Published definitions are the same in every document: made once.
  const { schema, references } = publishedDefinition(name);
  components[name] = schema;
  for (const other of references) addDefinition(components, other);
}

interface Published {
  schema: object;
  references: Set<string>;
}

const published = new Map<string, Published>();

function publishedDefinition(name: string): Published {
  let result = published.get(name);
  if (!result) {
    const raw = rawDefinition(name);
    const references = new Set<string>();
    // kubectl explain prints the text of a definition after that of the field: only kinds, which stand alone, have one.
    const description = raw.gvk && describeDefinition(name);
    const schema = publish(raw, name, description, references) as Record<string, unknown>;
    const kinds = groupVersionKinds(name, raw);
    if (kinds) schema['x-kubernetes-group-version-kind'] = kinds;
    result = { schema, references };
    published.set(name, result);
  }
  return result;
}

function publish(raw: RawSchema, owner: string, description: string | undefined, references: Set<string>): object {
  const { $ref, gvk: _, properties, items, additionalProperties, ...words } = raw;
  const schema: Record<string, unknown> = { ...(description ? { description } : {}), ...words };
  if ($ref) {
    references.add($ref);
    // Words beside a bare $ref would be ignored, hence the allOf.
    if (Object.keys(schema).length === 0) return reference($ref);
    schema.allOf = [reference($ref)];
  }
  if (items) schema.items = publish(items, owner, undefined, references);
  if (additionalProperties) schema.additionalProperties = publish(additionalProperties, owner, undefined, references);
  if (properties) {
    const fields: Record<string, object> = {};
    for (const [field, property] of Object.entries(properties)) {
      fields[field] = publish(property, owner, describeField(owner, field, property.$ref), references);
    }
    schema.properties = fields;
  }
  return schema;
}

function groupVersionKinds(name: string, raw: RawSchema): object[] | undefined {
  if (raw.gvk) {
    const [group, version, kind] = raw.gvk;
    return [{ group, kind, version }];
  }
  if (name !== `${META}.DeleteOptions`) return undefined;
  // Registered in every group-version: clients look for it under the one they talk to.
  return resourceTable().groups.flatMap(({ name: group, versions }) =>
    versions.map((version) => ({ group, kind: 'DeleteOptions', version })),
  );
}
