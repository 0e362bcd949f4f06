/** A ListWatch against a server that answers its nth list and nth watch as a test tells it to. */
import type { KubeObject } from '../../api/object.ts';
import { ListWatch, type ListWatchEvent, type ListWatchOptions } from '../list-watch.ts';
import { RemoteStore } from '../remote-store.ts';
import type { ResourceRef } from '../store.ts';
import { type Exchange, type FakeServer, startFakeServer } from './fake-server.ts';

const things: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };

export function thing(name: string, resourceVersion: number, uid = name): KubeObject {
  return {
    apiVersion: 'test.dev/v1',
    kind: 'Thing',
    metadata: { name, namespace: 'n', uid, resourceVersion: `${resourceVersion}` },
  };
}

export function listOf(resourceVersion: number, ...items: KubeObject[]) {
  return { apiVersion: 'test.dev/v1', kind: 'ThingList', metadata: { resourceVersion: `${resourceVersion}` }, items };
}

export const expired = {
  kind: 'Status',
  apiVersion: 'v1',
  code: 410,
  reason: 'Expired',
  message: 'too old resource version',
};
const ends: (() => Promise<void>)[] = [];
/** Stops everything that `run` started. */
export async function endScenes(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

/** Runs a ListWatch against a server that answers the nth list and the nth watch as told. */
export async function run(
  script: { lists: ((exchange: Exchange) => void)[]; watches: ((exchange: Exchange) => void)[] },
  options: Partial<ListWatchOptions> = {},
) {
  const stop = new AbortController();
  const counts = { lists: 0, watches: 0 };
  const server = await startFakeServer((exchange) => {
    const kind = exchange.url.searchParams.has('watch') ? 'watches' : 'lists';
    const answers = script[kind];
    const answer = answers[Math.min(counts[kind]++, answers.length - 1)];
    answer?.(exchange);
  });
  const store = new RemoteStore({ connection: server.connection });
  const events: string[] = [];
  const errors: unknown[] = [];
  let check = () => {};
  const listWatch = new ListWatch({
    store,
    resource: things,
    backoff: { baseMs: 10, maxMs: 50 },
    onEvent: (event) => {
      events.push(shorten(event));
      check();
    },
    onError: (error) => {
      errors.push(error);
      check();
    },
    ...options,
  });
  const running = listWatch.run(stop.signal);
  ends.push(async () => {
    stop.abort();
    await running;
    await store.close();
    await server.close();
  });
  const until = (wanted: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`events: ${events.join(', ')}; errors: ${errors.join(', ')}`)),
        5_000,
      );
      check = () => {
        if (!wanted()) return;
        clearTimeout(timer);
        resolve();
      };
      check();
    });
  const seen = (count: number) => until(() => events.length >= count);
  return { server, counts, events, errors, listWatch, seen, until, stop, running };
}

function shorten(event: ListWatchEvent): string {
  if (event.type === 'synced') return 'synced';
  if (event.type === 'relisted') return 'relisted';
  const { name, resourceVersion } = event.object.metadata;
  return `${event.type} ${name}@${resourceVersion}`;
}

export const watchedFrom = (server: FakeServer) =>
  server.requests.filter((r) => r.url.searchParams.has('watch')).map((r) => r.url.searchParams.get('resourceVersion'));
export const quiet = (exchange: Exchange) => exchange.stream();
