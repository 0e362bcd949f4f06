/**
 * How many seats a request takes: one, and more for what is known to be large before it begins. Kubernetes counts one
 * seat for a hundred objects of a list, at most ten; large bodies are counted alike.
 */
import type { Cluster } from '../cluster.ts';
import type { Exchange } from '../server/exchange.ts';
import type { ResourceRoute, Route } from '../server/route.ts';
import type { Store } from '../store/store.ts';

const MOST = 10;
const OBJECTS_PER_SEAT = 100;
const BYTES_PER_SEAT = 128 * 1024;
/** What is assumed of a body whose length the client does not say. */
const UNKNOWN_BYTES = 2 * BYTES_PER_SEAT;
const WRITES = new Set(['create', 'update', 'patch']);

export function isList(route: Route): boolean {
  return route.kind === 'resource' && route.verb === 'list';
}

export function widthOf(cluster: Cluster, exchange: Exchange, route: Route): number {
  if (route.kind === 'path') return 1;
  if (WRITES.has(route.verb)) return seatsFor(bodyLength(exchange), BYTES_PER_SEAT);
  if (!startsWithList(exchange, route)) return 1;
  const limit = Number(exchange.query.get('limit') ?? 0);
  if (limit > 0 && limit <= OBJECTS_PER_SEAT) return 1;
  const objects = objectsOf(cluster, route);
  return seatsFor(limit > 0 ? Math.min(limit, objects) : objects, OBJECTS_PER_SEAT);
}

/** What an answer of this size cost beyond the seats that were taken for it. */
export function extraFor(width: number, bytesSent: number): number {
  return Math.max(0, seatsFor(bytesSent, BYTES_PER_SEAT) - width);
}

function seatsFor(amount: number, perSeat: number): number {
  return Math.min(MOST, Math.max(1, Math.ceil(amount / perSeat)));
}

function startsWithList({ query }: Exchange, { verb }: ResourceRoute): boolean {
  if (verb === 'watch') return !query.has('resourceVersion') || query.has('sendInitialEvents');
  return verb === 'list' || verb === 'deletecollection';
}

function bodyLength(exchange: Exchange): number {
  const length = exchange.header('content-length');
  return length === undefined ? UNKNOWN_BYTES : Number(length) || 0;
}

interface Counted {
  objects: number;
  until: number;
}

const counts = new WeakMap<Store, Map<string, Counted>>();
const MOST_COUNTS = 500;
const COUNT_FOR_MS = 10_000;

/** Roughly: what was counted is believed for a while. */
function objectsOf({ store, registry, clock }: Cluster, { group, version, plural, namespace }: ResourceRoute): number {
  const resource = registry.find(group, version, plural);
  if (!resource) return 0;
  let known = counts.get(store);
  if (!known || known.size >= MOST_COUNTS) {
    known = new Map();
    counts.set(store, known);
  }
  const key = `${resource.storage} ${namespace}`;
  const now = clock.now();
  const counted = known.get(key);
  if (counted && counted.until > now) return counted.objects;
  const objects = store.count(resource.storage, namespace);
  known.set(key, { objects, until: now + COUNT_FOR_MS });
  return objects;
}
