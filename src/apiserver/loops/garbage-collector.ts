/**
 * Deletes objects whose owners are gone, and carries out foreground and orphaning deletion. Semantics of
 * pkg/controller/garbagecollector; simpler because the store is at hand: whether an owner exists is looked up, so
 * there are no virtual nodes, and a watch event is never older than a look-up.
 */
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import { sleep } from '../../clock.ts';
import type { Resource } from '../resource.ts';
import type { ChangeEvent, Key, Stored } from '../store/store.ts';
import { recordWarning } from './event-recorder.ts';
import { hasReason, type Loop, type LoopContext, pages, turn, WRITE, warn } from './loop.ts';
import { keyOfText, keyText, type Owned, OwnerGraph } from './owner-graph.ts';
import { FOREGROUND, isDeletingDependents, OwnerLookup } from './owner-lookup.ts';
import { WorkQueue } from './work-queue.ts';

const ORPHAN = 'orphan';
const EVENTS = '/events';
const CRDS = 'apiextensions.k8s.io/customresourcedefinitions';
const CONCURRENCY = 20;
const RETRY_MS = 1000;
/** How many uids are remembered of owners that went, and of references that were reported. */
const MEMORY = 1000;

export const garbageCollector: Loop = (context) => new GarbageCollector(context).start();

