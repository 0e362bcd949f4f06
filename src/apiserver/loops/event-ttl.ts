/**
 * Events live for an hour after they were last written. One timer for the oldest, none while there are no events;
 * which events are due is read from the store, so nothing is held in memory per event.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../clock.ts';
import type { Key } from '../store/store.ts';
import { type Loop, pages, warn } from './loop.ts';

const EVENTS = '/events';
const TTL_MS = 3_600_000;
/** Events that end within the same minute go together. */
const GRAIN_MS = 60_000;
const BATCH = 100;

export const eventTtl: Loop = (context) => {
  const { store, clock } = context;
  let cancel: (() => void) | undefined;
  let stopped = false;
  const stopWatch = store.watch({ resource: EVENTS, afterRv: store.rv }, () => {
    // Any event seen now ends in an hour; an earlier end already has its timer.
    if (!cancel) wake(TTL_MS);
  });
  if (store.count(EVENTS) > 0) wake(0);

  function wake(ms: number): void {
    if (stopped) return;
    cancel = clock.after(ms + (ms ? GRAIN_MS : 0), () => {
      sweep().catch((error) => {
        if (stopped) return;
        warn(context, 'removing old events failed', error);
        wake(GRAIN_MS);
      });
    });
  }

  async function sweep(): Promise<void> {
    const due: Key[] = [];
    let next = Number.POSITIVE_INFINITY;
    for await (const page of pages(store, EVENTS)) {
      for (const stored of page) {
        const ends = lastWritten(stored.object(), clock) + TTL_MS;
        if (ends <= clock.now()) due.push(stored.key);
        else next = Math.min(next, ends);
      }
    }
    // Straight from the store, as etcd's leases end: no admission, no finalizers.
    while (due.length && !stopped) {
      const batch = due.splice(0, BATCH);
      await store.write((tx) => {
        for (const key of batch) {
          const live = tx.get(key);
          if (live && lastWritten(live.object(), clock) + TTL_MS <= clock.now()) tx.delete(key);
        }
      });
    }
    cancel = undefined;
    if (next !== Number.POSITIVE_INFINITY) wake(next - clock.now());
    else if (store.count(EVENTS) > 0) wake(TTL_MS);
  }

  return () => {
    stopped = true;
    stopWatch();
    cancel?.();
  };
};

/** From the object itself, so that a restart does not begin the hour anew; a clock ahead of ours does not prolong it. */
function lastWritten(event: KubeObject, clock: Clock): number {
  const { metadata, lastTimestamp, series } = event;
  const times = [metadata.creationTimestamp, lastTimestamp, series?.lastObservedTime];
  for (const { time } of metadata.managedFields ?? []) times.push(time);
  const known = times.map((time) => (time ? Date.parse(time) : Number.NaN)).filter((time) => time <= clock.now());
  return known.length ? Math.max(...known) : 0;
}
