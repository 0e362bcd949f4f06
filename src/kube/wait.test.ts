import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { keyOf, type ResourceRef } from './store.ts';
import { FakeClock, seededRandom, settle } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';
import { waitFor, waitForCondition, waitForGone } from './wait.ts';

const things: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const key = { namespace: 'n', name: 'a' };
const thing: KubeObject = { apiVersion: 'test.dev/v1', kind: 'Thing', metadata: key, spec: { size: 1 } };

function scene() {
  const clock = new FakeClock();
  const random = seededRandom();
  return { clock, store: new MemoryStore(clock, random), options: { clock, random } };
}

const ready = (status: string, observedGeneration = 1) => ({
  conditions: [{ type: 'Ready', status, observedGeneration, reason: 'Pulling', message: 'the image' }],
});

describe('waitFor', () => {
  it('returns at once what is there, and later what comes', async () => {
    const { store, options } = scene();
    const waiting = waitFor(store, things, key, (object) => object?.spec.size === 2, options);
    const made = await store.create(things, thing);
    await settle();
    await store.update(things, { ...made, spec: { size: 2 } });
    expect((await waiting)?.spec.size).toBe(2);
    expect((await waitFor(store, things, key, (object) => object?.spec.size === 2, options))?.spec.size).toBe(2);
  });

  it('waits for a condition of the newest generation', async () => {
    const { store, options } = scene();
    const made = await store.create(things, thing);
    await store.updateStatus(things, { ...made, status: ready('True') });
    const changed = await store.patch(things, key, { type: 'merge', body: { spec: { size: 2 } } });
    let isReady = false;
    const waiting = waitForCondition(store, things, key, 'Ready', options).then(() => {
      isReady = true;
    });
    await settle();
    expect(isReady).toBe(false);
    await store.updateStatus(things, { ...changed, status: ready('True', 2) });
    await waiting;
  });

  it('waits until it is gone, or another has its name', async () => {
    const { store, options } = scene();
    const made = await store.create(things, thing);
    const waiting = waitForGone(store, things, key, options);
    await settle();
    await store.delete(things, keyOf(made));
    await waiting;
    await waitForGone(store, things, key, options);
    await store.create(things, thing);
    await waitForGone(store, things, key, { ...options, uid: made.metadata.uid });
  });

  it('says what it waited for and what it found instead', async () => {
    const { clock, store, options } = scene();
    const made = await store.create(things, thing);
    await store.updateStatus(things, { ...made, status: ready('False') });
    const waiting = waitForCondition(store, things, key, 'Ready', { ...options, timeoutMs: 30_000 });
    waiting.catch(() => {});
    await clock.advance(30_000);
    await expect(waiting).rejects.toMatchObject({
      code: 'WAIT_TIMEOUT',
      message: 'Thing n/a: waited 30 s for condition Ready=True; Ready=False (Pulling: the image)',
    });
  });

  it('ends with its signal, and with what the predicate throws', async () => {
    const { store, options } = scene();
    const stop = new AbortController();
    const waiting = waitFor(store, things, key, () => false, { ...options, signal: stop.signal });
    waiting.catch(() => {});
    await settle();
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const failing = waitFor(
      store,
      things,
      key,
      () => {
        throw new Error('it failed for good');
      },
      options,
    );
    await expect(failing).rejects.toThrow('it failed for good');
  });
});
