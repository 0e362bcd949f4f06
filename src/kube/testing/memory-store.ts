/**
 * A small object store in memory for unit tests of controllers: versions, conflicts, finalizers, status, watches that
 * can be broken on purpose. No validation, no real server-side apply; the embedded API server is for that.
 */
import type { KubeList, KubeObject } from '../../api/object.ts';
import { type Clock, type Random, rfc3339 } from '../../clock.ts';
import { KubeError } from '../kube-error.ts';
import {
  type ApplyOptions,
  apiVersionOf,
  type DeleteOptions,
  keyText,
  type ListOptions,
  type ObjectKey,
  type ObjectStore,
  type Patch,
  type ResourceRef,
  type Selection,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '../store.ts';

interface LogEntry {
  version: number;
  resource: string;
  type: WatchEvent['type'];
  object: KubeObject;
}

export class MemoryStore implements ObjectStore {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #log: LogEntry[] = [];
  #wake: (() => void)[] = [];
  #version = 0;
  #oldest = 0;
  #breakage: Error | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  async get<T extends KubeObject>(resource: ResourceRef, key: ObjectKey): Promise<T> {
    return structuredClone(this.#find(resource, key)) as T;
  }

  async list<T extends KubeObject>(resource: ResourceRef, options: ListOptions = {}): Promise<KubeList<T>> {
    options.signal?.throwIfAborted();
    const items = [...this.#of(resource).values()].filter((object) => selects(object, options));
    const metadata = { resourceVersion: String(this.#version) };
    return {
      apiVersion: apiVersionOf(resource),
      kind: `${resource.kind}List`,
      metadata,
      items: structuredClone(items) as T[],
    };
  }

  async *watch<T extends KubeObject>(resource: ResourceRef, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const { signal } = options;
    let position = Number(options.resourceVersion ?? 0);
    if (position < this.#oldest)
      throw new KubeError({ code: 410, reason: 'Expired', message: 'too old resource version' });
    const wake = () => {
      for (const resolve of this.#wake.splice(0)) resolve();
    };
    signal?.addEventListener('abort', wake, { once: true });
    const breakage = this.#breakage;
    for (;;) {
      signal?.throwIfAborted();
      if (this.#breakage && this.#breakage !== breakage) throw this.#breakage;
      const news = this.#log.filter((entry) => entry.version > position && entry.resource === idOf(resource));
      for (const entry of news) {
        position = entry.version;
        if (selects(entry.object, options))
          yield structuredClone({ type: entry.type, object: entry.object }) as WatchEvent<T>;
      }
      if (news.length === 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async create<T extends KubeObject>(resource: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const metadata = { ...object.metadata };
    if (!metadata.name && metadata.generateName)
      metadata.name = `${metadata.generateName}${this.#random.bytes(3).toString('hex')}`;
    const key = keyText({ namespace: metadata.namespace, name: metadata.name ?? '' });
    if (this.#of(resource).has(key)) {
      throw new KubeError({
        code: 409,
        reason: 'AlreadyExists',
        message: `${resource.plural} "${metadata.name}" already exists`,
      });
    }
    const made = { ...structuredClone(object), metadata } as T;
    metadata.uid = this.#random.uuid();
    metadata.creationTimestamp = rfc3339(this.#clock.now());
    metadata.generation = 1;
    return options.dryRun ? made : this.#store(resource, key, made, 'ADDED');
  }

  async update<T extends KubeObject>(resource: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const { namespace, name = '' } = object.metadata;
    const old = this.#find(resource, { namespace, name });
    const { resourceVersion, uid } = object.metadata;
    if ((resourceVersion && resourceVersion !== old.metadata.resourceVersion) || (uid && uid !== old.metadata.uid)) {
      throw new KubeError({ code: 409, reason: 'Conflict', message: 'the object has been modified' });
    }
    return this.#change(resource, old, structuredClone(object), options) as T;
  }

  updateStatus<T extends KubeObject>(resource: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    return this.update(resource, object, { ...options, subresource: 'status' });
  }

  async patch<T extends KubeObject>(
    resource: ResourceRef,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    if (patch.type === 'json') throw new Error('the memory store knows merge patches only');
    return this.update(resource, merge(this.#find(resource, key), patch.body) as T, options);
  }

  async apply<T extends KubeObject>(resource: ResourceRef, object: KubeObject, options: ApplyOptions): Promise<T> {
    const { namespace, name = '' } = object.metadata;
    const exists = this.#of(resource).has(keyText({ namespace, name }));
    if (!exists) return this.create(resource, object as T, options);
    return this.patch(resource, { namespace, name }, { type: 'merge', body: object }, options);
  }

  async delete<T extends KubeObject>(
    resource: ResourceRef,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    options.signal?.throwIfAborted();
    const old = this.#find(resource, key);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if ((uid && uid !== old.metadata.uid) || (resourceVersion && resourceVersion !== old.metadata.resourceVersion)) {
      throw new KubeError({ code: 409, reason: 'Conflict', message: 'the precondition does not hold' });
    }
    const deletionTimestamp = old.metadata.deletionTimestamp ?? rfc3339(this.#clock.now());
    const object = { ...structuredClone(old), metadata: { ...structuredClone(old.metadata), deletionTimestamp } };
    if ((old.metadata.finalizers ?? []).length > 0) return this.#store(resource, keyText(key), object, 'MODIFIED') as T;
    this.#store(resource, keyText(key), object, 'DELETED');
    return undefined;
  }

  /** Every watch open now ends with `error`. */
  breakWatches(error: Error): void {
    this.#breakage = error;
    for (const resolve of this.#wake.splice(0)) resolve();
  }

  /** History up to now is gone: watches from before answer 410. */
  compact(): void {
    this.#oldest = this.#version;
    this.#log.length = 0;
  }

  #change(resource: ResourceRef, old: KubeObject, wanted: KubeObject, options: WriteOptions): KubeObject {
    const isStatus = options.subresource === 'status';
    const next: KubeObject = isStatus ? { ...old, status: wanted.status } : { ...wanted, status: old.status };
    if (next.status === undefined) delete next.status;
    const { uid, creationTimestamp, deletionTimestamp, generation = 1, resourceVersion } = old.metadata;
    const metadata = isStatus ? old.metadata : wanted.metadata;
    next.metadata = { ...metadata, uid, creationTimestamp, generation, resourceVersion };
    if (deletionTimestamp) next.metadata.deletionTimestamp = deletionTimestamp;
    if (JSON.stringify(next) === JSON.stringify(old)) return structuredClone(old);
    if (JSON.stringify(next.spec) !== JSON.stringify(old.spec)) next.metadata.generation = generation + 1;
    if (options.dryRun) return next;
    const isLast = deletionTimestamp && (next.metadata.finalizers ?? []).length === 0;
    const { namespace, name = '' } = old.metadata;
    return this.#store(resource, keyText({ namespace, name }), next, isLast ? 'DELETED' : 'MODIFIED');
  }

  #store<T extends KubeObject>(resource: ResourceRef, key: string, object: T, type: WatchEvent['type']): T {
    object.metadata.resourceVersion = String(++this.#version);
    if (type === 'DELETED') this.#of(resource).delete(key);
    else this.#of(resource).set(key, object);
    this.#log.push({ version: this.#version, resource: idOf(resource), type, object });
    for (const resolve of this.#wake.splice(0)) resolve();
    return structuredClone(object);
  }

  #of(resource: ResourceRef): Map<string, KubeObject> {
    const id = idOf(resource);
    let objects = this.#objects.get(id);
    if (!objects) {
      objects = new Map();
      this.#objects.set(id, objects);
    }
    return objects;
  }

  #find(resource: ResourceRef, key: ObjectKey): KubeObject {
    const object = this.#of(resource).get(keyText(key));
    if (object) return object;
    const details = { name: key.name, kind: resource.plural, group: resource.group };
    throw new KubeError({
      code: 404,
      reason: 'NotFound',
      message: `${resource.plural} "${key.name}" not found`,
      details,
    });
  }
}

const idOf = (resource: ResourceRef) => `${resource.group}/${resource.plural}`;

/** Namespaces, `a=b` labels and `metadata.name=x`; enough for controllers. */
function selects(object: KubeObject, selection: Selection): boolean {
  const { namespace, labelSelector = '', fieldSelector = '' } = selection;
  if (namespace && object.metadata.namespace !== namespace) return false;
  const pairs = (text: string) =>
    text
      .split(',')
      .filter(Boolean)
      .map((pair) => pair.split('=') as [string, string]);
  if (!pairs(labelSelector).every(([label, value]) => object.metadata.labels?.[label] === value)) return false;
  return pairs(fieldSelector).every(([, value]) => object.metadata.name === value);
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return structuredClone(patch);
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else if (value !== undefined) result[field] = merge(result[field], value);
  }
  return result;
}
