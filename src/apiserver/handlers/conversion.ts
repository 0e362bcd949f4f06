/**
 * Conversion by a webhook takes time, and most of the road of a request does not wait: whoever reads objects has them
 * prepared first, and finds the converted forms beside the stored ones. Everything here is free for other resources.
 */
import type { KubeObject } from '../../api/object.ts';
import { clone } from '../json.ts';
import type { Conversion, Resource } from '../resource.ts';
import { ApiError, internalError } from '../status.ts';
import type { ChangeEvent, Stored } from '../store/store.ts';
import { attach, convertedForm, keepForm, knownForm, storedIn } from './converted-forms.ts';
import { keysInOrder, servedApiVersion, storedApiVersion, toStored } from './stored-form.ts';

/** Under way: who asks for the same waits for the same answer. */
const pending = new WeakMap<Stored, Map<string, Promise<void>>>();

/** Has a webhook convert what is not in the served version. Undefined: there is nothing to wait for. */
export function prepare(resource: Resource, items: readonly Stored[]): Promise<void> | undefined {
  const conversion = resource.custom?.conversion;
  if (!conversion) return undefined;
  const apiVersion = servedApiVersion(resource);
  const missing = items.filter(
    (stored) => storedIn(stored) !== apiVersion && !knownForm(conversion, stored, apiVersion),
  );
  if (missing.length === 0) return undefined;
  const others = missing.flatMap((stored) => pending.get(stored)?.get(apiVersion) ?? []);
  const own = missing.filter((stored) => !pending.get(stored)?.has(apiVersion));
  if (own.length === 0) return Promise.all(others).then(() => {});
  const work = convertStored(resource, conversion, own, apiVersion);
  for (const stored of own) pending.set(stored, new Map([...(pending.get(stored) ?? []), [apiVersion, work]]));
  const settle = () => {
    for (const stored of own) pending.get(stored)?.delete(apiVersion);
  };
  work.then(settle, settle);
  return Promise.all([work, ...others]).then(() => {});
}

async function convertStored(
  resource: Resource,
  conversion: Conversion,
  items: Stored[],
  apiVersion: string,
): Promise<void> {
  for (const portion of portions(items)) {
    const objects = portion.map((stored) => stored.object());
    const converted = await conversion.convert(objects, apiVersion);
    for (const [index, object] of converted.entries()) {
      resource.convert?.(object, apiVersion);
      keepForm(conversion, portion[index] as Stored, apiVersion, object);
    }
  }
}

/** Of one call, unless a single object is larger: parsing and checking them is one turn of the event loop. */
const PORTION_CHARACTERS = 512 * 1024;
const PORTION_OBJECTS = 100;

function* portions(items: readonly Stored[]): Generator<Stored[]> {
  let portion: Stored[] = [];
  let size = 0;
  for (const stored of items) {
    if (portion.length === PORTION_OBJECTS || (size > 0 && size + stored.json.length > PORTION_CHARACTERS)) {
      yield portion;
      portion = [];
      size = 0;
    }
    portion.push(stored);
    size += stored.json.length;
  }
  yield portion;
}

/** A copy of an object in the version of `resource`. */
export async function convertTo(resource: Resource, object: KubeObject): Promise<KubeObject> {
  const apiVersion = servedApiVersion(resource);
  if (object.apiVersion === apiVersion) return clone(object);
  const conversion = resource.custom?.conversion;
  const copy = conversion ? ((await conversion.convert([object], apiVersion))[0] as KubeObject) : clone(object);
  resource.convert?.(copy, apiVersion);
  copy.apiVersion = apiVersion;
  return copy;
}

/** What makes the form to store, for inside the transaction: a webhook is asked before, all else is done then. */
export async function storable(resource: Resource, object: KubeObject): Promise<() => KubeObject> {
  const conversion = resource.custom?.conversion;
  const apiVersion = storedApiVersion(resource);
  if (!conversion || object.apiVersion === apiVersion) return () => toStored(resource, object);
  const [converted] = (await conversion.convert([object], apiVersion)) as [KubeObject];
  resource.convert?.(converted, apiVersion);
  return () => keysInOrder(converted);
}

/** Changes that wait for a webhook; beyond that the watcher has to list again. */
const WAITING_LIMIT = 10_000;

/** Changes on their way to a watcher. */
export interface OrderedChanges {
  deliver(event: ChangeEvent): void;
  /** Some wait for a webhook: no bookmark may pass them. */
  readonly isBehind: boolean;
}

/** Passes changes on in their order, each after what it shows is converted. `fail` ends it. */
export function inOrder(
  resource: Resource,
  show: (event: ChangeEvent) => void,
  fail: (error: ApiError) => void,
): OrderedChanges {
  return resource.custom?.conversion ? new ConvertedChanges(resource, show, fail) : { deliver: show, isBehind: false };
}

class ConvertedChanges implements OrderedChanges {
  readonly #resource: Resource;
  readonly #show: (event: ChangeEvent) => void;
  readonly #fail: (error: ApiError) => void;
  #waiting = 0;
  #failed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(resource: Resource, show: (event: ChangeEvent) => void, fail: (error: ApiError) => void) {
    this.#resource = resource;
    this.#show = show;
    this.#fail = fail;
  }

  get isBehind(): boolean {
    return this.#waiting > 0;
  }

  deliver(event: ChangeEvent): void {
    if (this.#failed) return;
    const ready = prepareEvent(this.#resource, event);
    if (ready === undefined && this.#waiting === 0) {
      this.#show(event);
      return;
    }
    // It is awaited below; until then a rejection must not count as forgotten.
    ready?.catch(() => {});
    this.#waiting++;
    if (this.#waiting > WAITING_LIMIT) {
      this.#end(new Error('the conversion webhook is too slow for this watch'));
      return;
    }
    this.#last = this.#last
      .then(() => ready)
      .then(() => {
        this.#waiting--;
        if (!this.#failed) this.#show(event);
      })
      .catch((error: unknown) => this.#end(error));
  }

  #end(error: unknown): void {
    if (!this.#failed) this.#fail(error instanceof ApiError ? error : internalError(error));
    this.#failed = true;
  }
}

/** Selectors look at both states; a deletion shows the last one under its own version. */
function prepareEvent(resource: Resource, { type, current, previous }: ChangeEvent): Promise<void> | undefined {
  const states = type === 'DELETED' && previous ? [previous] : previous ? [current, previous] : [current];
  const ready = prepare(resource, states);
  if (type !== 'DELETED' || !previous) return ready;
  const apiVersion = servedApiVersion(resource);
  const bury = () => {
    const last = convertedForm(resource, previous, apiVersion);
    if (!last) return;
    attach(current, apiVersion, {
      ...last,
      metadata: { ...last.metadata, resourceVersion: String(current.rv) },
    });
  };
  if (ready !== undefined) return ready.then(bury);
  bury();
  return undefined;
}
