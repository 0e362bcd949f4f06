/** What has become of the owner that a reference names, seen from the object that carries the reference. */
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { Resource } from '../resource.ts';
import type { Key, Stored } from '../store/store.ts';
import { type LoopContext, pages } from './loop.ts';

export const FOREGROUND = 'foregroundDeletion';

/**
 * `solid`: there. `waiting`: in foreground deletion, until its dependents are gone. `dangling`: not there, or another
 * object of that name. `unknown`: its kind is not served, so nobody can say. `misplaced`: in a namespace, while the
 * dependent is in none, so nobody can say which one is meant.
 */
export type OwnerState = 'solid' | 'waiting' | 'dangling' | 'unknown' | 'misplaced';

export class OwnerLookup {
  readonly #context: LoopContext;

  constructor(context: LoopContext) {
    this.#context = context;
  }

  state(ref: OwnerReference, key: Key): OwnerState {
    const resource = this.#resourceOf(ref);
    if (!resource) return 'unknown';
    if (resource.namespaced && !key.namespace) return 'misplaced';
    const owner = this.find(ref, key)?.object();
    if (!owner || owner.metadata.uid !== ref.uid) return 'dangling';
    return isDeletingDependents(owner) ? 'waiting' : 'solid';
  }

  /** The quick positive answer for the common case, without parsing the owner. */
  isPlainlyThere(ref: OwnerReference, key: Key): boolean {
    const json = this.find(ref, key)?.json;
    return json?.includes(`"uid":"${ref.uid}"`) === true && !json.includes('"deletionTimestamp"');
  }

  /** Whoever has the owner's kind and name, in the dependent's namespace; the uid may be another's. */
  find(ref: OwnerReference, key: Key): Stored | undefined {
    const resource = this.#resourceOf(ref);
    if (!resource) return undefined;
    const namespace = resource.namespaced ? key.namespace : '';
    return this.#context.store.get({ resource: resource.storage, namespace, name: ref.name });
  }

  /** Looks through all namespaces; for messages only. */
  async existsElsewhere(ref: OwnerReference): Promise<boolean> {
    const resource = this.#resourceOf(ref);
    if (!resource?.namespaced) return false;
    for await (const page of pages(this.#context.store, resource.storage)) {
      if (page.some((stored) => stored.key.name === ref.name && stored.object().metadata.uid === ref.uid)) return true;
    }
    return false;
  }

  #resourceOf({ apiVersion, kind }: OwnerReference): Resource | undefined {
    const { registry } = this.#context;
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const exact = registry.byKind(group, apiVersion.slice(slash + 1), kind);
    // A version that is no longer served still means the same objects.
    return exact ?? registry.all().find((resource) => resource.group === group && resource.kind === kind);
  }
}

/** Marked for foreground deletion: it waits for its dependents. */
export function isDeletingDependents({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FOREGROUND) ?? false);
}
