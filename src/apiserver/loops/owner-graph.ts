/**
 * Who owns whom, for objects that have owner references and no others: an object without owners costs nothing here.
 * Holds names and uids, never objects.
 */
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { Key } from '../store/store.ts';

export interface Owned {
  readonly key: Key;
  readonly owners: readonly OwnerReference[];
}

export function keyText({ resource, namespace, name }: Key): string {
  return `${resource}|${namespace}|${name}`;
}

export function keyOfText(text: string): Key {
  const [resource = '', namespace = '', name = ''] = text.split('|');
  return { resource, namespace, name };
}

export class OwnerGraph {
  readonly #owned = new Map<string, Owned>();
  readonly #dependents = new Map<string, Set<Owned>>();

  get size(): number {
    return this.#owned.size;
  }

  get(key: Key): Owned | undefined {
    return this.#owned.get(keyText(key));
  }

  /** Takes over the object's references; returns what was known before. */
  set(key: Key, object: KubeObject): Owned | undefined {
    const before = this.remove(key);
    const owners = (object.metadata.ownerReferences ?? []).map(slim);
    if (!owners.length) return before;
    const owned: Owned = { key, owners };
    this.#owned.set(keyText(key), owned);
    for (const { uid } of owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents) dependents.add(owned);
      else this.#dependents.set(uid, new Set([owned]));
    }
    return before;
  }

  remove(key: Key): Owned | undefined {
    const text = keyText(key);
    const owned = this.#owned.get(text);
    if (!owned) return undefined;
    this.#owned.delete(text);
    for (const { uid } of owned.owners) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(owned);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
    return owned;
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid);
  }

  /** All that name the uid, wherever they are. */
  *claimants(uid: string): Iterable<Owned> {
    yield* this.#dependents.get(uid) ?? [];
  }

  /** Those that may name it: an owner in a namespace has dependents in that namespace only. */
  *dependents(owner: Key, uid: string): Iterable<Owned> {
    for (const owned of this.claimants(uid)) {
      if (!owner.namespace || owned.key.namespace === owner.namespace) yield owned;
    }
  }

  /** Whether foreground deletion of the owner has to go on waiting. */
  isBlocked(owner: Key, uid: string): boolean {
    for (const { owners } of this.dependents(owner, uid)) {
      if (owners.some((ref) => ref.uid === uid && ref.blockOwnerDeletion)) return true;
    }
    return false;
  }
}

function slim({ apiVersion, kind, name, uid, blockOwnerDeletion }: OwnerReference): OwnerReference {
  return blockOwnerDeletion ? { apiVersion, kind, name, uid, blockOwnerDeletion } : { apiVersion, kind, name, uid };
}
