/** Creates and updates per second, one at a time and 32 at once. */
import { configMap, configMapsOf, makeNamespace } from './config-maps.ts';
import { type Effort, inTurns, type Pair, row } from './pair.ts';
import type { Running } from './servers/server.ts';
import { type Row, ratioAtLeast } from './table.ts';
import { inFlight, rate } from './timing.ts';

const MANY = 32;
const UPDATED = 200;
const NAMESPACE = 'bench-writes';
const PATH = configMapsOf(NAMESPACE);

export async function measureWrites(pair: Pair, effort: Effort): Promise<Row[]> {
  for (const server of [pair.ours, pair.theirs]) {
    if (!server) continue;
    await makeNamespace(server.client, NAMESPACE);
    // Both compile or fill caches on the way of their first requests. At least these exist afterwards:
    await inFlight(
      MANY,
      (n) => n >= UPDATED,
      (n) => create(server, `warm-${n}`),
    );
    await rate(MANY, effort.ms / 2, (n) => create(server, `warmer-${n}`));
  }
  const creates = (concurrency: number) =>
    inTurns(pair, effort.rounds, (server, round) =>
      rate(concurrency, effort.ms, (n) => create(server, `c${concurrency}-${round}-${n}`)),
    );
  // More objects than writers: what is measured is not their conflicts.
  const updates = (concurrency: number) =>
    inTurns(pair, effort.rounds, (server, round) =>
      rate(concurrency, effort.ms, (n) => update(server, `warm-${n % UPDATED}`, round * 1e6 + n)),
    );
  return [
    row('creates, 1 at once', '/s', await creates(1)),
    row(`creates, ${MANY} at once`, '/s', await creates(MANY), ratioAtLeast(2)),
    row('updates, 1 at once', '/s', await updates(1)),
    row(`updates, ${MANY} at once`, '/s', await updates(MANY)),
  ];
}

function create({ client }: Running, name: string): Promise<Buffer> {
  return client.call('POST', PATH, configMap(name));
}

function update({ client }: Running, name: string, version: number): Promise<Buffer> {
  return client.call('PUT', `${PATH}/${name}`, configMap(name, version));
}
