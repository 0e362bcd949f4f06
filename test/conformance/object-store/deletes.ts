import { expect, it } from 'vitest';
import { isConflict, isInvalid, isNotFound, keyOf } from '../../../src/kube/index.ts';
import { configMap, configMaps, failureOf, type Scene, takeEvents } from './scene.ts';

const FINALIZER = 'conformance.rookery.dev/wait';

export function deletes(scene: Scene): void {
  const create = (finalizers?: string[]) => {
    const object = configMap(scene, scene.name(), { a: '1' });
    if (finalizers) object.metadata.finalizers = finalizers;
    return scene.store.create(configMaps, object);
  };

  it('deletes', async () => {
    const key = keyOf(await create());
    expect(await scene.store.delete(configMaps, key)).toBeUndefined();
    expect(isNotFound(await failureOf(scene.store.get(configMaps, key)))).toBe(true);
    expect(isNotFound(await failureOf(scene.store.delete(configMaps, key)))).toBe(true);
  });

  it('gives a name that is made again a new uid', async () => {
    const made = await create();
    await scene.store.delete(configMaps, keyOf(made));
    const again = await scene.store.create(configMaps, configMap(scene, made.metadata.name ?? ''));
    expect(again.metadata.uid).not.toBe(made.metadata.uid);
  });

  it('waits for finalizers; the last one takes the object along', async () => {
    const { store, namespace } = scene;
    const made = await create([FINALIZER]);
    const key = keyOf(made);
    const { resourceVersion } = made.metadata;
    const events = takeEvents((signal) => store.watch(configMaps, { namespace, resourceVersion, signal }), 2);

    const deleting = await store.delete(configMaps, key);
    expect(deleting?.metadata.deletionTimestamp).toMatch(/Z$/);
    expect(deleting?.metadata.finalizers).toEqual([FINALIZER]);
    expect((await store.delete(configMaps, key))?.metadata.deletionTimestamp).toBe(
      deleting?.metadata.deletionTimestamp,
    );
    expect((await store.get(configMaps, key)).metadata.deletionTimestamp).toBe(deleting?.metadata.deletionTimestamp);

    await store.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(isNotFound(await failureOf(store.get(configMaps, key)))).toBe(true);
    expect((await events).map((event) => event.type)).toEqual(['MODIFIED', 'DELETED']);
  });

  it('refuses a new finalizer on an object that is being deleted', async () => {
    const made = await create([FINALIZER]);
    await scene.store.delete(configMaps, keyOf(made));
    const body = { metadata: { finalizers: [FINALIZER, 'conformance.rookery.dev/late'] } };
    const error = await failureOf(scene.store.patch(configMaps, keyOf(made), { type: 'merge', body }));
    expect(isInvalid(error)).toBe(true);
    await scene.store.patch(configMaps, keyOf(made), { type: 'merge', body: { metadata: { finalizers: null } } });
  });

  it('refuses when a precondition does not hold', async () => {
    const made = await create();
    const key = keyOf(made);
    const otherUid = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } };
    expect(isConflict(await failureOf(scene.store.delete(configMaps, key, otherUid)))).toBe(true);
    const changed = await scene.store.update(configMaps, { ...made, data: { a: '2' } });
    const { uid, resourceVersion } = made.metadata;
    const old = { preconditions: { uid, resourceVersion } };
    expect(isConflict(await failureOf(scene.store.delete(configMaps, key, old)))).toBe(true);
    const current = { preconditions: { uid, resourceVersion: changed.metadata.resourceVersion } };
    expect(await scene.store.delete(configMaps, key, current)).toBeUndefined();
  });

  it('deletes in the foreground: the object stays until its dependents are gone', async () => {
    const made = await create();
    const deleting = await scene.store.delete(configMaps, keyOf(made), { propagationPolicy: 'Foreground' });
    expect(deleting?.metadata.finalizers).toContain('foregroundDeletion');
    expect(deleting?.metadata.deletionTimestamp).toBeTruthy();
  });

  it('deletes nothing on a dry run', async () => {
    const made = await create();
    await scene.store.delete(configMaps, keyOf(made), { dryRun: true });
    expect(await scene.store.get(configMaps, keyOf(made))).toEqual(made);
  });
}
