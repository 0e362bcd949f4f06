// Cluster commands with a control plane that runs: what people type, what they read, what programs get.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kubectl } from '../harness/kubectl.ts';
import { Rookery, until } from '../harness/rookery.ts';

// No tools here, whatever the machine has: what needs them must say so.
const rookery = new Rookery({ PATH: '/usr/bin:/bin', DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
const run = (...args: string[]) => rookery.run(...args);
beforeAll(async () => {
  expect(await run('up', '--detach', '--no-demo')).toMatchObject({ code: 0 });
});
afterAll(() => rookery.close());

it('creates a cluster and says plainly that it is simulated', async () => {
  const { code, stdout } = await run('cluster', 'create', 'demo', '--nodes', '3');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^cluster demo is ready: simulated \(.*\), Kubernetes v1\.\d+\.\d+$/m);
  expect(stdout).not.toContain('only while a control plane runs');
  const { stdout: list } = await run('cluster', 'list');
  expect(list).toMatch(/^demo +Ready +virtual +simulated +v1\.\d+\.\d+ +3\/3 +\d+s$/m);
  expect((await run('cluster', 'get', 'demo')).stdout).toMatch(/^Fidelity: +simulated$/m);
});

it('gives programs nothing but JSON', async () => {
  const { stdout, stderr } = await run('cluster', 'create', 'quiet', '-o', 'json');
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'quiet', provisioner: 'virtual', fidelity: 'simulated' });
  expect(await run('cluster', 'delete', 'quiet', '-o', 'json')).toMatchObject({ code: 0, stderr: '' });
});

it('runs a command inside a cluster and passes its exit code on', async () => {
  const script = 'echo "$ROOKERY_CLUSTER $KUBECONFIG"; exit 7';
  const { code, stdout } = await run('cluster', 'exec', 'demo', '--', 'sh', '-c', script);
  expect(code).toBe(7);
  expect(stdout).toBe(`demo ${join(rookery.home, 'clusters', 'demo.kubeconfig')}\n`);
  expect(await run('cluster', 'exec', 'demo', '--', '/no/such/program')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/no/such/program cannot be run'),
  });
  expect(await run('cluster', 'exec', 'none', '--', 'true')).toMatchObject({ code: 2 });
  // Ended by a signal, as a shell would say it.
  expect(await run('cluster', 'exec', 'demo', '--', 'sh', '-c', 'kill -TERM $$')).toMatchObject({ code: 143 });
});

it('runs the shell of the user when nothing is said, with a hint', async () => {
  const shell = join(rookery.home, 'shell');
  writeFileSync(shell, '#!/bin/sh\necho "shell for $ROOKERY_CLUSTER"\n', { mode: 0o755 });
  const own = rookery.env.SHELL;
  rookery.env.SHELL = shell;
  const { code, stdout, stderr } = await run('cluster', 'exec', 'demo');
  rookery.env.SHELL = own;
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'shell for demo\n' });
  expect(stderr).toContain('kubectl talks to cluster demo here');
});

it('scales in place', async () => {
  expect(await run('cluster', 'scale', 'demo', '--nodes', '5')).toMatchObject({
    code: 0,
    stdout: 'cluster demo has 5 nodes\n',
  });
  expect(await run('cluster', 'scale', 'demo')).toMatchObject({ code: 2, stderr: expect.stringContaining('--nodes') });
  expect(await run('cluster', 'scale', 'demo', '--nodes', 'many')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"many" is not a number above 0'),
  });
});

it('says of each way what changes in place, and why the nodes of a vcluster cannot', async () => {
  const ways = await rookery.json<{ name: string; inPlace: string[] }[]>('provisioners');
  expect(Object.fromEntries(ways.map(({ name, inPlace }) => [name, inPlace]))).toEqual({
    virtual: ['scale', 'upgrade'],
    kind: [],
    k3d: ['scale'],
    k3s: ['upgrade'],
    vcluster: ['upgrade'],
  });
  expect(await run('cluster', 'create', 'nested', '--host', 'demo', '-p', 'vcluster', '--no-wait')).toMatchObject({
    code: 0,
  });
  expect(await run('cluster', 'scale', 'nested', '--nodes', '3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nested cannot be scaled: its nodes are those of its host cluster'),
  });
  expect(await run('cluster', 'delete', 'nested')).toMatchObject({ code: 0 });
});

