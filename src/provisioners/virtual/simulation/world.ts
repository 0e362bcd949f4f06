/** What a simulated controller has at hand: the tenant's objects, and the ways to change them. */
import type { KubeObject } from '../../../api/object.ts';
import { LOOPBACK } from '../../../apiserver/auth/identity.ts';
import { clone, equal } from '../../../apiserver/json.ts';
import type { LoopContext } from '../../../apiserver/loops/loop.ts';
import { hasReason, MANAGER } from '../../../apiserver/loops/loop.ts';
import type { DeleteOptions } from '../../../apiserver/operations.ts';
import type { Resource } from '../../../apiserver/resource.ts';
import { rfc3339 } from '../../../clock.ts';
import { Cache } from './cache.ts';
import { Recorder } from './recorder.ts';

export class World {
  readonly context: LoopContext;
  readonly cache = new Cache();
  readonly recorder: Recorder;
  readonly #scratch = new Map<symbol, unknown>();

  constructor(context: LoopContext) {
    this.context = context;
    this.recorder = new Recorder(context);
  }

  /** What a controller may forget at any time: it is made again. One per key. */
  scratch<T>(key: symbol, make: () => T): T {
    let found = this.#scratch.get(key);
    if (found === undefined) {
      found = make();
      this.#scratch.set(key, found);
    }
    return found as T;
  }

  get now(): number {
    return this.context.clock.now();
  }

  /** As objects carry it. */
  get timestamp(): string {
    return rfc3339(this.now);
  }

  /** In the version it is stored in. */
  resource(storage: string): Resource {
    const [group = '', plural = ''] = storage.split('/');
    const found = this.context.registry.find(group, versionOf(group), plural);
    if (!found) throw new Error(`${storage} is not served`);
    return found;
  }

  create(storage: string, object: KubeObject, manager = MANAGER): Promise<KubeObject> {
    const options = { identity: LOOPBACK, fieldManager: manager };
    return this.context.operations.create(this.resource(storage), object.metadata.namespace ?? '', object, options);
  }

  /** Fails with Conflict when `object` is not the newest state; writes nothing when nothing differs. */
  async update(storage: string, object: KubeObject, change: (draft: KubeObject) => void, manager = MANAGER) {
    const draft = clone(object);
    change(draft);
    if (equal(draft, object)) return object;
    return this.#put(storage, draft, manager);
  }

  async updateStatus(storage: string, object: KubeObject, status: object, manager = MANAGER): Promise<KubeObject> {
    if (equal(object.status, status)) return object;
    return this.#put(storage, { ...clone(object), status: clone(status) }, manager, 'status');
  }

  /** Only the very object that was seen; that it is gone already is as good. */
  async remove(storage: string, { metadata }: KubeObject, deletion: DeleteOptions = {}): Promise<void> {
    const { namespace = '', name = '', uid } = metadata;
    const options = { identity: LOOPBACK, fieldManager: MANAGER };
    const exact = { ...deletion, preconditions: { uid, ...deletion.preconditions } };
    try {
      await this.context.operations.delete(this.resource(storage), namespace, name, exact, options);
    } catch (error) {
      if (hasReason(error, 'NotFound')) return;
      // The name belongs to a newer object: ours is gone.
      if (hasReason(error, 'Conflict') && this.cache.get(storage, namespace, name)?.metadata.uid !== uid) return;
      throw error;
    }
  }

  async #put(storage: string, draft: KubeObject, manager: string, subresource?: string): Promise<KubeObject> {
    const { namespace = '', name = '' } = draft.metadata;
    const options = { identity: LOOPBACK, fieldManager: manager, subresource };
    const written = await this.context.operations.update(this.resource(storage), namespace, name, draft, options);
    return written.object;
  }
}

function versionOf(group: string): string {
  return group === 'autoscaling' ? 'v2' : 'v1';
}

/** A controller's mark on what it makes. */
export function controllerRef({ apiVersion, kind, metadata }: KubeObject) {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Whether the object belongs to that very owner. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return object.metadata.ownerReferences?.find((r) => r.controller)?.uid === owner.metadata.uid;
}
