/**
 * Writes what a reconcile changed, and only that: take the helper before changing a clone, call `patch` at the end.
 * Status and the rest go separately, each as the smallest merge patch; nothing changed, nothing written. A patch that
 * replaces a list carries the resource version, so that nobody's entries get lost; one that does not, cannot conflict.
 * Conditions are merged by type: when another controller set a different one meanwhile, both survive.
 */
import type { Condition, KubeObject } from '../api/object.ts';
import { clone } from './clone.ts';
import { compareConditions, getConditions, sameCondition } from './conditions.ts';
import { isConflict, isNotFound, KubeError } from './kube-error.ts';
import { createMergePatch, isSame, replacesList } from './merge-patch.ts';
import { keyOf, type ObjectStore, type ResourceRef } from './store.ts';

const CONFLICT_RETRIES = 4;

export class PatchHelper<T extends KubeObject = KubeObject> {
  readonly #store: ObjectStore;
  readonly #resource: ResourceRef;
  readonly #before: T;

  /** `before` is the object as read; it is copied. */
  constructor(store: ObjectStore, resource: ResourceRef, before: T) {
    this.#store = store;
    this.#resource = resource;
    this.#before = clone(before);
  }

  /** A copy of the object as read, to be changed and given to `patch`. */
  draft(): T {
    return clone(this.#before);
  }

  /** Stores the difference; the object as stored now, or undefined when it is gone (e.g. by its last finalizer). */
  async patch(after: T, signal?: AbortSignal): Promise<T | undefined> {
    const { deletionTimestamp, finalizers = [] } = after.metadata;
    const isEnd = deletionTimestamp && finalizers.length === 0 && (this.#before.metadata.finalizers ?? []).length > 0;
    // Status first: the other patch may take a finalizer somebody waits for. With the last one the object goes, and its status is read by nobody.
    try {
      const latest = isEnd ? this.#before : await this.#patchStatus(after, signal);
      return (await this.#patchMain(after, latest, signal)) ?? latest;
    } catch (error) {
      if (isNotFound(error) && after.metadata.deletionTimestamp) return undefined;
      throw error;
    }
  }

  async #patchStatus(after: T, signal?: AbortSignal): Promise<T> {
    let latest = this.#before;
    for (let attempt = 0; ; attempt++) {
      const status = { ...after.status };
      if (attempt > 0) status.conditions = mergeConditions(this.#before, after, latest);
      const patch = createMergePatch(attempt > 0 ? this.#rebased(latest) : (this.#before.status ?? {}), status);
      if (!patch) return latest;
      const body = { status: patch, metadata: this.#lock(replacesList(patch), latest) };
      try {
        return await this.#send(body, 'status', signal);
      } catch (error) {
        if (!isConflict(error) || attempt >= CONFLICT_RETRIES) throw error;
        latest = await this.#store.get<T>(this.#resource, keyOf(this.#before), { signal });
        if (!this.#onlyConditionsDiffer(latest)) throw error;
      }
    }
  }

  async #patchMain(after: T, latest: T, signal?: AbortSignal): Promise<T | undefined> {
    const patch = createMergePatch(mainOf(this.#before), mainOf(after));
    if (!patch) return undefined;
    // Our own status patch moved the version on; take the new one only if nobody else changed this part.
    const base = isSame(mainOf(latest), mainOf(this.#before)) ? latest : this.#before;
    const { metadata, ...rest } = patch as { metadata?: object };
    return await this.#send(
      { ...rest, metadata: { ...metadata, ...this.#lock(replacesList(patch), base) } },
      undefined,
      signal,
    );
  }

  async #send(body: Record<string, unknown>, subresource: string | undefined, signal?: AbortSignal): Promise<T> {
    const patch = { type: 'merge', body } as const;
    try {
      return await this.#store.patch<T>(this.#resource, keyOf(this.#before), patch, { subresource, signal });
    } catch (error) {
      // A patch that names another uid is answered with 422, though it means what a conflict means.
      if (!isUidMismatch(error)) throw error;
      const message = `${this.#resource.plural} "${this.#before.metadata.name}" was deleted and made again`;
      throw new KubeError({ code: 409, reason: 'Conflict', message }, { cause: error });
    }
  }

  /** The uid keeps us from writing to an object of the same name that was made after ours was deleted. */
  #lock(locked: boolean, base: T): { uid?: string; resourceVersion?: string } {
    const { uid } = this.#before.metadata;
    return locked ? { uid, resourceVersion: base.metadata.resourceVersion } : { uid };
  }

  /** What the status patch is made against after a conflict: as read, with the conditions that are there now. */
  #rebased(latest: T): Record<string, unknown> {
    return { ...this.#before.status, conditions: latest.status?.conditions };
  }

  #onlyConditionsDiffer(latest: T): boolean {
    if (latest.metadata.uid !== this.#before.metadata.uid) return false;
    const { conditions: _, ...theirs } = latest.status ?? {};
    const { conditions: __, ...ours } = this.#before.status ?? {};
    return isSame(theirs, ours);
  }
}

function isUidMismatch(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.reason !== 'Invalid') return false;
  return (error.details.causes ?? []).some((cause) => cause.field === 'metadata.uid');
}

/** Everything that is not status and not kept by the server. */
function mainOf(object: KubeObject): Record<string, unknown> {
  const { status: _, metadata, ...rest } = object;
  const { resourceVersion: __, generation: ___, managedFields: ____, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** What is there now, with our changes by type: ours win where we changed something. */
function mergeConditions(before: KubeObject, after: KubeObject, latest: KubeObject): Condition[] {
  const merged = new Map(getConditions(latest).map((condition) => [condition.type, condition]));
  const old = new Map(getConditions(before).map((condition) => [condition.type, condition]));
  for (const condition of getConditions(after)) {
    const was = old.get(condition.type);
    if (!was || !sameCondition(was, condition)) merged.set(condition.type, condition);
    old.delete(condition.type);
  }
  for (const removed of old.keys()) merged.delete(removed);
  return [...merged.values()].sort(compareConditions);
}
