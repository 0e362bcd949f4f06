/** A list of many objects in one answer, until its last byte is here (gzip: before it is unpacked). */
import { configMap, configMapsOf, makeNamespace } from './config-maps.ts';
import { type Effort, inTurns, type Pair, row } from './pair.ts';
import type { Running } from './servers/server.ts';
import type { Row } from './table.ts';
import { elapsed, inFlight } from './timing.ts';

const NAMESPACE = 'bench-list';
const PATH = configMapsOf(NAMESPACE);

export async function measureList(pair: Pair, effort: Effort): Promise<Row[]> {
  for (const server of [pair.ours, pair.theirs]) {
    if (!server) continue;
    await makeNamespace(server.client, NAMESPACE);
    await inFlight(
      32,
      (n) => n >= effort.objects,
      (n) => server.client.call('POST', PATH, configMap(`listed-${n}`)),
    );
  }
  const list = (encoding: string) => (server: Running) =>
    elapsed(() => server.client.call('GET', PATH, undefined, { 'accept-encoding': encoding }));
  const many = effort.objects.toLocaleString('en-US');
  return [
    row(`list ${many}`, 'ms', await inTurns(pair, effort.rounds + 2, list('identity'))),
    row(`list ${many}, gzip`, 'ms', await inTurns(pair, effort.rounds + 2, list('gzip'))),
  ];
}
