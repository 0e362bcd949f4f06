/** A store that calls out before and after each call: to count, to delay, or to crash between any two writes. */
import type { KubeObject } from '../api/object.ts';
import { keyOf, type ObjectKey, type ObjectStore, type ResourceRef } from './store.ts';

export interface StoreCall {
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'updateStatus' | 'patch' | 'apply' | 'delete';
  resource: ResourceRef;
  key?: ObjectKey;
  isWrite: boolean;
}

/** What a hook throws is what the caller of the store gets; thrown by `after`, the call has taken effect all the same. */
export interface StoreHooks {
  before?(call: StoreCall): void | Promise<void>;
  after?(call: StoreCall): void | Promise<void>;
}

export function interceptStore(store: ObjectStore, hooks: StoreHooks): ObjectStore {
  const read = (verb: StoreCall['verb'], resource: ResourceRef, key?: ObjectKey) => ({
    verb,
    resource,
    key,
    isWrite: false,
  });
  const write = (verb: StoreCall['verb'], resource: ResourceRef, key: ObjectKey) => ({
    verb,
    resource,
    key,
    isWrite: true,
  });
  const around = async <R>(call: StoreCall, action: () => Promise<R>): Promise<R> => {
    await hooks.before?.(call);
    const result = await action();
    await hooks.after?.(call);
    return result;
  };
  return {
    get: (resource, key, options) => around(read('get', resource, key), () => store.get(resource, key, options)),
    list: (resource, options) => around(read('list', resource), () => store.list(resource, options)),
    async *watch<T extends KubeObject>(resource: ResourceRef, options?: Parameters<ObjectStore['watch']>[1]) {
      await hooks.before?.(read('watch', resource));
      yield* store.watch<T>(resource, options);
      await hooks.after?.(read('watch', resource));
    },
    create: (resource, object, options) =>
      around(write('create', resource, keyOf(object)), () => store.create(resource, object, options)),
    update: (resource, object, options) =>
      around(write('update', resource, keyOf(object)), () => store.update(resource, object, options)),
    updateStatus: (resource, object, options) =>
      around(write('updateStatus', resource, keyOf(object)), () => store.updateStatus(resource, object, options)),
    patch: (resource, key, patch, options) =>
      around(write('patch', resource, key), () => store.patch(resource, key, patch, options)),
    apply: (resource, object, options) =>
      around(write('apply', resource, keyOf(object)), () => store.apply(resource, object, options)),
    delete: (resource, key, options) =>
      around(write('delete', resource, key), () => store.delete(resource, key, options)),
  };
}
