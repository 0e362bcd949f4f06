/**
 * A watch: one line per change for as long as the client stays. Selectors turn changes into ADDED and DELETED where
 * an object starts or stops matching; a client too slow to keep up is cut off rather than buffered without bound.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubeObject } from '../../api/object.ts';
import { every } from '../../clock.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { Accepted } from '../codec/accept.ts';
import { emptyTable, type IncludeObject, partialMetadata, rowOf, type Table } from '../codec/shapes.ts';
import { inOrder } from '../handlers/conversion.ts';
import { scopeOf, seenChange } from '../handlers/selection.ts';
import { sendsAsStored, servedApiVersion, viewed } from '../handlers/stored-form.ts';
import type { RequestScope } from '../request-scope.ts';
import type { Resource } from '../resource.ts';
import { ApiError, expired, type Status } from '../status.ts';
import { type ChangeEvent, CompactedError, type EndWatch, type Stored } from '../store/store.ts';
import type { Exchange } from './exchange.ts';
import { readList, waitFor } from './list.ts';
import type { ListOptions } from './list-options.ts';

const BOOKMARK_EVERY_MS = 60_000;
/** Bytes waiting for one client before it is cut off. */
const BACKLOG_LIMIT = 8 * 1024 * 1024;
/** Events that may wait for a worker thread. */
const BEHIND_LIMIT = 100;
const PROTOBUF_STREAM = 'application/vnd.kubernetes.protobuf;stream=watch';
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

type Shaped = KubeObject | Status | Table;
type EncodeEvent = (type: string, object: { apiVersion: string; kind: string }) => Buffer;

export interface WatchForm {
  accepted: Accepted;
  include: IncludeObject;
  /** The request that the events are made for. */
  scope: RequestScope;
}

