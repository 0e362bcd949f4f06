/**
 * Starts and stops what makes up a controller process, in order: caches, then (as leader, where there is an election)
 * controllers and other runnables. Stopping goes the other way round: reconciles under way end, the lease is released,
 * the caches stop. A runnable that fails, or a lost lease, stops everything and rejects `run`.
 */
import { type Clock, type Random, sleep, systemClock, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import { Controller, type ControllerOptions } from './controller.ts';
import { Informers } from './informers.ts';
import { type LeaderElectionOptions, LeaderElector } from './leader-election.ts';
import { shareSignal } from './share-signal.ts';
import type { ObjectStore } from './store.ts';

export interface Runnable {
  name: string;
  /** Ends, having cleaned up, soon after `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Runs in every replica, leader or not (web servers, metrics). */
  everyReplica?: boolean;
}

export interface ManagerOptions {
  store: ObjectStore;
  clock?: Clock;
  random?: Random;
  log?: Logger;
  metrics?: Metrics;
  /** Absent: this process is alone. */
  leaderElection?: Pick<LeaderElectionOptions, 'lease' | 'identity' | 'leaseMs' | 'renewDeadlineMs' | 'retryMs'>;
  /** How long a stop waits for work under way. */
  stopTimeoutMs?: number;
  /** Only objects in this namespace are seen. Default: all. */
  namespace?: string;
  /** Only objects with these labels are reconciled; the others are seen all the same. */
  labelSelector?: string;
  /** What the leader's work stands on: up before it begins; what it answers takes it down after the work has ended. */
  foundation?: () => Promise<() => Promise<void>>;
}

export class Manager {
  readonly informers: Informers;
  readonly #options: ManagerOptions;
  readonly #environment: Required<Pick<ManagerOptions, 'store' | 'clock' | 'random' | 'log' | 'metrics'>>;
  readonly #runnables: Runnable[] = [];
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(options: ManagerOptions) {
    const { store, clock = systemClock, random = systemRandom, log = silentLogger, metrics = noMetrics } = options;
    this.#options = options;
    this.#environment = { store, clock, random, log, metrics };
    this.informers = new Informers({ store, clock, random, log, namespace: options.namespace });
  }

  addController(options: ControllerOptions): Controller {
    const { labelSelector } = this.#options;
    const selection = labelSelector ? { ...options.selection, labelSelector } : options.selection;
    const environment = { ...this.#environment, informers: this.informers };
    const controller = new Controller({ ...options, selection }, environment);
    this.add(controller);
    return controller;
  }

  add(runnable: Runnable): void {
    if (this.#state !== 'new') throw new Error(`${runnable.name} was added after the manager started`);
    this.#runnables.push(runnable);
  }

  /** Runs until `signal` aborts and everything has ended. Once only. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new Error('A manager runs once');
    this.#state = 'running';
    const caches = new AbortController();
    const work = new AbortController();
    const onAbort = () => work.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    this.informers.start(caches.signal);
    const [everywhere, leading] = split(this.#runnables);
    try {
      const parts = [this.#runAll(everywhere, work.signal), this.#lead(work.signal, leading)];
      for (const part of parts) part.catch((error) => work.abort(error));
      const failed = (await Promise.allSettled(parts)).find((part) => part.status === 'rejected');
      if (failed) throw failed.reason;
    } finally {
      signal.removeEventListener('abort', onAbort);
      caches.abort(new Error('Stopped'));
      await this.informers.stopped();
      this.#state = 'stopped';
    }
  }

  async #lead(signal: AbortSignal, runnables: Runnable[]): Promise<void> {
    const { leaderElection } = this.#options;
    if (!leaderElection) return await this.#work(runnables, signal);
    const elector = new LeaderElector({ ...this.#environment, ...leaderElection });
    await elector.run(signal, (leading) => this.#work(runnables, leading));
  }

  async #work(runnables: Runnable[], signal: AbortSignal): Promise<void> {
    const takeDown = await this.#options.foundation?.();
    try {
      await this.#runAll(runnables, signal);
    } finally {
      await takeDown?.();
    }
  }

  /** Until `signal` aborts; the first failure stops the others. */
  async #runAll(runnables: Runnable[], signal: AbortSignal): Promise<void> {
    const { clock } = this.#environment;
    const stop = new AbortController();
    shareSignal(stop.signal);
    const running = new Set(runnables);
    let failure: { error: unknown } | undefined;
    const ends = runnables.map(async (runnable) => {
      try {
        await runnable.run(stop.signal);
        if (!stop.signal.aborted) throw new Error(`${runnable.name} ended by itself`);
      } catch (error) {
        // What fails because it was told to stop has stopped.
        if (stop.signal.aborted) return;
        failure ??= { error };
        stop.abort(error);
      } finally {
        running.delete(runnable);
      }
    });
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      stop.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    stop.abort(signal.reason);
    const timeout = new AbortController();
    const late = sleep(clock, this.#options.stopTimeoutMs ?? 30_000, timeout.signal).catch(() => {});
    await Promise.race([Promise.all(ends), late]);
    timeout.abort();
    if (running.size > 0) {
      const names = [...running].map((runnable) => runnable.name).join(', ');
      throw new RookeryError('STOP_TIMEOUT', `Still running after being told to stop: ${names}`);
    }
    if (failure) throw failure.error;
  }
}

function split(runnables: Runnable[]): [Runnable[], Runnable[]] {
  const everywhere = runnables.filter((runnable) => runnable.everyReplica);
  return [everywhere, runnables.filter((runnable) => !runnable.everyReplica)];
}
