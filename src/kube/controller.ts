/**
 * Runs one reconciler: watches tell which keys changed, a queue hands them to workers, one worker per key at a time.
 * Waits until every watched cache has synced before the first call. A reconciler or mapping that throws, even
 * something that is no error, fails its key and nothing else.
 */
import type { KubeObject } from '../api/object.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import type { BackoffOptions } from './backoff.ts';
import type { Informer } from './informer.ts';
import type { Informers } from './informers.ts';
import { isConflict } from './kube-error.ts';
import { isLeaseLost } from './leader-election.ts';
import { controllerOf } from './owner-references.ts';
import { isTerminal, type Reconciler, type Result } from './reconciler.ts';
import { shareSignal } from './share-signal.ts';
import { keyOf, keyText, type ObjectKey, parseKey, type ResourceRef, type Selection } from './store.ts';
import { WorkQueue } from './work-queue.ts';

/** Which keys to reconcile when an object of `resource` changes; on update it is asked for the old one as well. */
export interface Watch<T extends KubeObject = KubeObject> {
  resource: ResourceRef;
  selection?: Selection;
  map: (object: T) => ObjectKey[];
  /** Changes to be ignored are answered with false; `old` is absent when added, `object` equals the last state when deleted. */
  filter?: (object: T, old?: T) => boolean;
}

export interface ControllerOptions {
  /** For logs and metrics. */
  name: string;
  /** The reconciled kind. */
  resource: ResourceRef;
  /** What is not in it is never reconciled, whatever else asks for it. */
  selection?: Selection;
  filter?: (object: KubeObject, old?: KubeObject) => boolean;
  /** Kinds made by this controller; their controller owner is reconciled when they change. */
  owns?: (ResourceRef & { selection?: Selection })[];
  watches?: Watch[];
  reconcile: Reconciler;
  /** Keys worked on at once. Default 4. */
  concurrency?: number;
  /** Aborts a reconcile's signal after that long. Default: never. */
  timeoutMs?: number;
  backoff?: BackoffOptions;
}

export interface ControllerEnvironment {
  informers: Informers;
  clock?: Clock;
  random?: Random;
  log?: Logger;
  metrics?: Metrics;
}

/** What the first list brings waits behind what changes now: after a restart thousands of keys are mostly in order. */
const INITIAL = -100;
/**
 * How long a stop lets reconciles under way come to their end. A leader that is told to stop has renewed within its renew deadline, so its
 * lease lasts for at least the difference to the lease's duration: 5 s by default.
 */
const DRAIN_MS = 5_000;

