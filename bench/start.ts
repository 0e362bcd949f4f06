/** From the start of the process to `/readyz` 200: on an empty folder, and on one used before. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kubeApiserver } from './servers/kube-apiserver.ts';
import { rookeryCommand } from './servers/rookery.ts';
import { type Kind, residentMb } from './servers/server.ts';
import { type Row, ratioAtMost } from './table.ts';
import { median } from './timing.ts';

/** What is allocated while starting is given back within this time, or not at all. */
const SETTLE_MS = 3000;

interface Starts {
  first: number[];
  again: number[];
  mb: number[];
}

export async function measureStart(folder: string, rounds: number, withTheirs: boolean): Promise<Row[]> {
  const ours: Starts = { first: [], again: [], mb: [] };
  const theirs: Starts = { first: [], again: [], mb: [] };
  for (let round = 0; round < rounds; round++) {
    await startTwice(rookeryCommand, join(folder, `ours${round}`), ours);
    if (withTheirs) await startTwice(kubeApiserver, join(folder, `theirs${round}`), theirs);
  }
  const both = (of: keyof Starts) => ({
    ours: median(ours[of]),
    ...(withTheirs ? { theirs: median(theirs[of]) } : {}),
  });
  return [
    { what: 'start to ready, first', unit: 'ms', ...both('first'), goal: ratioAtMost(0.1) },
    { what: 'start to ready, again', unit: 'ms', ...both('again'), goal: ratioAtMost(0.1) },
    { what: 'memory, idle', unit: 'MB', ...both('mb'), goal: ratioAtMost(0.35) },
  ];
}

async function startTwice(kind: Kind, folder: string, into: Starts): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const first = await kind.start(folder);
  into.first.push(first.startMs);
  await first.stop();
  const again = await kind.start(folder);
  into.again.push(again.startMs);
  await delay(SETTLE_MS);
  into.mb.push(residentMb(again.pids));
  await again.stop();
}
