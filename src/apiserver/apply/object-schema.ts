/** What every object has, whatever the schema of its kind says: apiVersion, kind, and metadata with its list types. */
import { objectMetaSchema } from '../schema/object-meta.ts';
import type { Schema } from '../schema/schema.ts';

const META_MARKERS: Record<string, Partial<Schema>> = {
  finalizers: { 'x-kubernetes-list-type': 'set' },
  ownerReferences: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['uid'] },
};

/** ObjectMeta with its list types, which a CustomResourceDefinition's `metadata: {type: object}` leaves out. */
const META: Schema = (() => {
  const properties: Record<string, Schema> = { ...objectMetaSchema.properties };
  for (const name of Object.keys(META_MARKERS)) properties[name] = { ...properties[name], ...META_MARKERS[name] };
  const owners = properties.ownerReferences as Schema;
  properties.ownerReferences = { ...owners, items: { ...owners.items, 'x-kubernetes-map-type': 'atomic' } };
  return { ...objectMetaSchema, properties };
})();

const STRING: Schema = { type: 'string' };

/** apiVersion, kind and metadata belong to every object, whatever its schema says of them. */
export function withObjectMeta(schema: Schema): Schema {
  const metadata = schema.properties?.metadata;
  const owners = metadata?.properties?.ownerReferences;
  const known = owners?.['x-kubernetes-list-type'] ?? owners?.['x-kubernetes-patch-merge-key'];
  if (known) return schema;
  // Without properties of its own the object is free-form; naming three fields must not change that.
  const free = !schema.properties && !schema.additionalProperties;
  return {
    ...schema,
    ...(free ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    properties: { apiVersion: STRING, kind: STRING, ...schema.properties, metadata: META },
  };
}
