import { expect, it } from 'vitest';
import type { Cluster } from '../cluster.ts';
import { ManualClock } from '../loops/testing/test-cluster.ts';
import type { Exchange } from '../server/exchange.ts';
import { parseRoute } from '../server/route.ts';
import { extraFor, widthOf } from './width.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

/** A cluster with so many objects of everything, which counts how often it is counted. */
function clusterWith(objects: number) {
  const clock = new ManualClock();
  const counted = { times: 0 };
  const store = {
    count: () => {
      counted.times++;
      return objects;
    },
  };
  const registry = { find: (_group: string, _version: string, plural: string) => ({ storage: `/${plural}` }) };
  return { cluster: { store, registry, clock } as unknown as Cluster, clock, counted };
}

function width(cluster: Cluster, method: string, target: string, headers: Record<string, string> = {}): number {
  const [path = '', search] = target.split('?');
  const query = new URLSearchParams(search);
  const exchange = { query, header: (name: string) => headers[name] } as unknown as Exchange;
  return widthOf(cluster, exchange, parseRoute(method, path, query));
}

it('a list takes a seat for a hundred objects, at most ten', () => {
  expect(width(clusterWith(0).cluster, 'GET', MAPS)).toBe(1);
  expect(width(clusterWith(101).cluster, 'GET', MAPS)).toBe(2);
  expect(width(clusterWith(100_000).cluster, 'GET', MAPS)).toBe(10);
  expect(width(clusterWith(100_000).cluster, 'GET', `${MAPS}?limit=250`)).toBe(3);
  expect(width(clusterWith(100_000).cluster, 'GET', `${MAPS}?limit=x`)).toBe(10);
  expect(width(clusterWith(100_000).cluster, 'DELETE', MAPS)).toBe(10);
});

it('a watch counts what it begins with', () => {
  const { cluster } = clusterWith(1000);
  expect(width(cluster, 'GET', `${MAPS}?watch=1`)).toBe(10);
  expect(width(cluster, 'GET', `${MAPS}?watch=1&resourceVersion=5`)).toBe(1);
  expect(width(cluster, 'GET', `${MAPS}?watch=1&resourceVersion=5&sendInitialEvents=true`)).toBe(10);
});

it('objects are counted once in ten seconds, and not at all for a short page or one object', () => {
  const { cluster, clock, counted } = clusterWith(1000);
  for (const target of [`${MAPS}/a`, `${MAPS}?limit=100`, '/version']) expect(width(cluster, 'GET', target)).toBe(1);
  expect(counted.times).toBe(0);
  for (let i = 0; i < 5; i++) width(cluster, 'GET', MAPS);
  expect(counted.times).toBe(1);
  clock.advance(10_000);
  width(cluster, 'GET', MAPS);
  expect(counted.times).toBe(2);
});

it('a write takes a seat for 128 KiB of its body', () => {
  const { cluster } = clusterWith(0);
  const post = (length?: string) => width(cluster, 'POST', MAPS, length ? { 'content-length': length } : {});
  expect([post('300'), post('200000'), post('3000000'), post('x'), post()]).toEqual([1, 2, 10, 1, 2]);
});

it('an answer larger than its seats costs the difference', () => {
  expect([extraFor(1, 500), extraFor(1, 600_000), extraFor(10, 600_000)]).toEqual([0, 4, 0]);
});
