/** Starting where it does not work, stopping before it does, twice at once: a sentence, and nothing left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';

const rookery = fileURLToPath(new URL('../../bin/rookery', import.meta.url));
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rookery-home-'));
});
afterEach(async () => {
  await run('down');
  rmSync(home, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  out: string;
}

function start(...args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [rookery, '--home', home, ...args]);
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      out += chunk;
    });
  }
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, out }))) };
}

const run = (...args: string[]) => start(...args).ended;

it('stopped at any moment of its start, it does not come up any more and leaves no state', async () => {
  for (const after of [150, 250, 300, 350, 400, 500]) {
    const { child, ended } = start('up', '--port', '0');
    await delay(after);
    child.kill('SIGTERM');
    const { code, out } = await ended;
    // null: before it listened to signals at all.
    expect([0, null]).toContain(code);
    if (out.includes('is up')) expect(out.indexOf('stopping')).toBeGreaterThan(out.indexOf('is up'));
    expect(existsSync(join(home, 'state.json'))).toBe(false);
    // Each start is a first one; a home that lost only its data would refuse to start.
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
  }
});

it('stopped in the middle of taking its home, it gives it back', async () => {
  for (let round = 0; round < 4; round++) {
    const { child, ended } = start('up', '--port', '0');
    const watcher = watch(home, () => {
      watcher.close();
      child.kill('SIGTERM');
    });
    await ended;
    expect(existsSync(join(home, 'state.json'))).toBe(false);
  }
});

it('ends without a stack, and cleanly, when nobody reads any more', async () => {
  for (const args of [
    ['cluster', '--help'],
    ['cluster', 'list'],
    ['up', '--port', '0'],
  ]) {
    const { child, ended } = start(...args);
    child.stdout?.destroy();
    const { out } = await ended;
    expect(out).not.toContain('EPIPE');
    expect(existsSync(join(home, 'state.json'))).toBe(false);
  }
});

it('twice at once: one is up, the other says why not', async () => {
  const both = await Promise.all([run('up', '-d', '--port', '0'), run('up', '-d', '--port', '0')]);
  for (const { code, out } of both) {
    if (code === 0) expect(out).toContain('is up');
    else expect(out).toMatch(/is in use by another process/);
  }
  expect(both.some(({ code }) => code === 0)).toBe(true);
  expect((await run('cluster', 'list')).out).toContain('demo');
});

it('names what is wrong with the place it was given', async () => {
  expect(await run('up', '--port', '0', '--host', '192.0.2.77')).toMatchObject({
    code: 2,
    out: expect.stringContaining('192.0.2.77 is no address of this machine'),
  });
  const file = join(home, 'file');
  writeFileSync(file, '');
  const { code, out } = await run('--home', file, 'up', '--port', '0');
  expect(code).toBe(1);
  expect(out).toContain('--home');
  expect(out).not.toContain('bug');
});

it('kubeconfigs follow when it comes back at another port', async () => {
  const server = () => /server: "(.*)"/.exec(readFileSync(join(home, 'clusters', 'demo.kubeconfig'), 'utf8'))?.[1];
  await run('up', '-d', '--port', '0');
  const before = server();
  await run('down');
  await run('up', '-d', '--port', '0');
  const { url } = JSON.parse((await run('status', '-o', 'json')).out);
  expect(server()).toBe(`${url}/clusters/demo`);
  expect(server()).not.toBe(before);
});

it('speaks YAML where it was asked to', async () => {
  const { code, out } = await run('up', '-d', '--port', '0', '--no-demo', '-o', 'yaml');
  expect(code).toBe(0);
  expect(parse(out)).toMatchObject({ running: true, url: expect.stringContaining('https://') });
});
