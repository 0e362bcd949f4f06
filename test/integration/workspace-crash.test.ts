/**
 * `kill -9` of the control plane at random points of making, moving, suspending, resuming and deleting a class of workspaces: after each restart it goes on where it was, and
 * once all are deleted nothing is left: processes, control groups, mounts, folders, namespaces. `ROOKERY_TEST_SEED` repeats a run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { KubeObject } from '../../src/api/object.ts';
import {
  clusters,
  namespaces,
  virtualClusters,
  workspaceInstances,
  workspaceTemplates,
} from '../../src/api/resources.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { ensureNamespace } from '../../src/controllers/workspace/own-namespace.ts';
import { Home } from '../../src/embedded/home.ts';
import { readState } from '../../src/embedded/state-file.ts';
import { WorkspaceLinks } from '../../src/http/workspace-links.ts';
import {
  ignoreNotFound,
  isAlreadyExists,
  kubeconfigConnection,
  RemoteStore,
  waitFor,
  waitForGone,
} from '../../src/kube/index.ts';

const SEED = Number(process.env.ROOKERY_TEST_SEED ?? 20261116);
const ROUNDS = 6;
const NAMES = Array.from({ length: 24 }, (_, n) => `student-${n}`);
const STEPS = ['keep', 'restore', 'reset'];
const WAIT = { timeoutMs: 180_000 };
/** Nobody else's processes are called so. */
const MARK = `${7_000_000 + (process.pid % 900_000)}`;

