/**
 * Runs controllers on one tenant. All of them share one watch and one cache; a controller without work has no queue,
 * so an idle tenant costs the objects it has and little else.
 */
import { hasReason, type Loop, type LoopContext, pages, turn, warn } from '../../../apiserver/loops/loop.ts';
import { WorkQueue } from '../../../apiserver/loops/work-queue.ts';
import type { ChangeEvent } from '../../../apiserver/store/store.ts';
import type { Change, Controller } from './controller.ts';
import { World } from './world.ts';

/** Timers cannot be longer than this; a controller that comes back early just waits on. */
const LONGEST_MS = 24 * 3600 * 1000;

/** Controllers hear of these but keep none of them: there may be many, and large ones, and secret ones. */
const UNCACHED = new Set(['/configmaps', '/secrets']);

export function simulate(controllers: readonly Controller[]): Loop {
  const routes = new Map<string, Controller[]>();
  for (const controller of controllers) {
    for (const resource of Object.keys(controller.on)) {
      routes.set(resource, [...(routes.get(resource) ?? []), controller]);
    }
  }
  return (context) => new Simulation(context, routes).start();
}

class Simulation {
  readonly #world: World;
  readonly #routes: ReadonlyMap<string, Controller[]>;
  readonly #queues = new Map<Controller, WorkQueue>();
  /** Until everything there was is in the cache, nothing is decided. */
  #early: (() => void)[] | undefined = [];
  #stopped = false;

  constructor(context: LoopContext, routes: ReadonlyMap<string, Controller[]>) {
    this.#world = new World(context);
    this.#routes = routes;
  }

  start(): () => void {
    const { store } = this.#world.context;
    const stopWatch = store.watch({ afterRv: store.rv }, (event) => this.#heard(event));
    this.#readAll().catch((error) => {
      if (!this.#stopped) warn(this.#world.context, 'reading the objects of a virtual cluster failed', error);
    });
    return () => {
      this.#stopped = true;
      stopWatch();
      this.#world.recorder.stop();
      for (const queue of this.#queues.values()) queue.stop();
    };
  }

  async #readAll(): Promise<void> {
    const { context, cache } = this.#world;
    await turn();
    for (const resource of this.#routes.keys()) {
      if (this.#stopped) return;
      if (UNCACHED.has(resource) || context.store.count(resource) === 0) continue;
      for await (const page of pages(context.store, resource)) {
        if (this.#stopped) return;
        for (const stored of page) {
          cache.put(stored);
          this.#dispatch(resource, { current: stored });
        }
      }
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const add of early) add();
  }

  #heard({ type, current, previous }: ChangeEvent): void {
    const { resource } = current.key;
    if (!this.#routes.has(resource)) return;
    if (type === 'DELETED') {
      this.#world.cache.drop(current);
      this.#dispatch(resource, { previous: previous ?? current });
    } else {
      if (!UNCACHED.has(resource)) this.#world.cache.put(current);
      this.#dispatch(resource, { current, previous });
    }
  }

  #dispatch(resource: string, change: Change): void {
    // Which keys a change concerns may depend on objects not read yet.
    if (this.#early) {
      this.#early.push(() => this.#dispatch(resource, change));
      return;
    }
    for (const controller of this.#routes.get(resource) ?? []) {
      for (const key of controller.on[resource]?.(change, this.#world) ?? []) this.#queue(controller).add(key);
    }
  }

  #queue(controller: Controller): WorkQueue {
    const known = this.#queues.get(controller);
    if (known) return known;
    const { context } = this.#world;
    const queue: WorkQueue = new WorkQueue({
      clock: context.clock,
      concurrency: controller.concurrency ?? 10,
      work: (key) => {
        const slash = key.indexOf('/');
        const again = (ms: number) => queue.addAfter(key, Math.min(Math.max(ms, 0), LONGEST_MS));
        return controller.reconcile(this.#world, key.slice(0, slash), key.slice(slash + 1), again);
      },
      onError: (key, error) => {
        // Someone else was faster, or a quota is full (an Event says so): the key is tried again by itself.
        if (hasReason(error, 'Conflict', 'AlreadyExists', 'NotFound', 'Forbidden')) return;
        warn(context, `${controller.name}: ${key} failed`, error);
      },
    });
    this.#queues.set(controller, queue);
    return queue;
  }
}
