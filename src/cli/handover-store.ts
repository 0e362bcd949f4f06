/**
 * A store on a control plane that another command hosts and will take away when it ends: then this one finds or hosts the next, and the call is
 * made again. (After `rookery down` there is no next one: that was meant.)
 */
import type { KubeObject } from '../api/object.ts';
import {
  ConnectionError,
  type ObjectStore,
  type ResourceRef,
  type WatchEvent,
  type WatchOptions,
} from '../kube/index.ts';

interface Access {
  store: ObjectStore;
  close(): Promise<void>;
}

export class HandoverStore implements ObjectStore {
  readonly #reach: () => Promise<Access>;
  #access: Promise<Access>;
  #isClosed = false;

  constructor(first: Access, reach: () => Promise<Access>) {
    this.#access = Promise.resolve(first);
    this.#reach = reach;
  }

  get: ObjectStore['get'] = (...args) => this.#call((store) => store.get(...args));
  list: ObjectStore['list'] = (...args) => this.#call((store) => store.list(...args));
  create: ObjectStore['create'] = (...args) => this.#call((store) => store.create(...args));
  update: ObjectStore['update'] = (...args) => this.#call((store) => store.update(...args));
  updateStatus: ObjectStore['updateStatus'] = (...args) => this.#call((store) => store.updateStatus(...args));
  patch: ObjectStore['patch'] = (...args) => this.#call((store) => store.patch(...args));
  apply: ObjectStore['apply'] = (...args) => this.#call((store) => store.apply(...args));
  delete: ObjectStore['delete'] = (...args) => this.#call((store) => store.delete(...args));

  /** A broken watch is the caller's to begin again, as with any server; it then meets the next control plane. */
  async *watch<T extends KubeObject>(resource: ResourceRef, options?: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const access = await this.#access;
    try {
      yield* access.store.watch<T>(resource, options);
    } catch (error) {
      if (error instanceof ConnectionError) await this.#next(access);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#access).close();
  }

  async #call<R>(action: (store: ObjectStore) => Promise<R>): Promise<R> {
    const access = await this.#access;
    try {
      return await action(access.store);
    } catch (error) {
      if (!(error instanceof ConnectionError) || this.#isClosed) throw error;
      return await action((await this.#next(access)).store);
    }
  }

  /** One of those who noticed looks for the next; the others wait for it. */
  #next(lost: Access): Promise<Access> {
    this.#access = this.#access.then(async (current) => {
      if (current !== lost) return current;
      await lost.close().catch(() => {}); // What is gone cannot be closed.
      return this.#reach();
    });
    return this.#access;
  }
}