const rookery = fileURLToPath(new URL('../../bin/rookery', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rookery-workspace-crash-'));
const home = new Home(folder);
let running: ChildProcess | undefined;
afterAll(() => {
  running?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Small, and good enough to choose by. */
let state = SEED;
function random(below: number): number {
  state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
  return ((state ^ (state >>> 13)) >>> 0) % below;
}
const oneOf = <T>(items: readonly T[]): T => items[random(items.length)] as T;

async function start(): Promise<RemoteStore> {
  const env = { ...process.env, ROOKERY_WEB_PORT: '0', DOCKER_HOST: 'unix:///nonexistent/docker.sock' };
  const args = [rookery, '--home', folder, 'up', '--no-demo', '--port', '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  running = child;
  let problems = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    problems += text;
  });
  for (let waited = 0; ; waited += 20) {
    const state = await readState(home);
    if (state?.pid === child.pid && state?.url) break;
    if (child.exitCode !== null || waited > 120_000) throw new Error(`it does not start: ${problems}`);
    await delay(20);
  }
  return new RemoteStore({
    connection: await kubeconfigConnection(readFileSync(home.kubeconfig, 'utf8'), 'this machine'),
  });
}

async function kill(store: RemoteStore): Promise<void> {
  const ended = new Promise((resolve) => running?.once('exit', resolve));
  running?.kill('SIGKILL');
  await ended;
  await store.close();
}

const key = (name: string) => ({ namespace: `ws-${name}`, name });

async function make(store: RemoteStore, name: string): Promise<void> {
  await ensureNamespace(store, key(name).namespace, name);
  const instance = {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceInstance',
    metadata: key(name),
    spec: { templateRef: { name: 'course' }, owner: name },
  };
  await store.create(workspaceInstances, instance).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

const ACTIONS: Record<string, (store: RemoteStore, name: string) => Promise<unknown>> = {
  make,
  step: (store, name) => change(store, name, { currentStep: oneOf(STEPS) }),
  suspend: (store, name) => change(store, name, { suspend: true }),
  resume: (store, name) => change(store, name, { suspend: null }),
  delete: (store, name) => store.delete(workspaceInstances, key(name)).catch(ignoreNotFound),
  shell: (store, name) => openShell(store, name),
};

async function change(store: RemoteStore, name: string, spec: object): Promise<void> {
  await store.patch(workspaceInstances, key(name), { type: 'merge', body: { spec } }).catch(ignoreNotFound);
}

/** Something that runs in it while the control plane dies. */
async function openShell(store: RemoteStore, name: string): Promise<void> {
  const instance = await store.get(workspaceInstances, key(name)).catch(ignoreNotFound);
  const page = instance?.status?.accessEndpoints?.webTerminal;
  if (!instance || !page || instance.status?.phase !== 'Running') return;
  const links = await WorkspaceLinks.open(home.linkKey, systemClock, systemRandom);
  const uid = instance.metadata.uid as string;
  const cookie = `pass=${links.sign({ ...key(name), uid, role: 'student' }, 600_000)}`;
  const socket = new WebSocket(new URL('terminal', page.replace('http', 'ws')), { headers: { cookie } });
  socket.on('error', () => {});
  socket.on('open', () => socket.send(`trap '' HUP TERM; sleep ${MARK} & sleep ${MARK}\r`));
}

it(`converges and leaves nothing (seed ${SEED})`, { timeout: 1_800_000 }, async () => {
  let store = await start();
  /** Others on this machine have workspaces as well. */
  const ours = new Set<string>();
  const remember = async () => {
    for (const { metadata } of (await store.list(workspaceInstances)).items) ours.add(metadata.uid as string);
  };
  const step = (id: string) => ({
    id,
    title: id,
    imageTag: `example/${id}:1`,
    cluster: id,
    manifests: `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${id}, namespace: default }\n`,
    files: [{ path: `work/${id}`, content: id }],
  });
  await store.create(workspaceTemplates, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'course' },
    spec: { defaults: { cluster: { mode: 'per-workspace', provisioner: 'virtual' } }, steps: STEPS.map(step) },
  });
  for (let round = 0; round < ROUNDS; round++) {
    const names = round === 0 ? NAMES : NAMES.filter(() => random(3) > 0);
    const acts = names.map((name) => ({ name, act: round === 0 ? 'make' : oneOf(Object.keys(ACTIONS)) }));
    const now = store;
    // Requests that the end of the process cuts off are no failures.
    const asked = Promise.allSettled(acts.map(({ name, act }) => ACTIONS[act]?.(now, name)));
    await delay(random(3000));
    await remember();
    await kill(store);
    await asked;
    store = await start();
  }

  // What was not written before the end is asked for again, as a person would.
  await Promise.all(NAMES.map((name) => waitUntilNotDeleting(store, name)));
  await Promise.all(NAMES.map((name) => make(store, name)));
  for (const name of NAMES) await waitFor(store, workspaceInstances, key(name), isWhereItShallBe, WAIT);
  await Promise.all(NAMES.map((name) => openShell(store, name)));
  await expect.poll(() => processesOfShells().length, { timeout: 60_000 }).toBeGreaterThan(0);
  await remember();
  await Promise.all(NAMES.map((name) => store.delete(workspaceInstances, key(name))));
  await delay(random(500));
  await kill(store);
  store = await start();
  for (const name of NAMES) await waitForGone(store, workspaceInstances, key(name), WAIT);
  for (const name of NAMES) await waitForGone(store, namespaces, { name: key(name).namespace }, WAIT);
  for (const resource of [clusters, virtualClusters]) expect((await store.list(resource)).items).toEqual([]);
  for (const each of [home.workspaces('process'), home.workspaces('docker'), home.provisioner('virtual')]) {
    expect(filesIn(each), each).toEqual([]);
  }
  for (const each of ['clusters', 'snapshots']) expect(filesIn(join(home.data, each)), each).toEqual([]);
  expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(folder);
  await expect.poll(processesOfShells, { timeout: 30_000 }).toEqual([]);
  expect(ours.size).toBeGreaterThanOrEqual(NAMES.length);
  expect(controlGroups().filter((id) => ours.has(id))).toEqual([]);
  await kill(store);
});

/** One that is on its way out has to be gone before there can be another of its name. */
async function waitUntilNotDeleting(store: RemoteStore, name: string): Promise<void> {
  const isDecided = (instance: KubeObject | undefined) => !instance?.metadata.deletionTimestamp;
  await waitFor(store, workspaceInstances, key(name), isDecided, WAIT);
  const isFree = (space: KubeObject | undefined) => !space?.metadata.deletionTimestamp;
  await waitFor(store, namespaces, { name: key(name).namespace }, isFree, WAIT);
}

function isWhereItShallBe(instance: KubeObject | undefined): boolean {
  if (!instance || instance.status?.observedGeneration !== instance.metadata.generation) return false;
  const { spec, status } = instance;
  if (spec?.suspend) return status?.phase === 'Suspended';
  return status?.phase === 'Running' && status.currentStep === (spec?.currentStep ?? status.currentStep);
}

function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

function processesOfShells(): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      } catch {
        return '';
      }
    })
    .filter((line) => line === `sleep ${MARK}`);
}

/** Named after instances. */
function controlGroups(): string[] {
  const roots = ['', 'cpu', 'memory', 'pids'].map((each) => join('/sys/fs/cgroup', each, 'rookery-workspaces'));
  const groups = roots.flatMap((root) => filesIn(root).filter((name) => /^[0-9a-f-]{36}$/.test(name)));
  return [...new Set(groups)];
}
