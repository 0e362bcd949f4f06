/** How long after a write is acknowledged the last of 100 watchers has seen it. Each watcher has its own connection. */
import { setTimeout as delay } from 'node:timers/promises';
import { configMap, configMapsOf, makeNamespace } from './config-maps.ts';
import { type Effort, type Pair, row } from './pair.ts';
import type { Running } from './servers/server.ts';
import type { Row } from './table.ts';
import { quantile } from './timing.ts';

const WATCHERS = 100;
const NAMESPACE = 'bench-watch';
const PATH = configMapsOf(NAMESPACE);
/** Between writes: what is measured is latency, not a queue. */
const PAUSE_MS = 5;

export async function measureFanOut(pair: Pair, effort: Effort): Promise<Row[]> {
  const writes = 100 * effort.rounds;
  const ours = await latencies(pair.ours, writes);
  const theirs = pair.theirs && (await latencies(pair.theirs, writes));
  const at = (q: number) => ({ ours: quantile(ours, q), ...(theirs ? { theirs: quantile(theirs, q) } : {}) });
  return [
    row(`write → last of ${WATCHERS} watchers, p50`, 'ms', at(0.5)),
    row(`write → last of ${WATCHERS} watchers, p99`, 'ms', at(0.99)),
  ];
}

async function latencies({ client }: Running, writes: number): Promise<number[]> {
  await makeNamespace(client, NAMESPACE);
  let missing = 0;
  let allSeen = () => {};
  const seen = (line: string) => {
    if (line.includes('"name":"watched-') && --missing === 0) allSeen();
  };
  const watches = await Promise.all(
    Array.from({ length: WATCHERS }, () => client.follow(`${PATH}?watch=true&resourceVersion=0`, seen)),
  );
  const samples: number[] = [];
  for (let n = 0; n < writes; n++) {
    missing = WATCHERS;
    let lastAt = 0;
    const everyone = new Promise<void>((resolve) => {
      allSeen = () => {
        lastAt = performance.now();
        resolve();
      };
    });
    await client.call('POST', PATH, configMap(`watched-${n}`));
    const acknowledged = performance.now();
    await everyone;
    // The last watcher may hear of it before the writer does.
    samples.push(Math.max(0, lastAt - acknowledged));
    await delay(PAUSE_MS);
  }
  for (const watch of watches) watch.end();
  return samples;
}
