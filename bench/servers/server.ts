/** An API server under measurement. Both kinds are spoken to by the same client and weighed by the same scales. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../client.ts';

export interface Running {
  client: Client;
  /** Processes whose memory counts. */
  pids: number[];
  /** From the start of its first process until `/readyz` said 200, ms. */
  startMs: number;
  stop(): Promise<void>;
}

export interface Kind {
  name: string;
  /** Starts it on a folder that is empty or was used before. */
  start(folder: string): Promise<Running>;
}

/** Resident memory of all its processes, MB. */
export function residentMb(pids: number[]): number {
  let kb = 0;
  for (const pid of pids) kb += Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return kb / 1024;
}

const POLL_MS = 5;
const PATIENCE_MS = 120_000;

/** Asks without credentials: both servers answer `/readyz` to anyone. A new connection each time, as probes make. */
export async function untilReady(port: number, hasExited: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isReady(port))) {
    if (hasExited()) throw new Error('the server ended before it was ready');
    if (performance.now() > end) throw new Error(`not ready within ${PATIENCE_MS} ms`);
    await delay(POLL_MS);
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false };
    const asked = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.end();
  });
}
