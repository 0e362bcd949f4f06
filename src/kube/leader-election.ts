/**
 * One leader among many processes, by a Lease. Safe against clock skew as client-go is: the time another process
 * wrote is never compared with ours; a lease is free when *we* have not seen it change for its whole duration.
 * A leader that cannot renew within the renew deadline, shorter than the duration, stops leading before another can begin.
 */
import type { KubeObject } from '../api/object.ts';
import { type Clock, type Random, sleep, systemClock, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { isConflict, isNotFound } from './kube-error.ts';
import type { ObjectKey, ObjectStore, ResourceRef } from './store.ts';

export const leases: ResourceRef = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

export interface LeaderElectionOptions {
  store: ObjectStore;
  /** Namespace and name of the Lease. */
  lease: Required<ObjectKey>;
  /** Unique among the candidates, e.g. the pod's name and a random part. */
  identity: string;
  leaseMs?: number;
  renewDeadlineMs?: number;
  retryMs?: number;
  clock?: Clock;
  random?: Random;
  log?: Logger;
}

interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

const JITTER = 1.2;

export class LeaderElector {
  readonly #options: Required<LeaderElectionOptions>;
  #seen: { lease: KubeObject; at: number } | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = {
      leaseMs: 15_000,
      renewDeadlineMs: 10_000,
      retryMs: 2_000,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      ...options,
    };
    const { leaseMs, renewDeadlineMs, retryMs } = this.#options;
    if (leaseMs <= renewDeadlineMs || renewDeadlineMs <= retryMs * JITTER) {
      throw new RookeryError('LEASE_TIMES', 'A lease must last longer than its renew deadline, and that than a retry');
    }
  }

  /** Whom we last saw leading. */
  get leader(): string | undefined {
    return this.#spec?.holderIdentity || undefined;
  }

  get isLeader(): boolean {
    return this.leader === this.#options.identity;
  }

  /**
   * Waits to become the leader, then runs `lead`, whose signal aborts when `signal` does or the lease is lost.
   * Releases the lease when stopped; rejects when it was lost, since then the process cannot know what it interrupted.
   */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { identity, lease, log } = this.#options;
    if (!(await this.#acquire(signal))) return;
    log.info('became leader', { identity, lease });
    const leading = new AbortController();
    const work = lead(leading.signal);
    const renewing = this.#renew(signal, leading.signal);
    const ended = await Promise.race([renewing, settled(work).then(() => 'ended' as const)]);
    const lost = ended === 'lost' ? leaseLost(identity) : undefined;
    leading.abort(lost ?? new Error('Stopped'));
    await settled(work);
    await renewing;
    if (lost) throw lost;
    // Work that ended in an error may not have ended at all: then the lease runs out instead.
    await work;
    await this.#release();
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random, retryMs } = this.#options;
    while (!signal.aborted) {
      if (await this.#tryAcquireOrRenew(signal)) return true;
      await sleep(clock, retryMs * (1 + random.float() * JITTER), signal).catch(() => {});
    }
    return false;
  }

  /** Until stopped, or for the renew deadline without success. */
  async #renew(signal: AbortSignal, leading: AbortSignal): Promise<'stopped' | 'lost'> {
    const { clock, log, renewDeadlineMs, retryMs } = this.#options;
    const either = AbortSignal.any([signal, leading]);
    let renewedAt = clock.now();
    while (!either.aborted) {
      await sleep(clock, retryMs, either).catch(() => {});
      if (either.aborted) break;
      const left = renewedAt + renewDeadlineMs - clock.now();
      const begunAt = clock.now();
      const renewed = left > 0 && (await within(clock, left, either, (limited) => this.#tryAcquireOrRenew(limited)));
      if (renewed) renewedAt = begunAt;
      else if (!either.aborted && ((this.leader && !this.isLeader) || clock.now() - renewedAt >= renewDeadlineMs)) {
        log.error('lost the lease', { holder: this.leader, lease: this.#options.lease });
        return 'lost';
      }
    }
    return 'stopped';
  }

  /** True when the lease is ours, for its duration from when this began. Never throws. */
  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseMs, lease: key, log, store } = this.#options;
    const now = clock.now();
    const spec: LeaseSpec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: microTime(now),
      renewTime: microTime(now),
      leaseTransitions: 0,
    };
    try {
      // While we hold it, nobody else may have written: renew without reading first.
      const current = this.isLeader ? this.#seen?.lease : await this.#read(signal);
      if (!current) {
        this.#observe(await store.create(leases, newLease(key, spec), { signal }));
        return true;
      }
      const old = current.spec as LeaseSpec;
      if (old.holderIdentity === identity) {
        spec.acquireTime = old.acquireTime;
        spec.leaseTransitions = old.leaseTransitions;
      } else {
        if (old.holderIdentity && !this.#isExpired(now)) return false;
        spec.leaseTransitions = (old.leaseTransitions ?? 0) + 1;
      }
      this.#observe(await store.update(leases, { ...current, spec: { ...old, ...spec } }, { signal }));
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) await this.#read(signal).catch(() => {});
      if (!signal.aborted) log.debug('could not get or renew the lease', { error, lease: key });
      return false;
    }
  }

  get #spec(): LeaseSpec | undefined {
    return this.#seen?.lease.spec as LeaseSpec | undefined;
  }

  async #read(signal: AbortSignal): Promise<KubeObject | undefined> {
    const { lease, store } = this.#options;
    try {
      const found = await store.get(leases, lease, { signal });
      this.#observe(found);
      return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#seen = undefined;
      return undefined;
    }
  }

  #observe(lease: KubeObject): void {
    const known = this.#seen?.lease.metadata.resourceVersion;
    if (this.#seen && known === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: this.#options.clock.now() };
  }

  /** By how long we have seen no change; their duration counts, not ours. */
  #isExpired(now: number): boolean {
    if (!this.#seen) return true;
    const duration = (this.#spec?.leaseDurationSeconds ?? 0) * 1000;
    return now >= this.#seen.at + duration;
  }

  /** So that the next one need not wait for it to run out. */
  async #release(): Promise<void> {
    const { identity, log } = this.#options;
    try {
      await this.#giveBack().catch(async (error) => {
        if (!isConflict(error)) throw error;
        // Somebody wrote to the lease, an annotation perhaps; it may be ours still.
        await this.#read(new AbortController().signal);
        await this.#giveBack();
      });
      log.info('released the lease', { identity });
    } catch (error) {
      log.warn('could not release the lease; it runs out by itself', { error });
    }
  }

  async #giveBack(): Promise<void> {
    const { clock, store } = this.#options;
    const lease = this.#seen?.lease;
    if (!lease || !this.isLeader) return;
    const now = microTime(clock.now());
    const spec: LeaseSpec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    };
    this.#observe(await store.update(leases, { ...lease, spec }));
  }
}

function leaseLost(identity: string): RookeryError {
  return new RookeryError('LEASE_LOST', `${identity} is not the leader any more`, { class: 'retryable' });
}

/** Why work has to stop: another may begin with it at any moment, so nothing may be finished first. */
export function isLeaseLost(reason: unknown): boolean {
  return reason instanceof RookeryError && reason.code === 'LEASE_LOST';
}

function newLease({ namespace, name }: Required<ObjectKey>, spec: LeaseSpec): KubeObject {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec };
}

function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

function settled(work: Promise<unknown>): Promise<void> {
  return work.then(
    () => {},
    () => {},
  );
}

async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.after(ms, () => limit.abort(new Error('Too late')));
  const onAbort = () => limit.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(limit.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}
