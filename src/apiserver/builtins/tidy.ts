/**
 * Built-in objects pass through Go types and protobuf upstream: null, empty lists and empty maps come out as nothing.
 * Without this a client that sends `env: []` would see a difference on every apply.
 */
import type { Any } from './fields.ts';

/** Fields whose Go type is a map: an empty one is nothing, while an empty struct (`emptyDir: {}`) means something. */
const MAPS = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'data',
  'binaryData',
  'limits',
  'requests',
  'hard',
  'used',
  'capacity',
  'allocatable',
  'overhead',
  'podFixed',
  'parameters',
  'volumeAttributes',
  'default',
  'defaultRequest',
  'max',
  'min',
  'maxLimitRequestRatio',
]);

function isNothing(name: string, value: Any): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return MAPS.has(name) && typeof value === 'object' && Object.keys(value).length === 0;
}

/** Removes what means nothing, in place. `managedFields` has a shape of its own and stays. */
export function tidy(object: Any): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (name === 'managedFields') continue;
    if (isNothing(name, value)) delete object[name];
    else if (Array.isArray(value)) tidyItems(value);
    else if (typeof value === 'object') tidy(value);
  }
}

function tidyItems(list: Any[]): void {
  for (const item of list) if (item && typeof item === 'object') tidy(item);
}
