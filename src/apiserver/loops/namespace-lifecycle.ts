/**
 * Empties terminating namespaces, pods first, and lets them go when nothing is left. While objects wait for grace or
 * finalizers, the namespace is watched; nothing is polled.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Resource } from '../resource.ts';
import type { ChangeEvent } from '../store/store.ts';
import { builtin, hasReason, type Loop, type LoopContext, pages, scan, WRITE, warn } from './loop.ts';
import { deletionConditions, type Remains } from './namespace-conditions.ts';
import { WorkQueue } from './work-queue.ts';

const NAMESPACES = '/namespaces';
const PODS = '/pods';
const FINALIZER = 'kubernetes';
const CONCURRENT_NAMESPACES = 10;
/** Deletions under way together share a commit. */
const CONCURRENT_DELETIONS = 50;
/** How often conditions may follow changes that do not finish the deletion. */
const REFRESH_MS = 1000;

export const namespaceLifecycle: Loop = (context) => new NamespaceLifecycle(context).start();

interface Waiting {
  stop(): void;
  /** Objects left; when it gets to zero there is something to do at once. */
  left: number;
}

class NamespaceLifecycle {
  readonly #context: LoopContext;
  readonly #queue: WorkQueue;
  readonly #waiting = new Map<string, Waiting>();

  constructor(context: LoopContext) {
    this.#context = context;
    this.#queue = new WorkQueue({
      clock: context.clock,
      concurrency: CONCURRENT_NAMESPACES,
      work: (name) => this.#finish(name),
      onError: (name, error) => {
        if (!hasReason(error, 'Conflict')) warn(context, `deleting the content of namespace ${name} failed`, error);
      },
    });
  }

  start(): () => void {
    const { store } = this.#context;
    const stopWatch = store.watch({ resource: NAMESPACES, afterRv: store.rv }, ({ type, current }) => {
      if (type === 'DELETED') this.#forget(current.key.name);
      else if (current.json.includes('"deletionTimestamp"')) this.#queue.add(current.key.name);
    });
    const stopScan = scan(this.#context, NAMESPACES, ({ key, json }) => {
      if (json.includes('"deletionTimestamp"')) this.#queue.add(key.name);
    });
    return () => {
      stopScan();
      stopWatch();
      this.#queue.stop();
      for (const name of [...this.#waiting.keys()]) this.#forget(name);
    };
  }

  async #finish(name: string): Promise<void> {
    const namespace = this.#context.store.get({ resource: NAMESPACES, namespace: '', name })?.object();
    if (!namespace?.metadata.deletionTimestamp || !namespace.spec?.finalizers?.includes(FINALIZER)) {
      return this.#forget(name);
    }
    this.#watchContent(name);
    const remains = await this.#empty(name);
    const left = sum(remains.counts.values());
    const waiting = this.#waiting.get(name);
    if (waiting) waiting.left = left;
    if (left || remains.errors.length || staysAfterUs(namespace)) await this.#report(namespace, remains);
    if (remains.errors.length) throw new Error(remains.errors.join(', '));
    if (left) {
      // What went away between counting and here was not counted down.
      if (this.#count(remains.counts.keys(), name) < left) this.#queue.add(name);
      return;
    }
    // A create that was admitted before the deletion began may have come in behind us.
    if (this.#present(name).length) return this.#queue.add(name);
    await this.#finalize(name);
    this.#forget(name);
  }

  /** Kinds that have objects in the namespace. */
  #present(name: string): Resource[] {
    const { registry, store } = this.#context;
    return [...registry.storages().values()].filter((r) => r.namespaced && store.count(r.storage, name) > 0);
  }

  /** Deletes what is there. As long as pods are left, nothing else is touched: they may need it to shut down. */
  async #empty(name: string): Promise<Remains> {
    const present = this.#present(name);
    const remains: Remains = { counts: new Map(), finalizers: new Map(), errors: [] };
    const pods = present.find((r) => r.storage === PODS);
    if (pods) await this.#deleteAll(pods, name, remains);
    if (remains.counts.size) return remains;
    for (const resource of present) if (resource !== pods) await this.#deleteAll(resource, name, remains);
    return remains;
  }

  async #deleteAll(resource: Resource, name: string, remains: Remains): Promise<void> {
    const { store } = this.#context;
    for await (const page of pages(store, resource.storage, name)) {
      const todo = page
        .filter((stored) => !stored.object().metadata.deletionTimestamp)
        .map((stored) => stored.key.name);
      const worker = async () => {
        for (let object = todo.pop(); object !== undefined; object = todo.pop()) {
          await this.#delete(resource, name, object, remains);
        }
      };
      await Promise.all(Array.from({ length: Math.min(CONCURRENT_DELETIONS, todo.length) }, worker));
    }
    for await (const page of pages(store, resource.storage, name)) {
      remains.counts.set(resource, (remains.counts.get(resource) ?? 0) + page.length);
      for (const stored of page) {
        for (const finalizer of stored.object().metadata.finalizers ?? []) {
          remains.finalizers.set(finalizer, (remains.finalizers.get(finalizer) ?? 0) + 1);
        }
      }
    }
  }

  async #delete(resource: Resource, namespace: string, name: string, remains: Remains): Promise<void> {
    try {
      await this.#context.operations.delete(resource, namespace, name, { propagationPolicy: 'Background' }, WRITE);
    } catch (error) {
      if (hasReason(error, 'NotFound')) return;
      remains.errors.push(error instanceof Error ? error.message : String(error));
    }
  }

  #watchContent(name: string): void {
    if (this.#waiting.has(name)) return;
    const { store } = this.#context;
    const waiting: Waiting = { stop: () => {}, left: 0 };
    waiting.stop = store.watch({ namespace: name, afterRv: store.rv }, (event: ChangeEvent) => {
      if (event.type === 'DELETED') waiting.left -= 1;
      if (event.type === 'DELETED' && waiting.left === 0) this.#queue.add(name);
      else if (waiting.left > 0) this.#queue.addAfter(name, REFRESH_MS);
    });
    this.#waiting.set(name, waiting);
  }

  #forget(name: string): void {
    this.#waiting.get(name)?.stop();
    this.#waiting.delete(name);
  }

  #count(resources: Iterable<Resource>, name: string): number {
    return sum([...resources].map((resource) => this.#context.store.count(resource.storage, name)));
  }

  async #report(namespace: KubeObject, remains: Remains): Promise<void> {
    const { clock, operations } = this.#context;
    const name = namespace.metadata.name ?? '';
    const conditions = deletionConditions(namespace, remains, clock.now());
    if (!conditions) return;
    const body = { status: { phase: 'Terminating', conditions } };
    const options = { ...WRITE, subresource: 'status' };
    await operations.patch(this.#namespaces, '', name, { type: 'merge', body }, options);
  }

  async #finalize(name: string): Promise<void> {
    const { operations } = this.#context;
    try {
      const object = structuredClone(operations.get(this.#namespaces, '', name));
      object.spec.finalizers = object.spec.finalizers.filter((f: string) => f !== FINALIZER);
      await operations.update(this.#namespaces, '', name, object, { ...WRITE, subresource: 'finalize' });
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error;
    }
  }

  get #namespaces(): Resource {
    return builtin(this.#context, '', 'v1', 'namespaces');
  }
}

/** Others hold the namespace too, so what was found will be seen. */
function staysAfterUs({ metadata, spec }: KubeObject): boolean {
  return !!metadata.finalizers?.length || spec.finalizers.length > 1;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
}
