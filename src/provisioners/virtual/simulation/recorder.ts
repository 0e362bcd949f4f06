/**
 * Events, as client-go's recorder leaves them: the same thing said again raises a count, and an object that talks too
 * much is cut short. They are written behind the work they comment on and never make it fail or wait.
 */
import type { KubeObject } from '../../../api/object.ts';
import { LOOPBACK } from '../../../apiserver/auth/identity.ts';
import { hasReason, type LoopContext, warn } from '../../../apiserver/loops/loop.ts';
import { WorkQueue } from '../../../apiserver/loops/work-queue.ts';
import { rfc3339 } from '../../../clock.ts';

/** Of different events that are waiting to be written; more than that is noise. */
const WAITING = 20_000;
/** Things one component may say about one object in five minutes: four times client-go's, as all is quicker here. */
const BURST = 100;
const REFILL_MS = 300_000;

interface Note {
  about: KubeObject;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  component: string;
  host?: string;
  fieldPath?: string;
  at: number;
  times: number;
}

export class Recorder {
  readonly #context: LoopContext;
  readonly #notes = new Map<string, Note>();
  readonly #queue: WorkQueue;
  /** How often each object was spoken of since the last refill. */
  readonly #said = new Map<string, number>();
  #refill = 0;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#queue = new WorkQueue({
      clock: context.clock,
      concurrency: 2,
      work: (key) => this.#write(key),
      onError: (key, error) => warn(context, `event ${key} was not recorded`, error),
    });
  }

  record(note: Omit<Note, 'at' | 'times'>): void {
    const { about, reason, message, fieldPath = '' } = note;
    const key = `${about.metadata.uid}|${reason}|${message}|${fieldPath}`;
    const known = this.#notes.get(key);
    if (!known && (this.#notes.size >= WAITING || this.#spent(`${about.metadata.uid}|${note.component}`))) return;
    this.#notes.set(key, { ...note, at: this.#context.clock.now(), times: (known?.times ?? 0) + 1 });
    this.#queue.add(key);
  }

  stop(): void {
    this.#queue.stop();
  }

  #spent(source: string): boolean {
    const now = this.#context.clock.now();
    if (now > this.#refill) {
      this.#said.clear();
      this.#refill = now + REFILL_MS;
    }
    const count = (this.#said.get(source) ?? 0) + 1;
    this.#said.set(source, count);
    return count > BURST;
  }

  async #write(key: string): Promise<void> {
    const note = this.#notes.get(key);
    if (!note) return;
    this.#notes.delete(key);
    const { operations, registry, store } = this.#context;
    const events = registry.find('', 'v1', 'events');
    if (!events) return;
    const event = eventOf(note, key);
    const { name = '', namespace = '' } = event.metadata;
    const options = { identity: LOOPBACK, fieldManager: note.component };
    try {
      const known = store.get({ resource: '/events', namespace, name })?.object();
      if (!known) await operations.create(events, namespace, event, options);
      else {
        const body = { count: (known.count ?? 1) + note.times, lastTimestamp: event.lastTimestamp };
        await operations.patch(events, namespace, name, { type: 'merge', body }, options);
      }
    } catch (error) {
      // The namespace is going away, or someone tidied up: nobody will miss the comment.
      if (!hasReason(error, 'NotFound', 'Forbidden', 'AlreadyExists')) throw error;
    }
  }
}

function eventOf(
  { about, type, reason, message, component, host, fieldPath, at, times }: Note,
  key: string,
): KubeObject {
  const { name = '', namespace, uid, resourceVersion } = about.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // The same thing said again finds its first event by name.
    metadata: { name: `${name}.${hash(key)}`, namespace: namespace || 'default' },
    involvedObject: {
      kind: about.kind,
      apiVersion: about.apiVersion,
      name,
      uid,
      resourceVersion,
      ...(namespace ? { namespace } : {}),
      ...(fieldPath ? { fieldPath } : {}),
    },
    reason,
    message,
    type,
    source: { component, ...(host ? { host } : {}) },
    reportingComponent: component,
    reportingInstance: host ?? '',
    firstTimestamp: rfc3339(at),
    lastTimestamp: rfc3339(at),
    count: times,
  };
}

function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, '0');
}
