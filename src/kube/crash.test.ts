import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { interceptStore, type StoreCall } from './intercept-store.ts';
import { isAlreadyExists, isNotFound } from './kube-error.ts';
import { Manager } from './manager.ts';
import { withController } from './owner-references.ts';
import type { Reconciler } from './reconciler.ts';
import type { ObjectStore, ResourceRef } from './store.ts';
import { FakeClock, seededRandom } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const nests: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'nests', kind: 'Nest', namespaced: true };
const eggs: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'eggs', kind: 'Egg', namespaced: true };

/** Makes as many eggs as the nest wants, then writes down how many there are. */
const layEggs =
  (store: ObjectStore): Reconciler =>
  async (key) => {
    const nest = await store.get(nests, key).catch((error): KubeObject | undefined => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!nest) return;
    for (let i = 0; i < nest.spec.size; i++) {
      const egg = { apiVersion: 'test.dev/v1', kind: 'Egg', metadata: { ...key, name: `${key.name}-${i}` } };
      await store.create(eggs, withController(egg, nest)).catch((error) => {
        if (!isAlreadyExists(error)) throw error;
      });
    }
    const count = (await store.list(eggs, { namespace: key.namespace })).items.length;
    if (nest.status?.eggs !== count) await store.updateStatus(nests, { ...nest, status: { eggs: count } });
  };

describe('a controller process that dies', () => {
  const places = [0, 1, 2, 3].flatMap((at) => (['before', 'after'] as const).map((when) => ({ at, when })));

  it.each(places)('$when write $at is made good by the next one', async ({ at, when }) => {
    const clock = new FakeClock();
    const random = seededRandom(at);
    const memory = new MemoryStore(clock, random);
    /** From the crash on, nothing this process does reaches the store. */
    let isDead = false;
    let writes = 0;
    const crash = (call: StoreCall) => {
      if (isDead || (call.isWrite && writes++ === at)) {
        isDead = true;
        throw new Error('power cut');
      }
    };
    const dying = interceptStore(
      memory,
      when === 'before' ? { before: crash } : { before: () => alive(), after: crash },
    );
    const alive = () => {
      if (isDead) throw new Error('power cut');
    };
    const start = (store: ObjectStore) => {
      const manager = new Manager({ store, clock, random });
      manager.addController({ name: 'nest', resource: nests, owns: [eggs], reconcile: layEggs(store) });
      const stop = new AbortController();
      const running = manager.run(stop.signal);
      return () => {
        stop.abort();
        return running;
      };
    };
    await memory.create(nests, {
      apiVersion: 'test.dev/v1',
      kind: 'Nest',
      metadata: { namespace: 'n', name: 'a' },
      spec: { size: 3 },
    });
    const stopFirst = start(dying);
    await clock.advance(1_000);
    expect(isDead).toBe(true);
    await stopFirst();

    const stopSecond = start(memory);
    await clock.advance(1_000);
    expect((await memory.get(nests, { namespace: 'n', name: 'a' })).status).toEqual({ eggs: 3 });
    expect((await memory.list(eggs)).items).toHaveLength(3);
    await stopSecond();
  });
});
