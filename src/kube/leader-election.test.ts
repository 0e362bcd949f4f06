import { describe, expect, it } from 'vitest';
import type { Clock } from '../clock.ts';
import { interceptStore } from './intercept-store.ts';
import { ConnectionError } from './kube-error.ts';
import { LeaderElector, leases } from './leader-election.ts';
import type { ObjectStore } from './store.ts';
import { FakeClock, seededRandom, settle } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const lease = { namespace: 'system', name: 'rookery' };

function scene() {
  const clock = new FakeClock();
  const random = seededRandom();
  const store = new MemoryStore(clock, random);
  const log: string[] = [];
  /** `skew`: this candidate's clock is off by that much. `via`: its own road to the store. */
  const candidate = (identity: string, options: { skew?: number; via?: ObjectStore } = {}) => {
    const { skew = 0, via = store } = options;
    const own: Clock = { now: () => clock.now() + skew, after: (ms, callback) => clock.after(ms, callback) };
    const elector = new LeaderElector({ store: via, lease, identity, clock: own, random });
    const stop = new AbortController();
    const running = elector.run(stop.signal, async (signal) => {
      log.push(`${identity} leads`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      log.push(`${identity} ends`);
    });
    running.catch(() => {});
    const end = () => {
      stop.abort();
      return running;
    };
    return { elector, stop: end, running };
  };
  return { clock, store, log, candidate };
}

describe('LeaderElector', () => {
  it('lets one lead and renews', async () => {
    const { clock, store, log, candidate } = scene();
    const a = candidate('a');
    await settle();
    const b = candidate('b');
    await clock.advance(120_000);
    expect(log).toEqual(['a leads']);
    expect([a.elector.isLeader, b.elector.isLeader, b.elector.leader]).toEqual([true, false, 'a']);
    const { spec } = await store.get(leases, lease);
    expect(spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(spec.renewTime).toMatch(/\.\d{6}Z$/);
    expect(Date.parse(spec.renewTime)).toBeGreaterThan(clock.now() - 3_000);
    await a.stop();
    await b.stop();
  });

  it('hands over at once when stopped, after the work has ended', async () => {
    const { clock, store, log, candidate } = scene();
    const a = candidate('a');
    await settle();
    const b = candidate('b');
    await clock.advance(10_000);
    await a.stop();
    expect((await store.get(leases, lease)).spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(5_000);
    expect(log).toEqual(['a leads', 'a ends', 'b leads']);
    expect((await store.get(leases, lease)).spec.leaseTransitions).toBe(1);
    await b.stop();
  });

  it('hands over also when somebody has just annotated the lease, and leaves that alone', async () => {
    const { store, candidate } = scene();
    const a = candidate('a');
    await settle();
    const body = { metadata: { annotations: { note: 'hello' } } };
    await store.patch(leases, lease, { type: 'merge', body });
    await a.stop();
    const { metadata, spec } = await store.get(leases, lease);
    expect([spec.holderIdentity, metadata.annotations]).toEqual(['', { note: 'hello' }]);
  });

  it('never lets two lead when the leader is cut off', async () => {
    const { clock, store, log, candidate } = scene();
    let isCut = false;
    const via = interceptStore(store, {
      before: () => {
        if (isCut) throw new ConnectionError('no route');
      },
    });
    const a = candidate('a', { via });
    await settle();
    const b = candidate('b');
    await clock.advance(10_000);
    isCut = true;
    await expect(Promise.all([a.running, clock.advance(60_000)])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await clock.advance(60_000);
    expect(log).toEqual(['a leads', 'a ends', 'b leads']);
    await b.stop();
  });

  it('stops leading in time when a renewal hangs', async () => {
    const { clock, store, log, candidate } = scene();
    let hangs = false;
    const via: ObjectStore = {
      ...interceptStore(store, {}),
      update: (resource, object, options) =>
        hangs
          ? new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)))
          : store.update(resource, object, options),
    };
    const a = candidate('a', { via });
    await settle();
    const b = candidate('b');
    await clock.advance(10_000);
    hangs = true;
    await clock.advance(60_000);
    await expect(a.running).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(log).toEqual(['a leads', 'a ends', 'b leads']);
    await b.stop();
  });

  it.each([-3_600_000, 3_600_000])('is not misled by a clock that is off by %d ms', async (skew) => {
    const { clock, log, candidate } = scene();
    const a = candidate('a');
    await settle();
    const b = candidate('b', { skew });
    await clock.advance(300_000);
    expect(log).toEqual(['a leads']);
    await a.stop();
    await clock.advance(10_000);
    expect(log).toEqual(['a leads', 'a ends', 'b leads']);
    await b.stop();
  });

  it('takes over from a leader that died, after watching its lease run out', async () => {
    const { clock, store, log, candidate } = scene();
    const now = new Date(clock.now()).toISOString();
    const spec = { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: now, leaseTransitions: 4 };
    await store.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec });
    const a = candidate('a');
    await clock.advance(14_000);
    expect(log).toEqual([]);
    await clock.advance(6_000);
    expect(log).toEqual(['a leads']);
    expect((await store.get(leases, lease)).spec.leaseTransitions).toBe(5);
    await a.stop();
  });

  it('loses to whoever takes the lease away', async () => {
    const { clock, store, candidate } = scene();
    const a = candidate('a');
    await clock.advance(1_000);
    await store.patch(leases, lease, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    await clock.advance(5_000);
    await expect(a.running).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  it('makes the lease again when somebody deletes it', async () => {
    const { clock, store, log, candidate } = scene();
    const a = candidate('a');
    await clock.advance(1_000);
    await store.delete(leases, lease);
    await clock.advance(10_000);
    expect(log).toEqual(['a leads']);
    expect((await store.get(leases, lease)).spec.holderIdentity).toBe('a');
    await a.stop();
  });

  it('keeps the lease when the work fails, for it may not have ended', async () => {
    const { clock, store } = scene();
    const elector = new LeaderElector({ store, lease, identity: 'a', clock, random: seededRandom() });
    const running = elector.run(new AbortController().signal, async () => {
      throw new Error('broken');
    });
    await expect(running).rejects.toThrow('broken');
    expect((await store.get(leases, lease)).spec.holderIdentity).toBe('a');
  });

  it('refuses times that cannot work', () => {
    const { store } = scene();
    expect(() => new LeaderElector({ store, lease, identity: 'a', leaseMs: 5_000, renewDeadlineMs: 10_000 })).toThrow(
      /longer/,
    );
  });
});
