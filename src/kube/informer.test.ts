import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { silentLogger } from '../telemetry/log.ts';
import { Informer } from './informer.ts';
import { Informers } from './informers.ts';
import { interceptStore } from './intercept-store.ts';
import { ConnectionError, KubeError } from './kube-error.ts';
import { keyOf, type ResourceRef } from './store.ts';
import { FakeClock, seededRandom, settle } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const things: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };

function thing(namespace: string, name: string, color: string, ownerUid?: string): KubeObject {
  const ownerReferences = ownerUid ? [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: ownerUid }] : undefined;
  return { apiVersion: 'test.dev/v1', kind: 'Thing', metadata: { namespace, name, ownerReferences }, spec: { color } };
}

function scene() {
  const clock = new FakeClock();
  const random = seededRandom();
  const store = new MemoryStore(clock, random);
  const stop = new AbortController();
  const informer = new Informer({ store, resource: things, clock, random });
  const log: string[] = [];
  const handler = {
    added: (object: KubeObject, initial: boolean) =>
      log.push(`added ${object.metadata.name}${initial ? ' initially' : ''}`),
    updated: (object: KubeObject, old: KubeObject) =>
      log.push(`updated ${object.metadata.name} ${old.spec.color}→${object.spec.color}`),
    deleted: (object: KubeObject) => log.push(`deleted ${object.metadata.name}`),
  };
  return { clock, random, store, stop, informer, log, handler };
}

