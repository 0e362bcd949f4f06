/**
 * The `ObjectStore` of the controllers, straight onto a cluster of the API server in this process: the whole road of a
 * request (admission, validation, managedFields) without HTTP, TLS or JSON in between.
 */

import { EVERYTHING, parseLabelSelector, SelectorError } from '../api/label-selector.ts';
import type { KubeList, KubeObject } from '../api/object.ts';
import type { Identity } from '../apiserver/index.ts';
import {
  ApiError,
  badRequest,
  bind,
  type ChangeEvent,
  type Cluster,
  CompactedError,
  clone,
  evict,
  expired,
  inOrder,
  issueToken,
  parseFieldSelector,
  type Resource,
  readList,
  seenChange,
  served,
  unknownPath,
  viewed,
  waitFor,
  writeScale,
} from '../apiserver/index.ts';
import { every } from '../clock.ts';
import {
  apiVersionOf,
  type GetOptions,
  KubeError,
  type ListOptions,
  type ObjectKey,
  type ObjectStore,
  type ResourceRef,
  type Selection,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '../kube/index.ts';
import { Turns } from './turns.ts';

/** Of the whole process: there is one event loop. */
const turns = new Turns();
const BOOKMARK_EVERY_MS = 60_000;
/** Changes waiting for one slow consumer before it is told to list again. */
const BACKLOG_LIMIT = 10_000;

export interface InProcessStoreOptions {
  /** Asked for on each call: the cluster may have slept in between. */
  cluster: () => Promise<Cluster>;
  identity: Identity;
  fieldManager?: string;
}

export class InProcessStore implements ObjectStore {
  readonly #options: InProcessStoreOptions;

  constructor(options: InProcessStoreOptions) {
    this.#options = options;
  }

  get<T extends KubeObject>(ref: ResourceRef, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    return this.#on(ref, async (cluster, resource) => {
      options.signal?.throwIfAborted();
      if (options.resourceVersion) await waitFor(cluster, Number(options.resourceVersion));
      return (await cluster.operations.read(resource, key.namespace ?? '', key.name)) as T;
    });
  }

  list<T extends KubeObject>(ref: ResourceRef, options: ListOptions = {}): Promise<KubeList<T>> {
    return this.#on(ref, async (cluster, resource) => {
      options.signal?.throwIfAborted();
      const listed = await readList(cluster, resource, options.namespace ?? '', {
        ...selectionOf(resource, options),
        limit: options.limit,
        continue: options.continue,
        resourceVersion: options.resourceVersion ? Number(options.resourceVersion) : undefined,
        match: options.resourceVersionMatch,
        bookmarks: false,
      });
      return {
        kind: resource.listKind,
        apiVersion: apiVersionOf(resource),
        metadata: listed.meta,
        items: listed.items.map((stored) => viewed(resource, stored) as T),
      };
    });
  }

  async *watch<T extends KubeObject>(ref: ResourceRef, options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    const queue = new EventQueue<T>(options.signal);
    const stop = await this.#on(ref, (cluster, resource) => startWatch(cluster, resource, options, queue));
    try {
      yield* queue.drain();
    } finally {
      stop();
    }
  }

  create<T extends KubeObject>(ref: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#on(ref, async (cluster, resource) => {
      const namespace = object.metadata.namespace ?? '';
      const write = this.#write(options);
      const copy = clone(object) as KubeObject;
      switch (options.subresource) {
        case undefined:
          return (await cluster.operations.create(resource, namespace, copy, write)) as T;
        case 'eviction':
          await evict(cluster, resource, namespace, object.metadata.name ?? '', copy, { ...write, subresource: '' });
          return object;
        case 'binding':
          await bind(
            cluster.operations,
            resource,
            namespace,
            object.metadata.name ?? '',
            copy,
            write,
            cluster.clock.now(),
          );
          return object;
        case 'token':
          return issueToken(cluster, namespace, object.metadata.name ?? '', copy) as T;
        default:
          throw unknownPath();
      }
    });
  }

  update<T extends KubeObject>(ref: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#on(ref, async (cluster, resource) => {
      const { namespace = '', name = '' } = object.metadata;
      const copy = clone(object) as KubeObject;
      const write = this.#write(options);
      if (options.subresource === 'scale') {
        const scale = { ...write, subresource: '' };
        return (await writeScale(cluster.operations, resource, namespace, name, () => copy, scale)) as T;
      }
      return (await cluster.operations.update(resource, namespace, name, copy, write)).object as T;
    });
  }

  updateStatus<T extends KubeObject>(ref: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    return this.update(ref, object, { ...options, subresource: 'status' });
  }

  patch<T extends KubeObject>(
    ref: ResourceRef,
    key: ObjectKey,
    patch: Parameters<ObjectStore['patch']>[2],
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#on(ref, async (cluster, resource) => {
      const copy = { type: patch.type, body: clone(patch.body) };
      const { namespace = '', name } = key;
      return (await cluster.operations.patch(resource, namespace, name, copy, this.#write(options))).object as T;
    });
  }

  apply<T extends KubeObject>(
    ref: ResourceRef,
    object: KubeObject,
    options: Parameters<ObjectStore['apply']>[2],
  ): Promise<T> {
    return this.#on(ref, async (cluster, resource) => {
      const { namespace = '', name = '' } = object.metadata;
      const patch = { type: 'apply' as const, body: clone(object), force: options.force };
      return (await cluster.operations.patch(resource, namespace, name, patch, this.#write(options))).object as T;
    });
  }

  delete<T extends KubeObject>(
    ref: ResourceRef,
    key: ObjectKey,
    options: Parameters<ObjectStore['delete']>[2] = {},
  ): Promise<T | undefined> {
    return this.#on(ref, async (cluster, resource) => {
      const { dryRun, signal: _signal, ...deletion } = options;
      const { namespace = '', name } = key;
      const done = await cluster.operations.delete(resource, namespace, name, deletion, this.#write({ dryRun }));
      return done.gone ? undefined : (done.result as T);
    });
  }

  #write(options: WriteOptions) {
    options.signal?.throwIfAborted();
    return {
      identity: this.#options.identity,
      dryRun: options.dryRun,
      fieldManager: options.fieldManager ?? this.#options.fieldManager ?? 'rookery',
      fieldValidation: options.fieldValidation,
      subresource: options.subresource,
    };
  }

  async #on<R>(ref: ResourceRef, work: (cluster: Cluster, resource: Resource) => R | Promise<R>): Promise<R> {
    await turns.take();
    const cluster = await this.#options.cluster();
    cluster.active++;
    try {
      const resource = cluster.registry.find(ref.group, ref.version, ref.plural);
      if (!resource) throw unknownPath();
      return await work(cluster, resource);
    } catch (error) {
      throw asKubeError(error);
    } finally {
      cluster.active--;
      cluster.lastUsed = cluster.clock.now();
    }
  }
}

