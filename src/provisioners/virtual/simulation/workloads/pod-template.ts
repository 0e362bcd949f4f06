/** Pods as their controllers make them, and the hash by which templates are told apart. */
import type { KubeObject } from '../../../../api/object.ts';
import { clone } from '../../../../apiserver/json.ts';
import { controllerRef } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: a pod template, checked by the server's schema
export type Template = any;

/** Without vowels and look-alikes, so that no hash is ever a word (apimachinery's rand.SafeEncodeString). */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

export function podFrom(
  template: Template,
  owner: KubeObject,
  name: { name?: string; generateName?: string },
): KubeObject {
  const { labels, annotations, finalizers } = clone(template?.metadata ?? {});
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...name,
      namespace: owner.metadata.namespace,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [controllerRef(owner)],
    },
    spec: clone(template?.spec ?? {}),
  };
}

/** Short, stable, and different when the value differs (the collision count makes it differ once more). */
export function hashOf(value: unknown, collisions = 0): string {
  const text = JSON.stringify(sorted(value)) + (collisions ? String(collisions) : '');
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return Array.from(String(hash), (digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join('');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
}
