/** Server-side applies that need not be repeated: the same intent, and an object that has not changed since. */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import type { ObjectStore, ResourceRef } from '../../kube/index.ts';

const LIMIT = 20_000;

export class Applied {
  readonly #store: ObjectStore;
  readonly #known = new Map<string, string>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Applies `intent`, unless that was done already and `current` is still as it was then. */
  async apply(
    resource: ResourceRef,
    intent: KubeObject,
    fieldManager: string,
    options: { current?: KubeObject; signal?: AbortSignal } = {},
  ): Promise<KubeObject> {
    const { current, signal } = options;
    if (current && this.#known.get(idOf(current, fieldManager)) === stateOf(intent, current)) return current;
    const stored = await this.#store.apply(resource, intent, { fieldManager, force: true, signal });
    this.#remember(idOf(stored, fieldManager), stateOf(intent, stored));
    return stored;
  }

  #remember(id: string, state: string): void {
    this.#known.delete(id);
    this.#known.set(id, state);
    if (this.#known.size <= LIMIT) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

function idOf(object: KubeObject, manager: string): string {
  return `${manager} ${object.metadata.uid}`;
}

/** What an apply could change: not the status. */
function stateOf(intent: KubeObject, { metadata }: KubeObject): string {
  const { generation, labels, annotations, ownerReferences, finalizers } = metadata;
  return createHash('sha256')
    .update(JSON.stringify([intent, generation, labels, annotations, ownerReferences, finalizers]))
    .digest('base64');
}