function selectionOf(resource: Resource, selection: Selection) {
  return {
    labels: selection.labelSelector ? parseLabelSelector(selection.labelSelector) : EVERYTHING,
    fields: parseFieldSelector(selection.fieldSelector ?? '', resource),
  };
}

async function startWatch<T extends KubeObject>(
  cluster: Cluster,
  resource: Resource,
  options: WatchOptions,
  queue: EventQueue<T>,
): Promise<() => void> {
  const selection = selectionOf(resource, options);
  let afterRv = Number(options.resourceVersion ?? '0');
  if (afterRv > 0) await waitFor(cluster, afterRv);
  else {
    const listed = await readList(cluster, resource, options.namespace ?? '', { ...selection, bookmarks: false });
    for (const stored of listed.items) queue.push({ type: 'ADDED', object: viewed(resource, stored) as T });
    afterRv = listed.rv;
  }
  const request = { resource: resource.storage, namespace: options.namespace, name: selection.fields.name, afterRv };
  // Held awake for as long as somebody watches.
  cluster.active++;
  const show = (event: ChangeEvent) => {
    const seen = seenChange(resource, selection, event);
    if (!seen) return;
    const object = seen.rv === undefined ? viewed(resource, seen.stored) : served(resource, seen.stored);
    if (seen.rv !== undefined) object.metadata.resourceVersion = String(seen.rv);
    queue.push({ type: seen.type, object: object as T });
  };
  const changes = inOrder(resource, show, () => queue.end());
  const stopWatch = cluster.store.watch(
    request,
    (event) => changes.deliver(event),
    () => queue.end(),
  );
  const bookmark = () => {
    if (changes.isBehind) return;
    const metadata = { resourceVersion: String(stopWatch.reached) };
    queue.push({
      type: 'BOOKMARK',
      object: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata } as T,
    });
  };
  const cancels = [
    options.bookmarks === false ? () => {} : every(cluster.clock, BOOKMARK_EVERY_MS, bookmark),
    options.timeoutSeconds === undefined
      ? () => {}
      : cluster.clock.after(options.timeoutSeconds * 1000, () => {
          if (options.bookmarks !== false) bookmark();
          queue.end();
        }),
  ];
  return () => {
    for (const cancel of cancels) cancel();
    stopWatch();
    cluster.active--;
  };
}

/** Turns pushes into an async iteration; a consumer that falls far behind has to list again. */
class EventQueue<T extends KubeObject> {
  readonly #waiting: WatchEvent<T>[] = [];
  readonly #signal: AbortSignal | undefined;
  #wake = () => {};
  #ended = false;
  #overrun = false;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', () => this.#wake(), { once: true });
  }

  push(event: WatchEvent<T>): void {
    if (this.#waiting.length >= BACKLOG_LIMIT) this.#overrun = true;
    else this.#waiting.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *drain(): AsyncGenerator<WatchEvent<T>> {
    for (;;) {
      this.#signal?.throwIfAborted();
      const event = this.#waiting.shift();
      if (event) yield event;
      else if (this.#overrun) throw asKubeError(expired('the watcher was too slow and has to list again'));
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

/** Refusals become what a remote store would have thrown; anything else is not ours to dress up. */
function asKubeError(error: unknown): unknown {
  const refusal = refusalOf(error);
  return refusal ? new KubeError(refusal.toStatus(), { cause: error }) : error;
}

function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof CompactedError) return expired(error.message);
  if (error instanceof SelectorError) return badRequest(error.message);
  return undefined;
}
