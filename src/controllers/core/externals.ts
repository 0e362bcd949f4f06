/**
 * Objects of providers, by reference. A kind is watched from the moment something first refers to it; whoever listens
 * is told of each of its objects that changes.
 */
import type { KubeObject } from '../../api/object.ts';
import {
  type Informers,
  ignoreNotFound,
  isNotFound,
  keyOf,
  type ObjectStore,
  PatchHelper,
  type ResourceRef,
} from '../../kube/index.ts';
import { kindText, type ProviderKinds, type Reference } from './provider-kinds.ts';

/** A referenced object: found, known to be missing, or (neither) not readable. */
export interface Found {
  object?: KubeObject;
  missing: boolean;
}

export class Externals {
  readonly kinds: ProviderKinds;
  readonly #store: ObjectStore;
  readonly #informers: Informers;
  readonly #watched = new Set<string>();
  readonly #listeners: ((object: KubeObject) => void)[] = [];

  constructor(store: ObjectStore, informers: Informers, kinds: ProviderKinds) {
    this.kinds = kinds;
    this.#store = store;
    this.#informers = informers;
  }

  /** Fresh from the server; undefined when there is no such object. Throws when there is no such kind. */
  async get(
    reference: Reference,
    namespace: string | undefined,
    signal?: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const resource = this.kinds.resource(reference);
    this.#watch(resource);
    return this.#store.get(resource, { namespace, name: reference.name }, { signal }).catch(ignoreNotFound);
  }

  /** As last seen by the watch, where it has been seen; may be a moment behind. */
  async cached(
    reference: Reference,
    namespace: string | undefined,
    signal?: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const resource = this.kinds.resource(reference);
    const known = this.#informers.for(resource).get({ namespace, name: reference.name });
    return known ?? this.get(reference, namespace, signal);
  }

  /** Changes the object by what `change` does to a copy; nothing is written when that is nothing. */
  async patch(object: KubeObject, change: (draft: KubeObject) => void, signal?: AbortSignal): Promise<KubeObject> {
    const helper = new PatchHelper(this.#store, this.resourceOf(object), object);
    const draft = helper.draft();
    change(draft);
    return (await helper.patch(draft, signal)) ?? object;
  }

  async delete(object: KubeObject, signal?: AbortSignal): Promise<void> {
    const { uid } = object.metadata;
    try {
      await this.#store.delete(this.resourceOf(object), keyOf(object), { preconditions: { uid }, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  resourceOf(object: KubeObject): ResourceRef {
    return this.kinds.resource({ apiGroup: groupOf(object.apiVersion), kind: object.kind });
  }

  onChange(listener: (object: KubeObject) => void): void {
    this.#listeners.push(listener);
  }

  #watch(resource: ResourceRef): void {
    const id = `${resource.plural}.${resource.group}/${resource.version}`;
    if (this.#watched.has(id)) return;
    this.#watched.add(id);
    const tell = (object: KubeObject) => {
      for (const listener of this.#listeners) listener(object);
    };
    this.#informers.for(resource).addHandler({ added: tell, updated: tell, deleted: tell });
  }
}

export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/', 1)[0] as string) : '';
}

/** What an index of referrers is keyed by. */
export function referenceText(reference: Reference, namespace: string | undefined): string {
  return `${kindText(reference)} ${namespace}/${reference.name}`;
}

export function selfReferenceText(object: KubeObject): string {
  const { namespace, name = '' } = object.metadata;
  return referenceText({ apiGroup: groupOf(object.apiVersion), kind: object.kind, name }, namespace);
}
