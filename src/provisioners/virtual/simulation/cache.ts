/**
 * The tenant's objects that controllers look at together, kept from the same watch that wakes the controllers: whoever
 * has awaited a write finds it here. Only what exists takes memory, and JSON is parsed when someone looks.
 */
import type { KubeObject } from '../../../api/object.ts';
import type { Stored } from '../../../apiserver/store/store.ts';

const PODS = '/pods';

export class Cache {
  readonly #objects = new Map<string, Map<string, Map<string, Stored>>>();
  /** Pods by uid of their controller; those without one by their namespace. */
  readonly #byOwner = new Map<string, Set<Stored>>();
  readonly #byNode = new Map<string, Set<Stored>>();

  get(resource: string, namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(resource)?.get(namespace)?.get(name)?.object();
  }

  /** In all namespaces when none is given. */
  list(resource: string, namespace?: string): KubeObject[] {
    const all = this.#objects.get(resource);
    if (!all) return [];
    const found: KubeObject[] = [];
    for (const group of namespace === undefined ? all.values() : [all.get(namespace)]) {
      for (const stored of group?.values() ?? []) found.push(stored.object());
    }
    return found;
  }

  count(resource: string, namespace: string): number {
    return this.#objects.get(resource)?.get(namespace)?.size ?? 0;
  }

  podsOf(owner: string): KubeObject[] {
    return objects(this.#byOwner.get(owner));
  }

  /** Pods that no controller owns. */
  orphans(namespace: string): KubeObject[] {
    return objects(this.#byOwner.get(namespace));
  }

  /** Pods bound to a node; those of no node yet for ''. */
  podsOn(node: string): KubeObject[] {
    return objects(this.#byNode.get(node));
  }

  hasPodsOn(node: string): boolean {
    return this.#byNode.has(node);
  }

  /** Takes over a state unless a newer one is known; says what was known before. */
  put(stored: Stored): Stored | undefined {
    const { resource, namespace, name } = stored.key;
    const group = made(made(this.#objects, resource), namespace) as Map<string, Stored>;
    const known = group.get(name);
    if (known && known.rv >= stored.rv) return known;
    group.set(name, stored);
    if (resource === PODS) {
      if (known) this.#unindex(known);
      this.#index(stored);
    }
    return known;
  }

  drop({ key: { resource, namespace, name } }: Stored): void {
    const namespaces = this.#objects.get(resource);
    const group = namespaces?.get(namespace);
    const known = group?.get(name);
    if (!namespaces || !group || !known) return;
    group.delete(name);
    if (group.size === 0) namespaces.delete(namespace);
    if (resource === PODS) this.#unindex(known);
  }

  #index(stored: Stored): void {
    const [owner, node] = places(stored);
    for (const [map, place] of [[this.#byOwner, owner] as const, [this.#byNode, node] as const]) {
      const set = map.get(place);
      if (set) set.add(stored);
      else map.set(place, new Set([stored]));
    }
  }

  #unindex(stored: Stored): void {
    const [owner, node] = places(stored);
    for (const [map, place] of [[this.#byOwner, owner] as const, [this.#byNode, node] as const]) {
      const set = map.get(place);
      set?.delete(stored);
      if (set?.size === 0) map.delete(place);
    }
  }
}

function places(stored: Stored): [owner: string, node: string] {
  const { metadata, spec } = stored.object();
  const owner = metadata.ownerReferences?.find((reference) => reference.controller);
  return [owner?.uid ?? stored.key.namespace, spec?.nodeName ?? ''];
}

function objects(set: Set<Stored> | undefined): KubeObject[] {
  return set ? Array.from(set, (stored) => stored.object()) : [];
}

function made<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let found = map.get(key);
  if (!found) {
    found = new Map();
    map.set(key, found);
  }
  return found;
}
