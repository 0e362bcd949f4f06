/** The contents of ConfigMaps and Secrets. */
import type { Any } from './fields.ts';

/** An absent map stays absent, an empty one is left out, as Go's omitempty does. */
export function canonicalMap(object: Any, name: string): void {
  const map = object[name];
  if (map && typeof map === 'object' && Object.keys(map).length === 0) delete object[name];
}

export function dataToBase64(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value ?? '', 'utf8').toString('base64')]),
  );
}