it('suspends and resumes with everything kept', async () => {
  const demo = kubectl(join(rookery.home, 'clusters', 'demo.kubeconfig'), join(rookery.home, 'kubectl'));
  expect(await demo('create configmap kept')).toMatchObject({ code: 0 });
  expect(await run('cluster', 'suspend', 'demo')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('suspended'),
  });
  expect((await run('cluster', 'list')).stdout).toMatch(/^demo +Suspended/m);
  expect((await demo('get configmap kept')).code).not.toBe(0);
  expect(await run('why', 'demo')).toMatchObject({ code: 1, stdout: expect.stringContaining('Suspended') });
  expect(await run('cluster', 'resume', 'demo')).toMatchObject({ code: 0, stdout: 'cluster demo is running\n' });
  expect(await demo('get configmap kept -o name')).toMatchObject({ code: 0, out: 'configmap/kept\n' });
});

it('refuses upgrades that Kubernetes does not have', async () => {
  for (const version of ['1.30', '1.99']) {
    expect(await run('cluster', 'upgrade', 'demo', '--kubernetes-version', version)).toMatchObject({ code: 2 });
  }
  const { stdout } = await run('cluster', 'upgrade', 'demo', '--kubernetes-version', '1.35', '--dry-run');
  expect(stdout).toMatch(/would upgrade demo in place from v1\.35\.\d+ to 1\.35/);
});

it('an upgrade changes the version and nothing else, also of a cluster that lives in another', async () => {
  const asked = await run('cluster', 'create', 'inner', '-p', 'vcluster', '--host', 'demo', '--no-wait');
  expect(asked, asked.stderr).toMatchObject({ code: 0 });
  const upgraded = await run('cluster', 'upgrade', 'inner', '--kubernetes-version', '1.35', '--no-wait');
  expect(upgraded, upgraded.stderr).toMatchObject({ code: 0 });
  const root = kubectl(join(rookery.home, 'kubeconfig'), join(rookery.home, 'root'));
  const { out } = await root('get vcluster inner -o jsonpath={.spec}');
  expect(JSON.parse(out)).toMatchObject({ host: { cluster: 'demo' }, clusterName: 'inner', kubernetesVersion: '1.35' });
  expect(await run('cluster', 'delete', 'inner')).toMatchObject({ code: 0 });
});

it('never makes a simulated cluster for someone who asked for a real one', async () => {
  const { code, stderr } = await run('cluster', 'create', 'real', '-p', 'auto');
  expect(code).toBe(1);
  expect(stderr).toContain('nothing here can make a real cluster');
  expect(stderr).toMatch(/kind: .*kind/);
  expect(stderr).toContain('rookery doctor');
  expect((await run('cluster', 'list')).stdout).not.toContain('real');
});

it('explains wrong names, values and combinations', async () => {
  const wrong: [string[], string][] = [
    [['cluster', 'create', 'x', '-p', 'swarm'], 'there is no provisioner "swarm"'],
    [['cluster', 'create', 'x', '--nodes', '0'], 'is not a number above 0'],
    [['cluster', 'create', 'x', '--nodes', '1', '--control-planes', '3'], 'too many'],
    [['cluster', 'create', 'x', '--timeout', 'soon'], 'is not a number of seconds'],
    [['cluster', 'create', 'x', '--image', 'some/image'], '--image does not go with virtual clusters'],
    [['cluster', 'create', 'x', '--host', 'there'], '--host does not go with virtual clusters'],
    [['cluster', 'create', 'Not_A_Name'], 'metadata.name'],
    [['cluster', 'create', 'demo'], 'already a cluster "demo"'],
    [['cluster', 'kubeconfig', 'none'], 'no cluster "none"'],
    [['cluster', 'suspend', 'none'], 'no cluster "none"'],
    [['cluster', 'promote', 'demo', '--to', 'nowhere'], 'neither a cluster nor a provisioner'],
    [['cluster', 'promote', 'demo', '--to', 'demo'], 'to itself'],
    [['why', 'none'], 'no cluster "none"'],
    [['why', 'spaceship/x'], 'no kind "spaceship"'],
    [['journal', 'none'], 'no cluster "none"'],
    [['tools', 'install', 'hammer'], 'no tool "hammer"'],
    [['doctor', '-p', 'swarm'], 'no provisioner "swarm"'],
  ];
  for (const [args, text] of wrong) {
    const { code, stderr } = await run(...args);
    expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringContaining(text) });
  }
  expect((await run('cluster', 'list')).stdout).not.toMatch(/^x /m);
});

