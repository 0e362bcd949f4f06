/**
 * Keeps what a cluster serves, and the status of its CRDs, in step with the CRDs that are stored. A CRD is served in the
 * tick in which its create is committed; its conditions follow with one write. Deletion waits until every object is gone.
 */
import { type Clock, rfc3339 } from '../../clock.ts';
import type { Registry } from '../kinds/registry.ts';
import type { Conversion } from '../resource.ts';
import { deepEqual } from '../schema/equal.ts';
import type { ChangeEvent, Store, Stored } from '../store/store.ts';
import { crdConditions } from './conditions.ts';
import { CLEANUP_FINALIZER, CRD_STORAGE, type Crd, type CrdStatus, isTrue } from './crd.ts';
import { CrdIndex, summaryOf } from './crd-index.ts';
import { customResources, storageOf } from './resources.ts';

export interface CrdControllerContext {
  store: Store;
  registry: Pick<Registry, 'setCustom' | 'removeCustom'>;
  clock: Clock;
  /** Finds who converts between the versions of a CRD; without it, versions differ in nothing but their name. */
  conversion?(crd: Crd): Conversion | undefined;
  /** Deletes the objects of a CRD (see cleanup.ts); without it, CRDs being deleted wait. */
  removeObjects?(crd: Crd): Promise<void>;
  /** Told about failures that no request sees. */
  report?(error: unknown): void;
}

export class CrdController {
  readonly #context: CrdControllerContext;
  /** CRDs without their schemas, by name. */
  readonly #known = new Map<string, Crd>();
  /** Those whose status was just written: large ones are not parsed again to see that. */
  readonly #written = new Map<string, Crd>();
  readonly #index: CrdIndex;
  /** Ends of watches on objects of CRDs being deleted. */
  readonly #waits = new Map<string, () => void>();
  #stopWatch: (() => void) | undefined;
  #stopped = false;

  constructor(context: CrdControllerContext) {
    this.#context = context;
    this.#index = new CrdIndex(context.store);
  }

  /** Serves everything stored; returns when the registry is complete. */
  start(): void {
    const { store } = this.#context;
    const { items, rv } = this.#listAll();
    const summaries = this.#index.load(items);
    for (const crd of summaries) {
      this.#known.set(crd.metadata.name as string, crd);
      this.#serve(crd);
    }
    this.#stopWatch = store.watch({ resource: CRD_STORAGE, afterRv: rv }, (event) => this.#changed(event));
    // A crash may have come between a CRD and its status, or in the middle of a cleanup.
    for (const crd of summaries) {
      if (crd.metadata.deletionTimestamp || !isTrue(crd, 'Established')) this.#settle(crd.metadata.name as string);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#stopWatch?.();
    this.#index.flush();
    for (const end of this.#waits.values()) end();
    this.#waits.clear();
  }

  #listAll(): { items: Stored[]; rv: number } {
    const items: Stored[] = [];
    for (;;) {
      const last = items.at(-1)?.key;
      const page = this.#context.store.list({ resource: CRD_STORAGE, after: last, limit: 500 });
      items.push(...page.items);
      if (!page.more) return { items, rv: page.rv };
    }
  }

  #changed(event: ChangeEvent): void {
    const name = event.current.key.name;
    if (event.type === 'DELETED') {
      const group = this.#known.get(name)?.spec.group;
      this.#known.delete(name);
      this.#context.registry.removeCustom(name);
      this.#index.forget(name);
      // The names it held are free again.
      for (const other of this.#known.values()) {
        if (other.spec.group === group && !isTrue(other, 'NamesAccepted')) this.#settle(other.metadata.name as string);
      }
      return;
    }
    const own = this.#written.get(name);
    this.#written.delete(name);
    const isOwn = own?.metadata.resourceVersion === String(event.rv);
    const stored = isOwn ? own : summaryOf(event.current.object() as Crd);
    this.#index.remember(stored);
    // With the status it is about to get: served before that is written, and its names are taken at once.
    const crd = { ...stored, status: this.#statusOf(stored) };
    this.#known.set(name, crd);
    this.#serve(crd);
    this.#settle(name);
  }

  #statusOf(crd: Crd): CrdStatus {
    return crdConditions(crd, this.#known.values(), rfc3339(this.#context.clock.now()));
  }

  #serve(crd: Crd): void {
    const name = crd.metadata.name as string;
    const { registry, store } = this.#context;
    if (!isTrue(crd, 'Established')) {
      registry.removeCustom(name);
      return;
    }
    const key = { resource: CRD_STORAGE, namespace: '', name };
    const load = (version: string) => {
      const stored = store.get(key)?.object() as Crd | undefined;
      return stored?.spec.versions.find((v) => v.name === version)?.schema?.openAPIV3Schema;
    };
    registry.setCustom(name, customResources(crd, load, this.#context.conversion?.(crd)));
  }

  /** Writes the status where it differs, then cleans up where that is due. */
  #settle(name: string): void {
    this.#write(name)
      .then((crd) => {
        if (crd?.metadata.deletionTimestamp && crd.metadata.finalizers?.includes(CLEANUP_FINALIZER)) {
          return this.#cleanUp(crd);
        }
        return undefined;
      })
      .catch((error: unknown) => {
        if (!this.#stopped) this.#context.report?.(error);
      });
  }

  #write(name: string, change?: (crd: Crd) => void): Promise<Crd | undefined> {
    const key = { resource: CRD_STORAGE, namespace: '', name };
    const written = this.#context.store.write((tx) => {
      const stored = tx.get(key);
      if (!stored || this.#stopped) return undefined;
      const crd = stored.object() as Crd;
      const next = { ...crd, status: this.#statusOf(crd) };
      if (change) {
        next.metadata = structuredClone(crd.metadata);
        change(next);
      }
      const done = next.metadata.deletionTimestamp && !next.metadata.finalizers?.length;
      if (done) tx.delete(key);
      else if (change || !deepEqual(crd.status, next.status)) {
        const { rv } = tx.put(key, { ...next, metadata: { ...next.metadata } });
        const { metadata } = next;
        this.#written.set(name, summaryOf({ ...next, metadata: { ...metadata, resourceVersion: String(rv) } }));
      }
      return next;
    });
    return written.finally(() => this.#written.delete(name));
  }

  async #cleanUp(crd: Crd): Promise<void> {
    const name = crd.metadata.name as string;
    const { removeObjects, store } = this.#context;
    if (this.#waits.has(name)) return;
    const storage = storageOf(crd);
    if (store.count(storage) > 0) {
      if (!removeObjects) return;
      // Some objects may wait for finalizers of their own: come back with every one that goes.
      const end = store.watch({ resource: storage, afterRv: store.rv }, (event) => {
        if (event.type === 'DELETED' && store.count(storage) === 0) this.#finish(name);
      });
      this.#waits.set(name, end);
      await removeObjects(crd);
      if (store.count(storage) > 0) return;
    }
    this.#finish(name);
  }

  #finish(name: string): void {
    this.#waits.get(name)?.();
    this.#waits.delete(name);
    this.#write(name, (crd) => {
      crd.metadata.finalizers = crd.metadata.finalizers?.filter((f) => f !== CLEANUP_FINALIZER);
      if (crd.metadata.finalizers?.length === 0) delete crd.metadata.finalizers;
    }).catch((error: unknown) => this.#context.report?.(error));
  }
}
