import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sleep, systemClock } from '../clock.ts';
import { BackgroundRun, type RunState } from './background-run.ts';
import { systemProcesses } from './processes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-run-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A new one each time: nothing is kept in memory. */
const run = () => new BackgroundRun(join(folder, 'run'), systemProcesses(), systemClock);

async function until(wanted: (state: RunState) => boolean): Promise<RunState> {
  for (const end = Date.now() + 15_000; Date.now() < end; await sleep(systemClock, 20)) {
    const state = await run().read();
    if (wanted(state)) return state;
  }
  throw new Error(JSON.stringify(await run().read()));
}

it('keeps output, exit code and attempts, and hides secrets', async () => {
  expect(await run().read()).toMatchObject({ state: 'none', attempt: 0 });
  await run().start({
    program: 'sh',
    args: ['-c', 'echo out; echo "token: abcdef.0123456789abcdef" >&2; exit 3'],
    note: { a: 1 },
  });
  const ended = await until(({ state }) => state === 'ended');
  expect(ended).toMatchObject({ code: 3, attempt: 1, note: { a: 1 } });
  expect(ended.output).toContain('out\n');
  expect(ended.output).not.toContain('0123456789abcdef');
  expect(statSync(join(folder, 'run', 'output.log')).mode & 0o077).toBe(0);
  await run().start({ program: 'true', args: [] });
  expect(await until(({ state }) => state === 'ended')).toMatchObject({ code: 0, attempt: 2, output: '' });
});

it('finds a run that goes on, and ends it with all it started', async () => {
  await run().start({ program: 'sh', args: ['-c', 'sleep 60 & echo started; wait'] });
  await until(({ state, output }) => state === 'running' && output.includes('started'));
  expect(await run().stop()).toBe(true);
  expect(await until(({ state }) => state !== 'running')).toMatchObject({ state: 'lost' });
  expect(await run().stop()).toBe(false);
});

it('remembers that a run was ended for taking too long', async () => {
  await run().start({ program: 'sleep', args: ['60'] });
  await until(({ state }) => state === 'running');
  await sleep(systemClock, 200);
  await run().stop(124);
  expect(await until(({ state }) => state === 'ended')).toMatchObject({ code: 124 });
});

it('a program that does not exist ends with 127', async () => {
  await run().start({ program: '/does/not/exist', args: [] });
  expect(await until(({ state }) => state === 'ended')).toMatchObject({ code: 127 });
});