/** Resolves when the stream has ended, by timeout, by the client, by slowness or by `signal`. */
export async function serveWatch(
  context: ClusterContext,
  exchange: Exchange,
  resource: Resource,
  namespace: string,
  options: ListOptions,
  form: WatchForm,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  const frame =
    form.accepted.encoding === 'protobuf' ? (await import('../codec/protobuf-encoder.ts')).encodeEvent : undefined;
  const stream = new WatchStream(context, exchange, resource, form, frame);
  // Only one that begins with a state waits for that state; others wait for what comes after their version anyway.
  if (options.resourceVersion && options.sendInitialEvents) {
    const late = await tooLate(context, options.resourceVersion);
    if (late) return stream.fail(late);
  }
  const scope = scopeOf(namespace, options);
  const fromState = options.sendInitialEvents ?? !options.resourceVersion;
  let afterRv = options.resourceVersion ?? store.rv;
  if (fromState) {
    const initial = await readList(context, resource, namespace, {
      labels: options.labels,
      fields: options.fields,
      bookmarks: false,
    });
    stream.open();
    for (let i = 0; i < initial.items.length && !stream.ended; i++) {
      stream.send('ADDED', initial.items[i] as Stored);
      if (i % 250 === 249) await nextTurn();
    }
    afterRv = initial.rv;
    if (options.sendInitialEvents && options.bookmarks) stream.bookmark(afterRv, { [INITIAL_EVENTS_END]: 'true' });
  } else if (options.sendInitialEvents === false && options.resourceVersion === undefined) afterRv = store.rv;
  stream.open();
  exchange.releaseSeat();

  const show = (event: ChangeEvent) => {
    const seen = seenChange(resource, options, event);
    if (seen) stream.send(seen.type, seen.stored, seen.rv);
  };
  const changes = inOrder(resource, show, (error) => stream.fail(error));
  let stop: EndWatch;
  try {
    const request = { resource: resource.storage, namespace: scope, name: options.fields.name, afterRv };
    stop = store.watch(
      request,
      (event) => changes.deliver(event),
      () => stream.end(),
    );
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    stream.fail(expired(`too old resource version: ${error.requested} (${error.compactedRv})`));
    return;
  }
  const seconds = options.timeoutSeconds || 1800 + Math.floor(context.random.float() * 1800);
  const bookmark = () => {
    if (options.bookmarks && !changes.isBehind) stream.bookmark(stop.reached);
  };
  const bookmarks = options.bookmarks ? every(clock, BOOKMARK_EVERY_MS, bookmark) : () => {};
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(seconds * 1000, () => {
      bookmark();
      end();
    });
    stream.onEnd(end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
  bookmarks();
  stop();
  stream.end();
}

/** A version that does not come: by now the stream has begun, so its failure is an event. */
async function tooLate(context: ClusterContext, rv: number): Promise<ApiError | undefined> {
  try {
    await waitFor(context, rv);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** One plain JSON line per change and type, shared by all watchers that want it as it is stored. */
const lines = new WeakMap<Stored, Map<string, Buffer>>();

class WatchStream {
  readonly #context: ClusterContext;
  readonly #exchange: Exchange;
  readonly #resource: Resource;
  readonly #form: WatchForm;
  readonly #plain: (stored: Stored) => boolean;
  readonly #listeners: (() => void)[] = [];
  readonly #frame: EncodeEvent | undefined;
  #columnsSent = false;
  /** Events that wait for a worker thread, or for one that does. */
  #behind = 0;
  #last: Promise<void> | undefined;
  ended = false;

  /** `frame` encodes the events of a client that wants protobuf. */
  constructor(context: ClusterContext, exchange: Exchange, resource: Resource, form: WatchForm, frame?: EncodeEvent) {
    this.#context = context;
    this.#exchange = exchange;
    this.#resource = resource;
    this.#form = form;
    this.#frame = frame;
    this.#plain = form.accepted.shape === 'object' && !frame ? sendsAsStored(resource) : () => false;
    exchange.response.on('close', () => this.#finish());
    exchange.response.on('error', () => this.#finish());
  }

  /** Headers go out at once: clients measure from there. */
  open(): void {
    if (this.#exchange.response.headersSent) return;
    this.#exchange.open(200, { 'content-type': this.#frame ? PROTOBUF_STREAM : 'application/json' });
    this.#exchange.response.flushHeaders?.();
  }

  onEnd(listener: () => void): void {
    if (this.ended) listener();
    else this.#listeners.push(listener);
  }

  send(type: string, stored: Stored, rv?: number): void {
    if (this.ended) return;
    if (rv === undefined && this.#plain(stored)) return this.#write(plainLine(type, stored));
    const object = viewed(this.#resource, stored);
    const shown =
      rv === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion: String(rv) } };
    this.#event(type, this.#shaped(shown));
  }

  bookmark(rv: number, annotations?: Record<string, string>): void {
    const metadata = { resourceVersion: String(rv), ...(annotations ? { annotations } : {}) };
    const object: KubeObject = { kind: this.#resource.kind, apiVersion: servedApiVersion(this.#resource), metadata };
    if (this.#form.accepted.shape !== 'Table') return this.#event('BOOKMARK', this.#shaped(object));
    const { version } = this.#form.accepted;
    const table = emptyTable(this.#resource, { resourceVersion: String(rv) }, version, false);
    const row = { cells: [], object: partialMetadata(object, version) };
    this.#event('BOOKMARK', annotations ? { ...table, rows: [row] } : table);
  }

  fail(error: ApiError): void {
    this.open();
    this.#event('ERROR', error.toStatus());
    this.end();
  }

  end(): void {
    this.#exchange.response.end();
    this.#finish();
  }

  #shaped(object: KubeObject): Shaped | Promise<Shaped> {
    const { accepted, include, scope } = this.#form;
    if (accepted.shape === 'object') return object;
    if (accepted.shape === 'PartialObjectMetadata') return partialMetadata(object, accepted.version);
    const withColumns = !this.#columnsSent;
    this.#columnsSent = true;
    const { version } = accepted;
    const { resourceVersion } = object.metadata;
    const table = emptyTable(this.#resource, { resourceVersion }, version, withColumns);
    const row = rowOf(this.#resource, object, { version, include, now: this.#context.clock.now(), scope });
    if (row instanceof Promise) return row.then((made) => ({ ...table, rows: [made] }));
    return { ...table, rows: [row] };
  }

  /** Events stay in their order: one that a worker thread makes holds up those behind it. */
  #event(type: string, object: Shaped | Promise<Shaped>): void {
    if (this.ended) return;
    if (this.#behind === 0 && !(object instanceof Promise)) return this.#writeEvent(type, object);
    if (++this.#behind > BEHIND_LIMIT) return this.#cut();
    this.#last = Promise.all([object, this.#last]).then(
      ([made]) => {
        this.#behind--;
        if (!this.ended) this.#writeEvent(type, made);
      },
      // A client whose events cannot be made has to list again.
      () => this.#cut(),
    );
  }

  #cut(): void {
    this.#exchange.response.destroy();
    this.#finish();
  }

  #writeEvent(type: string, object: Shaped): void {
    this.#write(this.#frame ? this.#frame(type, object) : `${JSON.stringify({ type, object })}\n`);
  }

  #write(line: string | Buffer): void {
    const { response } = this.#exchange;
    if (response.writableLength > BACKLOG_LIMIT) this.#cut();
    else response.write(line);
  }

  #finish(): void {
    if (this.ended) return;
    this.ended = true;
    for (const listener of this.#listeners) listener();
  }
}

function plainLine(type: string, stored: Stored): Buffer {
  let made = lines.get(stored);
  if (!made) {
    made = new Map();
    lines.set(stored, made);
  }
  let line = made.get(type);
  if (!line) {
    line = Buffer.from(`{"type":"${type}","object":${stored.json}}\n`);
    made.set(type, line);
  }
  return line;
}
