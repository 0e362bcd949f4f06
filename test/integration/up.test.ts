// The command line as people use it: real processes, a home folder of their own, free ports.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { kubectl } from '../harness/kubectl.ts';

const rookery = fileURLToPath(new URL('../../bin/rookery', import.meta.url));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rookery-home-'));
});
afterEach(async () => {
  await run('down').catch(() => undefined);
  rmSync(home, { recursive: true, force: true });
});

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

function run(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [rookery, '--home', home, ...args], { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

const up = () => run('up', '--detach', '--port', '0');
const state = () => JSON.parse(readFileSync(join(home, 'state.json'), 'utf8')) as { pid: number; url: string };

const as = (kubeconfig: string) => kubectl(kubeconfig, join(home, 'kubectl'));

it('goes from nothing to a cluster that answers kubectl, and back to nothing', async () => {
  expect(await up()).toMatchObject({ code: 0, stdout: expect.stringContaining('Rookery is up') });
  const demo = join(home, 'clusters', 'demo.kubeconfig');
  expect(statSync(demo).mode & 0o777).toBe(0o600);
  expect((await as(demo)(`get namespaces -o name`)).out).toContain('namespace/default');

  expect(await run('cluster', 'create', 'mine')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('mine is ready'),
  });
  const mine = (await run('cluster', 'kubeconfig', 'mine', '--path')).stdout.trim();
  expect(await as(mine)(`create configmap a`)).toMatchObject({ code: 0 });
  expect(await as(demo)(`get configmap a`)).toMatchObject({ code: 1 });
  const list = JSON.parse((await run('cluster', 'list', '-o', 'json')).stdout) as { metadata: { name: string } }[];
  expect(list.map((cluster) => cluster.metadata.name)).toEqual(['demo', 'mine']);

  expect(await run('cluster', 'delete', 'mine', 'demo')).toMatchObject({ code: 0 });
  expect(readdirSync(join(home, 'data', 'clusters'))).toEqual([]);
  expect(readdirSync(join(home, 'clusters'))).toEqual([]);
  const root = await as(join(home, 'kubeconfig'))(`get clusters,virtualclusters,secrets -A -o name`);
  expect(root.out).toBe('');
});

it('says what runs already, and stops', async () => {
  await up();
  expect(await up()).toMatchObject({ code: 0, stdout: expect.stringContaining(`pid ${state().pid}`) });
  expect(await run('status')).toMatchObject({ code: 0, stdout: expect.stringContaining(state().url) });
  expect(await run('down')).toMatchObject({ code: 0 });
  expect(await run('status')).toMatchObject({ code: 1, stderr: expect.stringContaining('no control plane') });
  expect(await run('down')).toMatchObject({ code: 0, stdout: expect.stringContaining('no control plane') });
  expect(existsSync(join(home, 'state.json'))).toBe(false);
});

it('comes back after kill -9 with everything', async () => {
  await up();
  const demo = join(home, 'clusters', 'demo.kubeconfig');
  await as(demo)(`create configmap kept`);
  const { pid, url } = state();
  process.kill(pid, 'SIGKILL');
  expect(await run('status')).toMatchObject({ code: 1 });
  expect(await run('up', '--detach', '--port', new URL(url).port)).toMatchObject({ code: 0 });
  expect(await as(demo)(`get configmap kept -o name`)).toMatchObject({
    code: 0,
    out: 'configmap/kept\n',
  });
});

it('stops cleanly on Ctrl-C in the foreground', async () => {
  const child = spawn(process.execPath, [rookery, '--home', home, 'up', '--port', '0']);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (output.includes('Ctrl-C stops it')) child.kill('SIGINT');
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect(code).toBe(0);
  expect(output).toContain('export KUBECONFIG=');
  expect(existsSync(join(home, 'state.json'))).toBe(false);
});

it('leaves a newer or broken database untouched and says so', async () => {
  await up();
  await run('down');
  const file = join(home, 'data', 'root.db');
  const db = new Database(file);
  db.pragma('user_version = 999');
  db.close();
  const newer = readFileSync(file);
  const foreground = () => run('up', '--port', '0');
  expect(await foreground()).toMatchObject({ code: 1, stderr: expect.stringMatching(/newer/) });
  expect(readFileSync(file).equals(newer)).toBe(true);

  const garbage = Buffer.from('this is not a database, whatever its name says\n'.repeat(100));
  writeFileSync(file, garbage);
  expect(await foreground()).toMatchObject({ code: 1, stderr: expect.stringMatching(/root\.db/) });
  expect(readFileSync(file).equals(garbage)).toBe(true);
});

it('explains mistakes and exits by class of error', async () => {
  // Nothing runs: the command hosts the control plane itself.
  expect(await run('cluster', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('no clusters') });
  expect(await run('cluster', 'craete', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean create'),
  });
  expect(await run('up', '--port', 'many')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a port'),
  });
  expect(await run('-o', 'xml', 'version')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('table, json, yaml'),
  });
  await up();
  expect(await run('cluster', 'create', 'demo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('already a cluster'),
  });
  expect(await run('cluster', 'create', 'Not_A_Name')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('metadata.name'),
  });
  expect(await run('cluster', 'get', 'none')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no cluster "none"'),
  });
  const failed = await run('cluster', 'delete', 'none', '-o', 'json');
  expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'cluster.missing' } });
});

it('prints CRDs that kubectl accepts, and completion for each shell', async () => {
  await up();
  writeFileSync(join(home, 'crds.yaml'), (await run('crds')).stdout);
  const demo = join(home, 'clusters', 'demo.kubeconfig');
  expect(await as(demo)(`apply -f ${join(home, 'crds.yaml')}`)).toMatchObject({ code: 0 });
  const explained = await as(demo)(`explain workspacetemplate.spec.defaults.lifecycle.ttl`);
  expect(explained.out).toContain('Time to live, counted from the start');
  for (const shell of ['bash', 'zsh', 'fish']) {
    expect((await run('completion', shell)).stdout).toContain('cluster');
  }
});