export class Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #metrics: ReturnType<typeof controllerMetrics>;
  readonly #informers: Informer[] = [];
  readonly #reconciled: Informer;
  readonly #removals: (() => void)[] = [];

  constructor(options: ControllerOptions, environment: ControllerEnvironment) {
    const { clock = systemClock, random = systemRandom, metrics = noMetrics, log = silentLogger } = environment;
    this.name = options.name;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#log = log.child({ controller: options.name });
    this.#metrics = controllerMetrics(metrics, options.name);
    this.queue = new WorkQueue({ name: options.name, clock, random, metrics, backoff: options.backoff });
    const { resource, selection, filter, owns = [], watches = [] } = options;
    this.#reconciled = environment.informers.for(resource, selection);
    this.#watch(environment.informers, { resource, selection, filter, map: (object) => [keyOf(object)] });
    for (const { selection: ours, ...owned } of owns) {
      this.#watch(environment.informers, { resource: owned, selection: ours, map: ownerKeys(resource) });
    }
    for (const watch of watches) this.#watch(environment.informers, watch);
  }

  /** Runs until `signal` aborts and the reconciles under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    shareSignal(signal);
    try {
      await Promise.all(this.#informers.map((informer) => informer.whenSynced(signal)));
    } catch {
      return; // Stopped before it began.
    }
    this.#log.info('controller started', { keys: this.queue.depth });
    const work = new AbortController();
    shareSignal(work.signal);
    const workers = Array.from({ length: this.#options.concurrency ?? 4 }, () => this.#work(work.signal));
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    for (const remove of this.#removals) remove();
    const end = () => work.abort(signal.reason);
    const cancel = isLeaseLost(signal.reason) ? end() : this.#clock.after(DRAIN_MS, end);
    await this.queue.shutdown();
    await Promise.all(workers);
    cancel?.();
    this.#log.info('controller stopped');
  }

  #watch(informers: Informers, watch: Watch): void {
    const informer = informers.for(watch.resource, watch.selection);
    this.#informers.push(informer);
    const wanted = (object: KubeObject, old?: KubeObject) => watch.filter?.(object, old) ?? true;
    const enqueue = (objects: KubeObject[], priority = 0) => {
      const keys = new Set(objects.flatMap((object) => watch.map(object).map(keyText)));
      for (const key of keys) this.queue.add(key, priority);
    };
    const remove = informer.addHandler({
      added: (object, initial) => {
        if (wanted(object)) enqueue([object], initial ? INITIAL : 0);
      },
      updated: (object, old) => {
        if (wanted(object, old)) enqueue([object, old]);
      },
      deleted: (object) => {
        if (wanted(object)) enqueue([object]);
      },
    });
    this.#removals.push(remove);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      try {
        if (this.#isSelected(key)) await this.#reconcile(key, signal);
      } finally {
        this.queue.done(key);
      }
    }
  }

  /** Asked of the cache: what it does not know yet comes again when it does. */
  #isSelected(text: string): boolean {
    const { labelSelector, fieldSelector } = this.#options.selection ?? {};
    return (!labelSelector && !fieldSelector) || this.#reconciled.get(parseKey(text)) !== undefined;
  }

  async #reconcile(text: string, signal: AbortSignal): Promise<void> {
    const key = parseKey(text);
    const id = this.#random.uuid();
    const failures = this.queue.failures(text);
    const log = this.#log.child({ key: text, reconcileId: id });
    const { signal: limited, release } = this.#limit(signal);
    const startedAt = this.#clock.now();
    this.#metrics.active(1);
    let outcome: Outcome = 'success';
    try {
      const context = { id, log, signal: limited, clock: this.#clock, random: this.#random, failures };
      const result = (await this.#options.reconcile(key, context)) as Result;
      this.queue.forget(text);
      if (result) {
        outcome = 'requeueAfter';
        this.queue.addAfter(text, result.requeueAfter);
      }
    } catch (error) {
      if (signal.aborted) {
        outcome = 'aborted';
      } else if (isTerminal(error)) {
        outcome = 'terminal';
        this.queue.forget(text);
        log.error('reconcile failed for good', { error });
      } else if (isConflict(error)) {
        // Someone else wrote first: nothing is wrong, and the next try sees it.
        outcome = 'conflict';
        log.debug('conflict, trying again', { error, retryInMs: Math.round(this.queue.addBackoff(text)) });
      } else {
        outcome = 'error';
        const retryInMs = Math.round(this.queue.addBackoff(text));
        log.warn('reconcile failed', { error, failures: failures + 1, retryInMs });
      }
    } finally {
      release();
      const seconds = (this.#clock.now() - startedAt) / 1000;
      this.#metrics.active(-1);
      this.#metrics.reconciled(outcome, seconds);
      log.debug('reconciled', { outcome, seconds });
    }
  }

  #limit(signal: AbortSignal): { signal: AbortSignal; release: () => void } {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return { signal, release: () => {} };
    const limit = new AbortController();
    const onAbort = () => limit.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const cancel = this.#clock.after(timeoutMs, () =>
      limit.abort(new Error(`The reconcile took longer than ${timeoutMs / 1000} s`)),
    );
    const release = () => {
      cancel();
      signal.removeEventListener('abort', onAbort);
    };
    return { signal: limit.signal, release };
  }
}

type Outcome = 'success' | 'requeueAfter' | 'conflict' | 'error' | 'terminal' | 'aborted';

/** The owner may be of another version of the kind: only group and kind decide. */
function ownerKeys(resource: ResourceRef) {
  return (object: KubeObject): ObjectKey[] => {
    const owner = controllerOf(object);
    if (!owner || owner.kind !== resource.kind) return [];
    const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '';
    if (group !== resource.group) return [];
    return [resource.namespaced ? { namespace: object.metadata.namespace, name: owner.name } : { name: owner.name }];
  };
}

function controllerMetrics(metrics: Metrics, controller: string) {
  const total = metrics.counter('controller_reconcile_total', 'Reconciles by outcome', ['controller', 'outcome']);
  const time = metrics.histogram('controller_reconcile_time_seconds', 'Length of a reconcile', ['controller']);
  const active = metrics.gauge('controller_active_workers', 'Reconciles under way', ['controller']);
  return {
    active: (by: number) => active.add(by, { controller }),
    reconciled(outcome: Outcome, seconds: number) {
      total.inc({ controller, outcome });
      time.observe(seconds, { controller });
    },
  };
}
