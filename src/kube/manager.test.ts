import { describe, expect, it } from 'vitest';
import { leases } from './leader-election.ts';
import { Manager, type ManagerOptions } from './manager.ts';
import { keyText, type ResourceRef } from './store.ts';
import { FakeClock, seededRandom, settle } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const nests: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'nests', kind: 'Nest', namespaced: true };
const lease = { namespace: 'system', name: 'rookery' };

function scene() {
  const clock = new FakeClock();
  const random = seededRandom();
  const store = new MemoryStore(clock, random);
  const log: string[] = [];
  const make = (options: Partial<ManagerOptions> = {}) => new Manager({ store, clock, random, ...options });
  const part = (name: string, everyReplica = false) => ({
    name,
    everyReplica,
    run: (signal: AbortSignal) => {
      log.push(`${name} starts`);
      return new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          log.push(`${name} ends`);
          resolve();
        }),
      );
    },
  });
  return { clock, store, log, make, part };
}

describe('Manager', () => {
  it('runs everything until stopped', async () => {
    const { log, make, part } = scene();
    const manager = make();
    manager.add(part('a'));
    manager.add(part('b'));
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await settle();
    expect(log).toEqual(['a starts', 'b starts']);
    stop.abort();
    await running;
    expect(log.slice(2).sort()).toEqual(['a ends', 'b ends']);
  });

  it('starts only what every replica runs while another leads', async () => {
    const { clock, log, make, part } = scene();
    const first = make({ leaderElection: { lease, identity: 'one' } });
    first.add(part('first'));
    const stopFirst = new AbortController();
    const running = first.run(stopFirst.signal);
    await settle();
    const second = make({ leaderElection: { lease, identity: 'two' } });
    second.add(part('second'));
    second.add(part('web', true));
    const stopSecond = new AbortController();
    const standby = second.run(stopSecond.signal);
    await clock.advance(30_000);
    expect(log).toEqual(['first starts', 'web starts']);
    stopFirst.abort();
    await running;
    await clock.advance(5_000);
    expect(log.slice(2)).toEqual(['first ends', 'second starts']);
    stopSecond.abort();
    await standby;
  });

  it('stops everything and rejects when the lease is lost', async () => {
    const { clock, store, log, make, part } = scene();
    const manager = make({ leaderElection: { lease, identity: 'one' } });
    manager.add(part('a'));
    manager.add(part('web', true));
    const running = manager.run(new AbortController().signal);
    running.catch(() => {});
    await clock.advance(3_000);
    await store.patch(leases, lease, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    await clock.advance(10_000);
    await expect(running).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(log.slice(2).sort()).toEqual(['a ends', 'web ends']);
  });

  it('leaves nothing to be finished when the lease is lost', async () => {
    const { clock, store, make } = scene();
    const manager = make({ leaderElection: { lease, identity: 'one' } });
    const seen: unknown[] = [];
    manager.addController({
      name: 'slow',
      resource: nests,
      reconcile: (_key, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            seen.push(clock.now());
            resolve(undefined);
          });
        }),
    });
    await store.create(nests, { apiVersion: 'test.dev/v1', kind: 'Nest', metadata: { namespace: 'n', name: 'a' } });
    const running = manager.run(new AbortController().signal);
    running.catch(() => {});
    await clock.advance(3_000);
    await store.patch(leases, lease, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    const stolenAt = clock.now();
    await clock.advance(2_500);
    await expect(running).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect((seen[0] as number) - stolenAt).toBeLessThan(2_500);
  });

  it('puts the leader on its foundation before the work begins, and takes that down after the work', async () => {
    const { clock, log, make, part } = scene();
    const foundation = async () => {
      log.push('foundation up');
      return async () => void log.push('foundation down');
    };
    const manager = make({ leaderElection: { lease, identity: 'one' }, foundation });
    manager.add(part('work'));
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await clock.advance(1_000);
    stop.abort();
    await running;
    expect(log).toEqual(['foundation up', 'work starts', 'work ends', 'foundation down']);
  });

  it('sees one namespace, and reconciles what has the label', async () => {
    const { store, make } = scene();
    const manager = make({ namespace: 'n', labelSelector: 'cluster.x-k8s.io/watch-filter=rookery' });
    const keys: string[] = [];
    const seen = manager.informers.for(nests);
    const resource = nests;
    manager.addController({ name: 'nest', resource, reconcile: async (key) => void keys.push(keyText(key)) });
    const labels = { 'cluster.x-k8s.io/watch-filter': 'rookery' };
    const put = (namespace: string, name: string, more = {}) =>
      store.create(nests, { apiVersion: 'test.dev/v1', kind: 'Nest', metadata: { namespace, name, ...more } });
    await put('n', 'ours', { labels });
    await put('n', 'plain');
    await put('elsewhere', 'labelled', { labels });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await settle();
    expect(keys).toEqual(['n/ours']);
    expect(seen.list()).toHaveLength(2);
    stop.abort();
    await running;
  });

  it('stops everything and rejects when a part fails or ends by itself', async () => {
    for (const failing of [
      async () => {
        throw new Error('port in use');
      },
      async () => {},
    ]) {
      const { log, make, part } = scene();
      const manager = make();
      manager.add(part('a'));
      manager.add({ name: 'web', run: failing, everyReplica: true });
      await expect(manager.run(new AbortController().signal)).rejects.toThrow(/port in use|web ended by itself/);
      expect(log).toEqual(['a starts', 'a ends']);
    }
  });

  it('names what does not stop', async () => {
    const { clock, make } = scene();
    const manager = make({ stopTimeoutMs: 1_000 });
    manager.add({ name: 'stubborn', run: () => new Promise(() => {}) });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    running.catch(() => {});
    await settle();
    stop.abort();
    await clock.advance(1_000);
    await expect(running).rejects.toMatchObject({ code: 'STOP_TIMEOUT', message: expect.stringContaining('stubborn') });
  });

  it('runs once and takes nothing more after that', async () => {
    const { make, part } = scene();
    const manager = make();
    await manager.run(AbortSignal.abort());
    await expect(manager.run(AbortSignal.abort())).rejects.toThrow(/once/);
    expect(() => manager.add(part('late'))).toThrow(/after the manager started/);
  });
});
