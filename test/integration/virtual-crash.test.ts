// `kill -9` of Rookery while it makes virtual clusters and while it removes them, then a restart: it converges, and nothing is left.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { clusters, secrets } from '../../src/api/resources.ts';
import { Home } from '../../src/embedded/home.ts';
import { readState } from '../../src/embedded/state-file.ts';
import {
  getCondition,
  ignoreNotFound,
  isNotFound,
  kubeconfigConnection,
  RemoteStore,
  waitFor,
} from '../../src/kube/index.ts';
import { clusterWays } from '../../src/provisioners/registry.ts';
import { requestCluster } from '../../src/provisioners/request-cluster.ts';

const nodes = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const ROUNDS = 20;
const NAMES = ['one', 'two', 'three'];
const WISH = { nodes: 4, controlPlanes: 1 };
const WAIT = { timeoutMs: 60_000 };

const rookery = fileURLToPath(new URL('../../bin/rookery', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'rookery-virtual-crash-'));
const virtual = clusterWays.find(({ name }) => name === 'virtual');
let running: ChildProcess | undefined;
afterAll(() => {
  running?.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

async function start(): Promise<RemoteStore> {
  const child = spawn(process.execPath, [rookery, '--home', home, 'up', '--no-demo', '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running = child;
  let problems = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    problems += text;
  });
  for (let waited = 0; ; waited += 20) {
    const state = await readState(new Home(home));
    if (state?.pid === child.pid && state?.url) break;
    if (child.exitCode !== null || waited > 60_000) throw new Error(`it does not start: ${problems}`);
    await delay(20);
  }
  return await connect(readFileSync(join(home, 'kubeconfig'), 'utf8'));
}

async function connect(data: string): Promise<RemoteStore> {
  return new RemoteStore({ connection: await kubeconfigConnection(data, 'this machine') });
}

async function kill(store: RemoteStore): Promise<void> {
  const ended = new Promise((resolve) => running?.once('exit', resolve));
  running?.kill('SIGKILL');
  await ended;
  await store.close();
}

it('converges after being killed at any point of making and removing', { timeout: 900_000 }, async () => {
  if (!virtual) throw new Error('virtual clusters are not in the table');
  let store = await start();
  for (let round = 0; round < ROUNDS; round++) {
    // Requests that the end of the process cuts off are no failures.
    const making = Promise.allSettled(
      NAMES.map((name) => requestCluster(store, virtual, { namespace: 'default', name }, WISH)),
    );
    await delay((round * 37) % 160);
    await kill(store);
    await making;

    store = await start();
    // What was not written before the end is asked for again, as a person would.
    for (const name of NAMES) {
      await requestCluster(store, virtual, { namespace: 'default', name }, WISH).catch((error) => {
        if (error.code !== 409) throw error;
      });
      await completed(store, name);
    }

    const removing = Promise.allSettled(NAMES.map((name) => store.delete(clusters, { namespace: 'default', name })));
    await delay((round * 53) % 120);
    await kill(store);
    await removing;

    store = await start();
    for (const name of NAMES) await removed(store, name);
    expect(readdirSync(join(home, 'data', 'clusters')), `round ${round}`).toEqual([]);
    expect(readdirSync(join(home, 'provisioners', 'virtual')), `round ${round}`).toEqual([]);
  }
  await kill(store);
});

/** A Cluster may have been written without the VirtualCluster it refers to. */
async function completed(store: RemoteStore, name: string): Promise<void> {
  const key = { namespace: 'default', name };
  const spec = { controlPlanes: 1, nodes: 3 };
  const { resource } = virtual as NonNullable<typeof virtual>;
  const provider = { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, metadata: key, spec };
  await store.create(resource, provider).catch((error) => {
    if (error.code !== 409) throw error;
  });
  const isAvailable = (cluster: Parameters<typeof getCondition>[0]) =>
    getCondition(cluster, 'Available')?.status === 'True';
  await waitFor(store, clusters, key, (cluster) => !!cluster && isAvailable(cluster), {
    ...WAIT,
    what: `${name} to be there`,
  });
  const secret = await store.get(secrets, { namespace: 'default', name: `${name}-kubeconfig` });
  const tenant = await connect(Buffer.from(secret.data?.value, 'base64').toString());
  expect((await tenant.list(nodes)).items).toHaveLength(4);
  await tenant.close();
}

async function removed(store: RemoteStore, name: string): Promise<void> {
  const key = { namespace: 'default', name };
  await store.delete(clusters, key).catch(ignoreNotFound);
  for (const [resource, what] of [
    [clusters, name],
    [(virtual as NonNullable<typeof virtual>).resource, name],
    [secrets, `${name}-kubeconfig`],
  ] as const) {
    const isGone = async () =>
      await store.get(resource, { namespace: 'default', name: what }).then(
        () => false,
        (error) => isNotFound(error),
      );
    const end = Date.now() + WAIT.timeoutMs;
    while (!(await isGone())) {
      if (Date.now() > end) throw new Error(`${resource.kind} ${what} is still there`);
      await delay(20);
    }
  }
}
