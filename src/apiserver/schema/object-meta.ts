/** ObjectMeta as a schema: what `metadata` of a custom or embedded resource may hold, whatever its own schema says. */
import type { Schema } from './schema.ts';

const string: Schema = { type: 'string' };
const time: Schema = { type: 'string', format: 'date-time' };
const strings: Schema = { type: 'object', additionalProperties: string };

export const objectMetaSchema: Schema = {
  type: 'object',
  properties: {
    name: string,
    generateName: string,
    namespace: string,
    selfLink: string,
    uid: string,
    resourceVersion: string,
    generation: { type: 'integer', format: 'int64' },
    creationTimestamp: { ...time, nullable: true },
    deletionTimestamp: time,
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    labels: strings,
    annotations: strings,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          apiVersion: string,
          kind: string,
          name: string,
          uid: string,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    finalizers: { type: 'array', items: string },
    managedFields: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          manager: string,
          operation: string,
          apiVersion: string,
          time,
          fieldsType: string,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          subresource: string,
        },
      },
    },
  },
};
