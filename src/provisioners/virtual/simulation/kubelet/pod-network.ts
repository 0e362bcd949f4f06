/** Addresses for pods, out of their node's range. Which are taken is read from the pods themselves. */
import type { KubeObject } from '../../../../api/object.ts';
import { internalIp } from '../nodes/simulated-node.ts';
import type { World } from '../world.ts';

/** Where to look next on each node; addresses handed out but not stored yet lie behind it. */
const CURSORS = Symbol('cursors');

export function podIp(world: World, pod: KubeObject, node: KubeObject): string {
  if (pod.status?.podIP) return pod.status.podIP;
  if (pod.spec.hostNetwork) return internalIp(node);
  const name = node.metadata.name ?? '';
  const cursor = world.scratch(CURSORS, () => new Map<string, number>());
  const base = /^(\d+\.\d+\.\d+)\./.exec(node.spec?.podCIDR ?? '')?.[1] ?? '10.244.0';
  const used = new Set(world.cache.podsOn(name).map(({ status }) => status?.podIP));
  let at = cursor.get(name) ?? 1;
  for (let tries = 0; tries < 253; tries++) {
    at = at >= 254 ? 2 : at + 1;
    if (used.has(`${base}.${at}`)) continue;
    cursor.set(name, at);
    return `${base}.${at}`;
  }
  // A node with room for more pods than its range has addresses: from the range set aside for carriers.
  const wide = (cursor.get('') ?? 0) + 1;
  cursor.set('', wide);
  return `100.${64 + (Math.floor(wide / 65536) % 64)}.${Math.floor(wide / 256) % 256}.${wide % 256}`;
}
