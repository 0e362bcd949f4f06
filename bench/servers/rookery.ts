/** Our server, as built JavaScript in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../test/bed/services/port.ts';
import { Client } from '../client.ts';
import { type Kind, type Running, untilReady } from './server.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const CHILD = fileURLToPath(new URL('./rookery.child.mjs', import.meta.url));

/** Sleep comes after a minute without use, looked for every 15 seconds. */
const SLEEP_AFTER_MS = 61_000;
const SLEEP_PATIENCE_MS = 120_000;
const SETTLE_MS = 3000;

/** What only our own server can be asked; see rookery.child.mjs. */
export interface RookeryRunning extends Running {
  url: string;
  ask<T>(what: string, argument?: unknown): Promise<T>;
}

/** Longest gaps in the event loop, ms. */
export interface LoopDelay {
  /** As a client feels it. */
  longest: number;
  /** Without what the process spent waiting for a processor. */
  blocked: number;
  /** Without what it spent waiting for the disk, too. */
  computing: number;
}

/** The command itself: start-up is measured on what users type. */
export const rookeryCommand: Kind = {
  name: 'rookery',
  async start(folder) {
    const { child, port, startMs } = await launch((p) => [MAIN, 'up', '--no-demo', '--port', p, '--home', folder]);
    return {
      client: new Client(`https://127.0.0.1:${port}`, ''),
      pids: [child.pid as number],
      startMs,
      stop: () => ended(child),
    };
  },
};

/** With BENCH_PROFILE=<folder>, Node writes a CPU profile of the server there when it ends. */
export async function startRookery(folder: string): Promise<RookeryRunning> {
  const profiles = process.env.BENCH_PROFILE;
  const flags = profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [];
  const { child, port, startMs } = await launch((p) => [...flags, CHILD, folder, p]);
  const ask = asker(child);
  const url = `https://127.0.0.1:${port}`;
  const client = new Client(url, await ask<string>('token'));
  const stop = async () => {
    await client.close();
    await ended(child);
  };
  return { client, url, ask, pids: [child.pid as number], startMs, stop };
}

async function launch(
  args: (port: string) => string[],
): Promise<{ child: ChildProcess; port: number; startMs: number }> {
  if (!existsSync(MAIN)) throw new Error('dist/ is missing: run `make build` first');
  const [port] = (await freePorts(1)) as [number];
  const start = performance.now();
  const child = spawn(process.execPath, args(String(port)), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await untilReady(port, () => child.exitCode !== null);
  return { child, port, startMs: performance.now() - start };
}

function asker(child: ChildProcess): RookeryRunning['ask'] {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let last = 0;
  child.on('message', ({ id, value, error }: { id: number; value: never; error?: string }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error) asked?.reject(new Error(error));
    else asked?.resolve(value);
  });
  return (what, argument) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      child.send({ id: last, ask: what, argument });
    });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Puts the server's clock forward until all its clusters but the root are asleep. */
export async function fallAsleep(server: RookeryRunning): Promise<void> {
  await server.ask('putForward', SLEEP_AFTER_MS);
  const end = performance.now() + SLEEP_PATIENCE_MS;
  while ((await server.ask<number>('awake')) > 1) {
    if (performance.now() > end) throw new Error('clusters do not fall asleep');
    await delay(250);
  }
  await delay(SETTLE_MS);
}
