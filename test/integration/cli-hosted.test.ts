// Commands where no control plane runs: they host one themselves, do not get in each other's way, and leave nothing running.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KUBECTL } from '../harness/kubectl.ts';
import { Rookery, until } from '../harness/rookery.ts';

let rookery: Rookery;
beforeEach(() => {
  rookery = new Rookery({ PATH: '/usr/bin:/bin', DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
});
afterEach(() => rookery.close());

const run = (...args: string[]) => rookery.run(...args);
const stateFile = () => join(rookery.home, 'state.json');
const state = () => JSON.parse(readFileSync(stateFile(), 'utf8')) as { phase: string; command?: string; pid: number };
const isServing = () => existsSync(stateFile()) && readFileSync(stateFile(), 'utf8').includes('"serving"');
/** Keeps a hosted control plane up until its file appears. */
const held = (file: string) =>
  rookery.start('cluster', 'exec', 'a', '--', 'sh', '-c', `while [ ! -e ${file} ]; do sleep 0.05; done`);

it('makes, reaches and deletes a cluster with nothing running before or after', async () => {
  const { code, stdout } = await run('cluster', 'create', 'a');
  expect(code).toBe(0);
  expect(stdout).toContain('It answers only while a control plane runs');
  expect(existsSync(stateFile())).toBe(false);
  expect(await run('status')).toMatchObject({ code: 1 });
  // Inside, it answers for as long as the command runs.
  expect(await run('cluster', 'exec', 'a', '--', KUBECTL, 'get', 'namespaces', '-o', 'name')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('namespace/default'),
  });
  expect((await run('cluster', 'list')).stdout).toMatch(/^a +Ready/m);
  expect(await run('cluster', 'delete', 'a')).toMatchObject({ code: 0 });
  expect(readdirSync(join(rookery.home, 'data', 'clusters'))).toEqual([]);
});

it('five at once end well, each with its cluster', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const all = await Promise.all(names.map((name) => run('cluster', 'create', name)));
  expect(all.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    names.map(() => ({ code: 0, stderr: expect.any(String) })),
  );
  const list = await rookery.json<{ metadata: { name: string } }[]>('cluster', 'list');
  expect(list.map((cluster) => cluster.metadata.name)).toEqual(names);
  expect(existsSync(stateFile())).toBe(false);
});

it('a command that uses the control plane of another takes over when that ends, also by kill -9', async () => {
  await run('cluster', 'create', 'a');
  for (const signal of [undefined, 'SIGKILL'] as const) {
    const release = join(rookery.home, `release-${signal}`);
    const host = held(release);
    await until('the first to serve', isServing);
    const guest = rookery.start('journal', 'a', '--follow');
    await until('the second to talk', () => guest.said().includes('Resolved'));
    const { pid } = state();
    expect(pid).toBe(host.child.pid);
    if (signal) host.child.kill(signal);
    writeFileSync(release, '');
    await host.ended;
    await until('the second to serve', () => isServing() && state().pid === guest.child.pid);
    expect((await run('cluster', 'list')).stdout).toMatch(/^a +Ready/m);
    guest.child.kill('SIGINT');
    expect(await guest.ended).toMatchObject({ code: 0 });
    expect(existsSync(stateFile())).toBe(false);
  }
});

it('up waits for a command that hosts, and says so; status and down tell what is there', async () => {
  await run('cluster', 'create', 'a');
  const release = join(rookery.home, 'release');
  const host = held(release);
  await until('it to serve', isServing);
  expect(await run('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('hosted by `rookery') });
  expect(await run('down')).toMatchObject({ code: 0, stdout: expect.stringContaining('hosts until it ends') });
  const up = rookery.start('up', '--detach');
  await until('up to wait', () => up.said().includes('waiting for `rookery'));
  writeFileSync(release, '');
  expect(await host.ended).toMatchObject({ code: 0 });
  expect(await up.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Rookery is up') });
  expect(state().command).toBeUndefined();
  expect((await run('cluster', 'list')).stdout).toMatch(/^a +Ready/m);
});

it('a control plane that is only starting can be seen and stopped', async () => {
  const up = rookery.start('up');
  await until('it to begin', () => existsSync(stateFile()));
  // Whether it is still starting or serving by now: both can be stopped.
  expect(await run('down')).toMatchObject({ code: 0, stdout: expect.stringContaining('stopped') });
  expect(await up.ended).toMatchObject({ code: 0 });
  expect(existsSync(stateFile())).toBe(false);
});

it('a leftover of a killed process keeps nobody out', async () => {
  await run('cluster', 'create', 'a');
  const leftover = { pid: 999_999, pidStartedAt: '1', phase: 'starting', url: '', startedAt: '', version: '' };
  writeFileSync(stateFile(), JSON.stringify(leftover));
  const both = await Promise.all([run('cluster', 'create', 'b'), run('cluster', 'create', 'c')]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
});

it('gc removes tenants that nobody asks for, and only those', async () => {
  await run('cluster', 'create', 'a');
  await run('cluster', 'create', 'orphan');
  // As after a restored backup: the tenant is back, the object that asked for it is not.
  const data = join(rookery.home, 'data', 'clusters');
  const kept = join(rookery.home, 'kept');
  const folders = [data, join(rookery.home, 'provisioners', 'virtual')];
  for (const [i, folder] of folders.entries()) cpSync(folder, join(kept, String(i)), { recursive: true });
  await run('cluster', 'delete', 'orphan');
  for (const [i, folder] of folders.entries()) {
    const orphans = (path: string) => !/\.(db|json|kubeconfig)/.test(path) || path.includes('orphan');
    cpSync(join(kept, String(i)), folder, { recursive: true, filter: (path) => orphans(path) });
  }
  expect((await run('gc')).stdout).toMatch(/^virtual +tenant orphan/m);
  expect(readdirSync(data)).toContain('orphan.db');
  const { stdout } = await run('gc', '--yes');
  expect(stdout).toContain('removed:\n  tenant orphan');
  expect(readdirSync(data).filter((file) => file.startsWith('orphan'))).toEqual([]);
  expect((await run('cluster', 'list')).stdout).toMatch(/^a +Ready/m);
  expect((await run('gc')).stdout).toBe('nothing is left over\n');
});

it('Ctrl-C leaves the request standing and says how to go on', async () => {
  const creating = rookery.start('cluster', 'create', 'far', '-p', 'vcluster', '--host', 'nowhere');
  await until('it to wait', () => isServing());
  await until('the request', () => creating.said() !== '' || existsSync(stateFile()));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  creating.child.kill('SIGINT');
  const { code, stderr } = await creating.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringContaining('rookery cluster delete far') });
  expect((await run('cluster', 'list')).stdout).toMatch(/^far /m);
  expect((await run('why', 'far')).stdout).toContain('Cluster default/nowhere: missing');
  expect(await run('cluster', 'delete', 'far', '--abandon')).toMatchObject({ code: 0 });
});
