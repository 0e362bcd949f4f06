/** Waits for an object to be as wanted, told by a watch and not by polling. The one way to wait for an object. */
import type { KubeObject } from '../api/object.ts';
import { type Clock, type Random, systemClock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { getCondition } from './conditions.ts';
import { ListWatch } from './list-watch.ts';
import { keyText, type ObjectKey, type ObjectStore, type ResourceRef } from './store.ts';

export interface WaitOptions {
  /** Default: no limit but the signal. */
  timeoutMs?: number;
  signal?: AbortSignal;
  clock?: Clock;
  random?: Random;
  /** For the error: what was waited for. */
  what?: string;
}

/** The object once `wanted` holds; it is asked with undefined while there is none. What it throws ends the wait. */
export async function waitFor<T extends KubeObject = KubeObject>(
  store: ObjectStore,
  resource: ResourceRef,
  key: ObjectKey,
  wanted: (object: T | undefined) => boolean,
  options: WaitOptions = {},
): Promise<T | undefined> {
  const { clock = systemClock, random, signal, timeoutMs, what = 'the wanted state' } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  let outcome: { object: T | undefined } | { error: unknown } | undefined;
  let last: T | undefined;
  let lastError: unknown;
  let isSynced = false;
  const check = () => {
    if (!isSynced || outcome) return;
    try {
      if (!wanted(last)) return;
      outcome = { object: last };
    } catch (error) {
      outcome = { error };
    }
    stop.abort();
  };
  const cancelTimer = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, () => stop.abort());
  try {
    await new ListWatch<T>({
      store,
      resource,
      clock,
      random,
      selection: { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` },
      onError: (error) => {
        lastError = error;
      },
      onEvent: (event) => {
        if (event.type === 'synced') isSynced = true;
        else if (event.type === 'deleted') last = undefined;
        else if (event.type !== 'relisted') last = event.object;
        check();
      },
    }).run(stop.signal);
  } finally {
    cancelTimer();
    signal?.removeEventListener('abort', onAbort);
  }
  if (outcome && 'error' in outcome) throw outcome.error;
  if (outcome) return outcome.object;
  signal?.throwIfAborted();
  const state = last ? describe(last) : isSynced ? 'it does not exist' : 'it could not be read';
  throw new RookeryError(
    'WAIT_TIMEOUT',
    `${resource.kind} ${keyText(key)}: waited ${(timeoutMs ?? 0) / 1000} s for ${what}; ${state}`,
    { class: 'retryable', cause: lastError },
  );
}

/** Until `status.conditions` says so for the object's newest generation. */
export async function waitForCondition<T extends KubeObject = KubeObject>(
  store: ObjectStore,
  resource: ResourceRef,
  key: ObjectKey,
  type: string,
  options: WaitOptions & { status?: 'True' | 'False' | 'Unknown' } = {},
): Promise<T> {
  const { status = 'True', ...rest } = options;
  const holds = (object: T | undefined) => {
    const condition = object && getCondition(object, type);
    if (condition?.status !== status) return false;
    return (condition.observedGeneration ?? Number.POSITIVE_INFINITY) >= (object?.metadata.generation ?? 0);
  };
  return (await waitFor<T>(store, resource, key, holds, { what: `condition ${type}=${status}`, ...rest })) as T;
}

/** Until there is no such object, or another one of the same name when `uid` is given. */
export async function waitForGone(
  store: ObjectStore,
  resource: ResourceRef,
  key: ObjectKey,
  options: WaitOptions & { uid?: string } = {},
): Promise<void> {
  const { uid, ...rest } = options;
  const isGone = (object: KubeObject | undefined) => !object || (uid !== undefined && object.metadata.uid !== uid);
  await waitFor(store, resource, key, isGone, { what: 'it to be gone', ...rest });
}

function describe(object: KubeObject): string {
  const failing = (object.status?.conditions ?? []).filter(
    (condition: { status: string }) => condition.status !== 'True',
  );
  const texts = failing.map((c: Record<string, string>) => `${c.type}=${c.status} (${c.reason}: ${c.message})`);
  if (object.metadata.deletionTimestamp)
    texts.unshift(`deleting, finalizers: ${object.metadata.finalizers?.join(', ')}`);
  return texts.length > 0 ? texts.join('; ') : 'it has no failing condition';
}