describe('Informer', () => {
  it('has synced only when every handler has seen what is there', async () => {
    const { store, stop, informer, log, handler } = scene();
    await store.create(things, thing('n', 'a', 'red'));
    informer.addHandler(handler);
    expect(informer.hasSynced).toBe(false);
    void informer.run(stop.signal);
    await informer.whenSynced();
    expect(informer.hasSynced).toBe(true);
    expect(log).toEqual(['added a initially']);
    stop.abort();
  });

  it('follows changes and tells old and new', async () => {
    const { store, stop, informer, log, handler } = scene();
    informer.addHandler(handler);
    void informer.run(stop.signal);
    await informer.whenSynced();
    const made = await store.create(things, thing('n', 'a', 'red'));
    await store.update(things, { ...made, spec: { color: 'blue' } });
    await settle();
    expect(informer.get(keyOf(made))?.spec.color).toBe('blue');
    await store.delete(things, keyOf(made));
    await settle();
    expect(informer.get(keyOf(made))).toBeUndefined();
    expect(log).toEqual(['added a', 'updated a red→blue', 'deleted a']);
    stop.abort();
  });

  it('tells a late handler what is there, and a removed one nothing more', async () => {
    const { store, stop, informer, log, handler } = scene();
    await store.create(things, thing('n', 'a', 'red'));
    void informer.run(stop.signal);
    await informer.whenSynced();
    const remove = informer.addHandler(handler);
    expect(log).toEqual(['added a initially']);
    remove();
    await store.create(things, thing('n', 'b', 'red'));
    await settle();
    expect(log).toHaveLength(1);
    stop.abort();
  });

  it('keeps indexes right through updates and deletes', async () => {
    const { store, stop, informer } = scene();
    informer.addIndex('color', (object) => [object.spec.color]);
    void informer.run(stop.signal);
    await informer.whenSynced();
    const a = await store.create(things, thing('n', 'a', 'red', 'uid-1'));
    await store.create(things, thing('m', 'b', 'red', 'uid-1'));
    await settle();
    const names = (objects: KubeObject[]) => objects.map((object) => object.metadata.name).sort();
    expect(names(informer.byIndex('color', 'red'))).toEqual(['a', 'b']);
    expect(names(informer.byIndex('owner', 'uid-1'))).toEqual(['a', 'b']);
    expect(names(informer.list('n'))).toEqual(['a']);
    expect(names(informer.list())).toEqual(['a', 'b']);

    await store.update(things, { ...a, spec: { color: 'blue' }, metadata: { ...a.metadata, ownerReferences: [] } });
    await settle();
    expect(names(informer.byIndex('color', 'red'))).toEqual(['b']);
    expect(names(informer.byIndex('color', 'blue'))).toEqual(['a']);
    expect(names(informer.byIndex('owner', 'uid-1'))).toEqual(['b']);

    await store.delete(things, keyOf(a));
    await settle();
    expect(informer.byIndex('color', 'blue')).toEqual([]);
    expect(() => informer.byIndex('shape', 'round')).toThrow(/no index/);
    stop.abort();
  });

  it('hands out objects that cannot be changed', async () => {
    const { store, stop, informer } = scene();
    const made = await store.create(things, thing('n', 'a', 'red'));
    void informer.run(stop.signal);
    await informer.whenSynced();
    const cached = informer.get(keyOf(made)) as KubeObject;
    expect(() => {
      cached.spec.color = 'blue';
    }).toThrow(TypeError);
    stop.abort();
  });

  it('catches up after broken watches and lost history', async () => {
    const { clock, store, stop, informer, log, handler } = scene();
    informer.addHandler(handler);
    void informer.run(stop.signal);
    await informer.whenSynced();
    const a = await store.create(things, thing('n', 'a', 'red'));
    await settle();
    store.breakWatches(new ConnectionError('reset'));
    await store.create(things, thing('n', 'b', 'red'));
    await store.delete(things, keyOf(a));
    store.compact();
    await clock.advance(60_000);
    expect(log).toEqual(['added a', 'added b', 'deleted a']);
    expect(informer.lastError).toMatchObject({ code: 410 });
    stop.abort();
  });

  it('goes on when a handler throws', async () => {
    const { store, stop, informer, log, handler } = scene();
    informer.addHandler({
      added: () => {
        throw new Error('careless');
      },
    });
    informer.addHandler(handler);
    void informer.run(stop.signal);
    await informer.whenSynced();
    await store.create(things, thing('n', 'a', 'red'));
    await settle();
    expect(log).toEqual(['added a']);
    stop.abort();
  });

  it('stops waiting for sync when told to', async () => {
    const { informer } = scene();
    await expect(informer.whenSynced(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

describe('Informer, whatever happens', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('write' as const, 'delete' as const), name }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('break' as const, 'compact' as const), name }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), name }) },
  );

  it('tells a story without gaps and ends with what is stored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, store, stop, informer } = scene();
        const told = new Map<string, KubeObject>();
        informer.addHandler({
          added(object) {
            expect(told.has(object.metadata.name ?? '')).toBe(false);
            told.set(object.metadata.name ?? '', object);
          },
          updated(object, old) {
            expect(told.get(object.metadata.name ?? '')).toBe(old);
            expect(object.metadata.uid).toBe(old.metadata.uid);
            told.set(object.metadata.name ?? '', object);
          },
          deleted(object) {
            expect(told.delete(object.metadata.name ?? '')).toBe(true);
          },
        });
        const running = informer.run(stop.signal);
        for (const [i, s] of steps.entries()) {
          const key = { namespace: 'n', name: s.name };
          if (s.do === 'write') await store.apply(things, thing('n', s.name, `c${i}`), { fieldManager: 'x' });
          else if (s.do === 'delete') await store.delete(things, key).catch(() => {});
          else if (s.do === 'break') store.breakWatches(new ConnectionError(`reset ${i}`));
          else if (s.do === 'compact') store.compact();
          else await clock.advance(500);
        }
        await clock.advance(120_000);
        const stored = (await store.list(things)).items.map((object) => object.metadata.resourceVersion).sort();
        expect([...told.values()].map((object) => object.metadata.resourceVersion).sort()).toEqual(stored);
        expect(
          informer
            .list()
            .map((object) => object.metadata.resourceVersion)
            .sort(),
        ).toEqual(stored);
        stop.abort();
        await running;
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('Informers', () => {
  it('shares one informer for each resource and selection, without managed fields', async () => {
    const { clock, random, store, stop } = scene();
    const informers = new Informers({ store, clock, random, log: silentLogger });
    const all = informers.for(things);
    expect(informers.for({ ...things })).toBe(all);
    expect(informers.for(things, { namespace: 'n' })).not.toBe(all);
    informers.start(stop.signal);
    const late = informers.for(things, { namespace: 'm' });
    const object = thing('m', 'a', 'red');
    object.metadata.managedFields = [{ manager: 'me' }];
    await store.create(things, object);
    await informers.whenSynced();
    await settle();
    expect(late.list()).toHaveLength(1);
    expect(all.list()[0]?.metadata.managedFields).toBeUndefined();
    expect(informers.for(things, { namespace: 'n' }).list()).toHaveLength(0);
    stop.abort();
    await informers.stopped();
  });

  it('tells what it could not read yet, and why', async () => {
    const { clock, random, store, stop } = scene();
    const forbidden = new KubeError({ code: 403, reason: 'Forbidden', message: 'things is forbidden' });
    let isAllowed = false;
    const guarded = interceptStore(store, {
      before: () => {
        if (!isAllowed) throw forbidden;
      },
    });
    const informers = new Informers({ store: guarded, clock, random, log: silentLogger });
    informers.for(things);
    expect(informers.missing).toEqual(['things are being read']);
    informers.start(stop.signal);
    await settle();
    expect(informers.missing).toEqual(['things cannot be read: things is forbidden']);
    isAllowed = true;
    await clock.advance(60_000);
    expect(informers.missing).toEqual([]);
    stop.abort();
    await informers.stopped();
  });
});
