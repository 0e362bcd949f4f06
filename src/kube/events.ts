/**
 * Tells people, by core/v1 Events, what happened to an object. Never throws and never waits: an event that cannot be
 * written is dropped. Repeats become a count on one Event, many similar ones a combined Event, and an object that
 * goes on and on is cut off (25 at once, then one in five minutes), as client-go does. Messages are redacted.
 */
import type { KubeObject } from '../api/object.ts';
import { type Clock, type Random, rfc3339, sleep, systemClock, systemRandom } from '../clock.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { redactText } from '../telemetry/redact.ts';
import { isNotFound, isTransient } from './kube-error.ts';
import type { ObjectStore, ResourceRef } from './store.ts';

export const events: ResourceRef = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };

export type EventType = 'Normal' | 'Warning';

export interface EventRecorderOptions {
  store: ObjectStore;
  /** Who tells, e.g. `rookery-kindcluster`. */
  component: string;
  clock?: Clock;
  random?: Random;
  log?: Logger;
}

interface Known {
  name: string;
  namespace: string;
  count: number;
}
interface Similar {
  messages: Set<string>;
  lastAt: number;
}
interface Budget {
  tokens: number;
  at: number;
}

const REMEMBERED = 4096;
const SIMILAR_MAX = 10;
const SIMILAR_WINDOW = 600_000;
const BURST = 25;
const REFILL = 300_000;
const PENDING_MAX = 1000;
const TRIES = 4;

export class EventRecorder {
  readonly #options: Required<EventRecorderOptions>;
  readonly #known = new Map<string, Known>();
  readonly #similar = new Map<string, Similar>();
  readonly #budgets = new Map<string, Budget>();
  #pending = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = { clock: systemClock, random: systemRandom, log: silentLogger, ...options };
  }

  record(object: KubeObject, type: EventType, reason: string, text: string): void {
    const { clock, log } = this.#options;
    const { uid = '', namespace = '', name = '' } = object.metadata;
    const now = clock.now();
    const about = [object.kind, namespace, name, uid].join('|');
    if (this.#pending >= PENDING_MAX || !this.#spend(about, now)) {
      return log.debug('event dropped', { reason, text, object: name });
    }
    const group = [about, type, reason].join('|');
    let message = shorten(redactText(text));
    let id = `${group}|${message}`;
    if (this.#isFlood(group, message, now)) {
      message = shorten(`(combined from similar events): ${message}`);
      id = group;
    }
    const involved = { apiVersion: object.apiVersion, kind: object.kind, ...pick(object) };
    this.#pending++;
    this.#last = this.#last
      .then(() => this.#write(id, { type, reason, message, involved, at: rfc3339(now) }))
      .catch((error) => log.warn('event not written', { error, reason, text }))
      .finally(() => this.#pending--);
  }

  /** Resolves when everything recorded so far has been written or dropped. */
  flush(): Promise<void> {
    return this.#last;
  }

  async #write(id: string, event: EventContent): Promise<void> {
    const { clock, random, store } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const known = this.#known.get(id);
        if (known && (await this.#repeat(known, event))) return;
        const created = this.#newEvent(event);
        await store.create(events, created);
        const { name = '', namespace = '' } = created.metadata;
        return remember(this.#known, id, { name, namespace, count: 1 });
      } catch (error) {
        if (!isTransient(error) || attempt >= TRIES) throw error;
        await sleep(clock, 1000 * attempt * (0.5 + random.float()));
      }
    }
  }

  /** False when the Event is gone: they live for an hour. */
  async #repeat(known: Known, event: EventContent): Promise<boolean> {
    const count = known.count + 1;
    const body = { count, lastTimestamp: event.at, message: event.message };
    try {
      await this.#options.store.patch(events, known, { type: 'merge', body });
      known.count = count;
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #newEvent(event: EventContent): KubeObject {
    const { component, random } = this.#options;
    const { involved, at } = event;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${involved.name}.${random.bytes(8).toString('hex')}`,
        namespace: involved.namespace ?? 'default',
      },
      involvedObject: involved,
      type: event.type,
      reason: event.reason,
      message: event.message,
      source: { component },
      reportingComponent: component,
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    };
  }

  #isFlood(group: string, message: string, now: number): boolean {
    let similar = this.#similar.get(group);
    if (!similar || now - similar.lastAt > SIMILAR_WINDOW) similar = { messages: new Set(), lastAt: now };
    similar.lastAt = now;
    if (similar.messages.size < SIMILAR_MAX || similar.messages.has(message)) similar.messages.add(message);
    else return true;
    remember(this.#similar, group, similar);
    return false;
  }

  #spend(about: string, now: number): boolean {
    const budget = this.#budgets.get(about) ?? { tokens: BURST, at: now };
    budget.tokens = Math.min(BURST, budget.tokens + (now - budget.at) / REFILL);
    budget.at = now;
    remember(this.#budgets, about, budget);
    if (budget.tokens < 1) return false;
    budget.tokens--;
    return true;
  }
}

interface EventContent {
  type: EventType;
  reason: string;
  message: string;
  involved: { apiVersion: string; kind: string; namespace?: string; name?: string };
  at: string;
}

function pick(object: KubeObject) {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return { ...(namespace ? { namespace } : {}), name, uid, resourceVersion };
}

function shorten(message: string): string {
  return message.length > 1024 ? `${message.slice(0, 1021)}...` : message;
}

/** Forgets what was remembered first when there is too much. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  if (!map.has(key) && map.size >= REMEMBERED) map.delete(map.keys().next().value as string);
  map.set(key, value);
}