class GarbageCollector {
  readonly #context: LoopContext;
  readonly #graph = new OwnerGraph();
  readonly #owners: OwnerLookup;
  readonly #queue: WorkQueue;
  readonly #scanned = new Set<string>();
  /** Objects owned by a kind that is not served (yet): looked at again when the kinds change. */
  readonly #undecided = new Set<string>();
  /** Owners seen to go: no need to look for them in other namespaces. */
  readonly #gone = new Set<string>();
  readonly #reported = new Set<string>();
  /** All kinds have been read. Before that nobody can say that an owner has no more dependents. */
  #complete: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#owners = new OwnerLookup(context);
    this.#queue = new WorkQueue({
      clock: context.clock,
      concurrency: CONCURRENCY,
      work: (key) => this.#attempt(keyOfText(key)),
      onError: (key, error) => {
        // Someone else changed it meanwhile; the next attempt sees the change.
        if (!hasReason(error, 'Conflict', 'NotFound')) warn(context, `garbage collection of ${key} failed`, error);
      },
    });
  }

  start(): () => void {
    const { store } = this.#context;
    const stop = store.watch({ afterRv: store.rv }, (event) => this.#changed(event));
    // A store that is new has nothing the watch does not tell.
    if (store.rv === 0) for (const name of this.#context.registry.storages().keys()) this.#scanned.add(name);
    this.#complete = this.#scan();
    return () => {
      this.#stopped = true;
      stop();
      this.#queue.stop();
    };
  }

  /** Reads what was there before the watch; kinds that appear later are read when they appear. */
  async #scan(): Promise<void> {
    for (;;) {
      await turn();
      const storage = [...this.#context.registry.storages().keys()].find((name) => !this.#scanned.has(name));
      if (this.#stopped || storage === undefined) return;
      try {
        await this.#read(storage);
        this.#scanned.add(storage);
      } catch (error) {
        if (this.#stopped) return;
        warn(this.#context, `reading owners of ${storage} for garbage collection failed`, error);
        await sleep(this.#context.clock, RETRY_MS);
      }
    }
  }

  async #read(storage: string): Promise<void> {
    if (storage === EVENTS || this.#context.store.count(storage) === 0) return;
    for await (const page of pages(this.#context.store, storage)) for (const stored of page) this.#observe(stored);
  }

  #changed(event: ChangeEvent): void {
    const { key } = event.current;
    if (key.resource === EVENTS) return;
    if (event.type === 'DELETED') this.#deleted(event.current);
    else this.#observe(event.current);
    if (key.resource === CRDS) this.#kindsChanged();
  }

  #observe(stored: Stored): void {
    const { key, json } = stored;
    // Looking for words in the text spares parsing nearly every object.
    const mayBeOwned = json.includes('"ownerReferences"');
    if (mayBeOwned || this.#graph.get(key)) {
      const before = this.#graph.set(key, mayBeOwned ? stored.object() : { ...EMPTY, metadata: {} });
      const now = this.#graph.get(key);
      if (before) this.#unblockOwners(before);
      if (now && !now.owners.every((ref) => this.#owners.isPlainlyThere(ref, key))) this.#queue.add(keyText(key));
    }
    if (!json.includes('"deletionTimestamp"') || !(json.includes(FOREGROUND) || json.includes(`"${ORPHAN}"`))) return;
    if (stored.object().metadata.deletionTimestamp) this.#queue.add(keyText(key));
  }

  #deleted(stored: Stored): void {
    const before = this.#graph.remove(stored.key);
    this.#undecided.delete(keyText(stored.key));
    if (before) this.#unblockOwners(before);
    if (!this.#graph.size) return;
    const { uid } = stored.object().metadata;
    if (!uid || !this.#graph.hasDependents(uid)) return;
    remember(this.#gone, uid);
    for (const { key } of this.#graph.claimants(uid)) this.#queue.add(keyText(key));
  }

  /** An owner that waits in foreground deletion goes on when the last dependent in its way is gone. */
  #unblockOwners({ owners, key }: Owned): void {
    for (const ref of owners) {
      const owner = this.#owners.find(ref, key);
      if (!owner || this.#graph.isBlocked(owner.key, ref.uid)) continue;
      if (owner.json.includes(FOREGROUND)) this.#queue.add(keyText(owner.key));
    }
  }

  #kindsChanged(): void {
    // After the watchers that make kinds out of CRDs.
    setImmediate(() => {
      if (this.#stopped) return;
      this.#complete = this.#complete.then(() => this.#scan());
      for (const key of this.#undecided) this.#queue.add(key);
      this.#undecided.clear();
    });
  }

  async #attempt(key: Key): Promise<void> {
    await this.#complete;
    if (this.#stopped) return;
    const stored = this.#context.store.get(key);
    const resource = this.#context.registry.storages().get(key.resource);
    if (!stored || !resource) return;
    const object = stored.object();
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (!deletionTimestamp) return this.#collect(resource, key, object);
    if (finalizers.includes(ORPHAN)) return this.#orphanDependents(resource, key, object);
    if (finalizers.includes(FOREGROUND)) return this.#deleteDependents(resource, key, object);
  }

  async #collect(resource: Resource, key: Key, object: KubeObject): Promise<void> {
    const refs = object.metadata.ownerReferences ?? [];
    const states = refs.map((ref) => this.#owners.state(ref, key));
    for (const [i, ref] of refs.entries()) {
      if (states[i] === 'dangling' || states[i] === 'misplaced') await this.#reportForeign(object, ref);
    }
    if (states.includes('unknown')) this.#undecided.add(keyText(key));
    if (states.includes('unknown') || states.includes('misplaced')) return;
    const solid = refs.filter((_, i) => states[i] === 'solid');
    if (solid.length === refs.length) return;
    // References to owners that wait for this object go too: it stays, and they must not wait forever.
    if (solid.length) return this.#setOwners(resource, key, object, solid);
    let policy: 'Orphan' | 'Background' | 'Foreground' = 'Background';
    const { uid = '', finalizers = [], resourceVersion } = object.metadata;
    if (states.includes('waiting') && this.#graph.hasDependents(uid)) {
      policy = 'Foreground';
      if (this.#closesCircle(key, uid)) return this.#unblockAndDelete(resource, key, object, refs);
    } else if (finalizers.includes(ORPHAN)) policy = 'Orphan';
    else if (finalizers.includes(FOREGROUND)) policy = 'Foreground';
    await this.#delete(resource, key, { propagationPolicy: policy, preconditions: { uid, resourceVersion } });
  }

  /** Owners and dependents that wait for each other: one of them has to stop blocking. */
  async #unblockAndDelete(resource: Resource, key: Key, object: KubeObject, refs: OwnerReference[]): Promise<void> {
    await this.#setOwners(
      resource,
      key,
      object,
      refs.map((ref) => ({ ...ref, blockOwnerDeletion: false })),
    );
    const { uid } = object.metadata;
    await this.#delete(resource, key, { propagationPolicy: 'Foreground', preconditions: { uid } });
  }

  #closesCircle(key: Key, uid: string): boolean {
    for (const dependent of this.#graph.dependents(key, uid)) {
      const object = this.#context.store.get(dependent.key)?.object();
      if (object && isDeletingDependents(object)) return true;
    }
    return false;
  }

  async #deleteDependents(resource: Resource, key: Key, owner: KubeObject): Promise<void> {
    const uid = owner.metadata.uid ?? '';
    if (!this.#graph.isBlocked(key, uid)) return this.#removeFinalizer(resource, key, owner, FOREGROUND);
    for (const { key: dependent } of this.#graph.dependents(key, uid)) this.#queue.add(keyText(dependent));
  }

  async #orphanDependents(resource: Resource, key: Key, owner: KubeObject): Promise<void> {
    const uid = owner.metadata.uid ?? '';
    const dependents = [...this.#graph.dependents(key, uid)];
    const released = dependents.map(async (dependent) => {
      const object = this.#context.store.get(dependent.key)?.object();
      const kind = this.#context.registry.storages().get(dependent.key.resource);
      const refs = object?.metadata.ownerReferences ?? [];
      if (!object || !kind || !refs.some((ref) => ref.uid === uid)) return;
      await this.#setOwners(
        kind,
        dependent.key,
        object,
        refs.filter((ref) => ref.uid !== uid),
      );
    });
    const results = await Promise.allSettled(released);
    const failed = results.find((r) => r.status === 'rejected' && !hasReason(r.reason, 'NotFound'));
    if (failed?.status === 'rejected') throw failed.reason;
    await this.#removeFinalizer(resource, key, owner, ORPHAN);
  }

  /** An owner that exists, but in another namespace, is a mistake worth telling about; it counts as absent. */
  async #reportForeign(object: KubeObject, ref: OwnerReference): Promise<void> {
    const { namespace = '' } = object.metadata;
    const once = `${object.metadata.uid} ${ref.uid}`;
    if (this.#gone.has(ref.uid) || this.#reported.has(once)) return;
    if (!(await this.#owners.existsElsewhere(ref)) || this.#reported.has(once)) return;
    remember(this.#reported, once);
    const owner = `[${ref.apiVersion}/${ref.kind}, namespace: ${namespace}, name: ${ref.name}, uid: ${ref.uid}]`;
    const message = `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`;
    await recordWarning(this.#context, 'garbage-collector-controller', object, 'OwnerRefInvalidNamespace', message);
  }

  async #setOwners(resource: Resource, key: Key, object: KubeObject, owners: OwnerReference[]): Promise<void> {
    await this.#patchMetadata(resource, key, object, { ownerReferences: owners.length ? owners : null });
  }

  async #removeFinalizer(resource: Resource, key: Key, object: KubeObject, finalizer: string): Promise<void> {
    const rest = (object.metadata.finalizers ?? []).filter((f) => f !== finalizer);
    await this.#patchMetadata(resource, key, object, { finalizers: rest.length ? rest : null });
  }

  async #patchMetadata(resource: Resource, key: Key, object: KubeObject, metadata: object): Promise<void> {
    // The version makes the patch fit what was looked at; a conflict brings the key back to the queue.
    const body = { metadata: { ...metadata, resourceVersion: object.metadata.resourceVersion } };
    await this.#context.operations.patch(resource, key.namespace, key.name, { type: 'merge', body }, WRITE);
  }

  async #delete(
    resource: Resource,
    key: Key,
    options: Parameters<LoopContext['operations']['delete']>[3],
  ): Promise<void> {
    try {
      await this.#context.operations.delete(resource, key.namespace, key.name, options, WRITE);
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error;
    }
  }
}

const EMPTY = { apiVersion: '', kind: '' };

/** Forgets the oldest first: a Set keeps insertion order. */
function remember(set: Set<string>, value: string): void {
  if (set.size >= MEMORY) set.delete(set.values().next().value ?? '');
  set.add(value);
}
