/** A kind with one of everything, for tests. */
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../schema/schema.ts';

const string: Schema = { type: 'string' };

export const thingSchema: Schema = {
  type: 'object',
  properties: {
    apiVersion: string,
    kind: string,
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        name: string,
        args: { type: 'array', items: string },
        tags: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
        selector: { type: 'object', additionalProperties: string, 'x-kubernetes-map-type': 'atomic' },
        options: { type: 'object', additionalProperties: string },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: string },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: string } },
  },
};

export const API_VERSION = 'example.com/v1';

export function thing(spec?: Record<string, unknown>, metadata: Record<string, unknown> = {}): KubeObject {
  return { apiVersion: API_VERSION, kind: 'Thing', metadata: { name: 'n', ...metadata }, ...(spec ? { spec } : {}) };
}

/** `2020-01-01T00:00:0<second>Z` */
export function at(second: number): number {
  return Date.parse('2020-01-01T00:00:00Z') + second * 1000;
}
