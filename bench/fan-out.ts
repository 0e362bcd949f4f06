/**
 * How long until the last of 100 watchers has seen a write: after it was sent, and after it was acknowledged. Each
 * watcher has its own connection.
 */
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

interface Delays {
  sent: number[];
  acknowledged: number[];
}

export async function measureFanOut(pair: Pair, effort: Effort): Promise<Row[]> {
  const writes = 100 * effort.rounds;
  const ours = await delaysOf(pair.ours, writes);
  const theirs = pair.theirs && (await delaysOf(pair.theirs, writes));
  const at = (since: keyof Delays, q: number) => ({
    ours: quantile(ours[since], q),
    ...(theirs ? { theirs: quantile(theirs[since], q) } : {}),
  });
  return [
    row(`write sent → last of ${WATCHERS} watchers, p50`, 'ms', at('sent', 0.5)),
    row(`write sent → last of ${WATCHERS} watchers, p99`, 'ms', at('sent', 0.99)),
    row('acknowledged → last watcher, p50', 'ms', at('acknowledged', 0.5)),
    row('acknowledged → last watcher, p99', 'ms', at('acknowledged', 0.99)),
  ];
}

async function delaysOf({ client }: Running, writes: number): Promise<Delays> {
  await makeNamespace(client, NAMESPACE);
  let missing = 0;
  let allSeen = () => {};
  const seen = (line: string) => {
    if (line.includes('"name":"watched-') && --missing === 0) allSeen();
  };
  const watches = await Promise.all(
    Array.from({ length: WATCHERS }, () => client.follow(`${PATH}?watch=true&resourceVersion=0`, seen)),
  );
  const delays: Delays = { sent: [], acknowledged: [] };
  for (let n = 0; n < writes; n++) {
    missing = WATCHERS;
    let lastAt = 0;
    const everyone = new Promise<void>((resolve) => {
      allSeen = () => {
        lastAt = performance.now();
        resolve();
      };
    });
    const sent = performance.now();
    await client.call('POST', PATH, configMap(`watched-${n}`));
    const acknowledged = performance.now();
    await everyone;
    // The last watcher may hear of it before the writer does.
    delays.acknowledged.push(Math.max(0, lastAt - acknowledged));
    delays.sent.push(lastAt - sent);
    await delay(PAUSE_MS);
  }
  for (const watch of watches) watch.end();
  return delays;
}