it('ends at once when only a person can help, and says how', async () => {
  const { code, stderr } = await run('cluster', 'create', 'old', '--kubernetes-version', '1.20');
  expect(code).toBe(2);
  expect(stderr).toContain('not 1.20');
  expect(stderr).toContain('rookery cluster delete old');
  const why = await rookery.json<{ isWell: boolean; rootCause: { reason: string; next: string } }>('why', 'old');
  expect(why).toMatchObject({ isWell: false, rootCause: { reason: 'VersionUnavailable' } });
  expect(await run('cluster', 'delete', 'old')).toMatchObject({ code: 0 });
});

it('walks from a cluster to the tool that is missing', async () => {
  expect(await run('cluster', 'create', 'tooless', '-p', 'kind', '--no-wait')).toMatchObject({ code: 0 });
  const why = () => rookery.json<{ chain: { subject: string; state: string; next?: string }[] }>('why', 'tooless');
  let chain = (await why()).chain;
  for (let i = 0; i < 50 && chain.length < 3; i++) chain = (await why()).chain;
  expect(chain.map((link) => link.subject)).toEqual([
    'Cluster default/tooless',
    'KINDCluster default/tooless',
    'tool kind',
  ]);
  expect(chain.at(-1)).toMatchObject({ state: 'blocked', next: expect.stringContaining('rookery tools install kind') });
  const { stdout } = await run('why', 'tooless');
  expect(stdout).toContain('next: rookery tools install kind');
  expect(await run('why', 'kindcluster/tooless')).toMatchObject({ code: 1 });
  expect((await run('journal', 'tooless')).stdout).toMatch(/^\d{4}-\d\d-\d\dT.*kind is neither on PATH/m);
  expect(await run('cluster', 'delete', 'tooless', '--abandon')).toMatchObject({ code: 0 });
});

it('tells what happened, and goes on telling until the cluster is gone', async () => {
  expect((await run('journal', 'demo')).stdout).toMatch(/^\d{4}-.*Resolved +Kubernetes v1/m);
  await run('cluster', 'create', 'watched');
  const following = rookery.start('journal', 'watched', '--follow');
  await until('the journal to begin', () => following.said().includes('Resolved'));
  expect(await run('cluster', 'delete', 'watched')).toMatchObject({ code: 0 });
  expect(await following.ended).toMatchObject({ code: 0 });
});

it('finds what nobody needs any more, and removes it only when told to and when that is sure', async () => {
  const file = join(rookery.home, 'clusters', 'gone.kubeconfig');
  const folder = join(rookery.home, 'provisioners', 'kind', '00000000-0000-4000-8000-000000000000');
  writeFileSync(file, '');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(rookery.home, 'data', 'clusters', 'orphan.db'), '');
  const { stdout } = await run('gc');
  for (const text of [file, folder, 'tenant orphan', 'nothing was removed']) expect(stdout).toContain(text);
  expect(existsSync(file)).toBe(true);
  const { code, stdout: told } = await run('gc', '--yes');
  expect({ code, told }).toEqual({ code: 1, told: expect.stringMatching(/could not be looked at.*\n +kind: /) });
  // Without Docker nobody knows whether a cluster is left that this folder belongs to: it stays.
  expect([existsSync(file), existsSync(folder)]).toEqual([false, true]);
  // The running control plane may have that one open.
  expect(existsSync(join(rookery.home, 'data', 'clusters', 'orphan.db'))).toBe(true);
  expect(readFileSync(join(rookery.home, 'clusters', 'demo.kubeconfig'), 'utf8')).toContain('clusters/demo');
});
