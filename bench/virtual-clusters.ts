/**
 * Many virtual clusters the way users make them: a `Cluster` and a `VirtualCluster` over HTTPS, 1 + 3 nodes each, until every
 * Cluster says that it is Available. What they cost while nobody uses them, and how fast they all go.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.ts';
import { fallAsleep, type LoopDelay, type RookeryRunning, startRookery } from './servers/rookery.ts';
import { residentMb } from './servers/server.ts';
import { atMost, type Row } from './table.ts';
import { elapsed, inFlight } from './timing.ts';

const CLUSTERS = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters';
const VIRTUAL = '/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/default/virtualclusters';
const SETTLE_MS = 3000;
const IDLE_MS = 20_000;
const PATIENCE_MS = 600_000;
const IN_FLIGHT = 32;

export async function measureVirtualClusters(folder: string, count: number): Promise<Row[]> {
  const many = count.toLocaleString('en-US');
  const server = await startRookery(folder);
  try {
    // The first one loads what all others share.
    await createVirtualCluster(server.client, 'first');
    await delay(SETTLE_MS);
    const before = residentMb(server.pids);
    const perClusterMb = () => (residentMb(server.pids) - before) / count;
    const names = Array.from({ length: count }, (_, n) => `vc-${n}`);
    await server.ask('watchLoop');
    const created = await spent(server, () => available(server.client, names, (name) => create(server.client, name)));
    const loop = await server.ask<LoopDelay>('readLoop');
    await checkNodes(server, names[count - 1] as string);
    await delay(SETTLE_MS);
    const awakeMb = perClusterMb();
    const awakeCpu = await idleCpu(server);
    await fallAsleep(server);
    const asleepMb = perClusterMb();
    const asleepCpu = await idleCpu(server);
    const deleted = await spent(server, () => gone(server.client, names));
    const files = readdirSync(join(folder, 'data', 'clusters')).filter((file) => file.startsWith('vc-'));
    if (files.length > 0) throw new Error(`${files.length} files are left of deleted clusters`);
    return [
      { what: `${many} virtual clusters of 1 + 3 nodes, created`, unit: 's', ours: created.wall, goal: atMost(60) },
      { what: '… processor time of the server', unit: 's', ours: created.cpu },
      { what: 'memory of a virtual cluster', unit: 'MB', ours: awakeMb, goal: atMost(2) },
      { what: '… once asleep', unit: 'MB', ours: asleepMb },
      { what: `idle, ${many} awake`, unit: '% of a core', ours: awakeCpu, goal: atMost(5) },
      { what: `idle, ${many} asleep`, unit: '% of a core', ours: asleepCpu, goal: atMost(5) },
      { what: `${many} virtual clusters, deleted`, unit: 's', ours: deleted.wall, goal: atMost(10) },
      { what: '… processor time of the server', unit: 's', ours: deleted.cpu },
      { what: 'event loop blocked, by creating them', unit: 'ms', ours: loop.blocked, goal: atMost(100) },
      { what: '… by computing alone', unit: 'ms', ours: loop.computing },
    ];
  } finally {
    await server.stop();
  }
}

/** One, and the wait for it. */
export function createVirtualCluster(client: Client, name: string): Promise<void> {
  return available(client, [name], () => create(client, name));
}

async function create(client: Client, name: string): Promise<void> {
  const reference = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'VirtualCluster', name };
  await client.call('POST', CLUSTERS, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name },
    spec: { infrastructureRef: reference, controlPlaneRef: reference },
  });
  await client.call('POST', VIRTUAL, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'VirtualCluster',
    metadata: { name },
    spec: { controlPlanes: 1, nodes: 3 },
  });
}

interface WatchLine {
  type: string;
  object: { metadata: { name: string }; status?: { conditions?: { type: string; status: string }[] } };
}

/** Until all of them say that they are Available. */
function available(client: Client, names: string[], make: (name: string) => Promise<void>): Promise<void> {
  const isAvailable = ({ object }: WatchLine) =>
    object.status?.conditions?.some((c) => c.type === 'Available' && c.status === 'True') ?? false;
  return until(client, names, isAvailable, make);
}

function gone(client: Client, names: string[]): Promise<void> {
  const remove = async (name: string) => void (await client.call('DELETE', `${CLUSTERS}/${name}`));
  return until(client, names, ({ type }) => type === 'DELETED', remove);
}

async function until(
  client: Client,
  names: string[],
  isDone: (line: WatchLine) => boolean,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const waiting = new Set(names);
  let done = () => {};
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const { resourceVersion } = JSON.parse(String(await client.call('GET', `${CLUSTERS}?limit=1`))).metadata;
  const followed = await client.follow(`${CLUSTERS}?watch=1&resourceVersion=${resourceVersion}`, (text) => {
    const line = JSON.parse(text) as WatchLine;
    if (isDone(line)) waiting.delete(line.object.metadata.name);
    if (waiting.size === 0) done();
  });
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    await inFlight(
      IN_FLIGHT,
      (n) => n >= names.length,
      (n) => work(names[n] as string),
    );
    await Promise.race([
      all,
      new Promise((_, reject) => {
        patience.addEventListener('abort', () => reject(new Error(`${waiting.size} clusters are still awaited`)));
      }),
    ]);
  } finally {
    followed.end();
  }
}

/** What was counted must be there: four nodes, one of them a control plane. */
async function checkNodes({ client, ask }: RookeryRunning, name: string): Promise<void> {
  const token = await ask<string>('token', name);
  const headers = { authorization: `Bearer ${token}` };
  const text = await client.call('GET', `/clusters/${name}/api/v1/nodes`, undefined, headers);
  const { items } = JSON.parse(String(text)) as { items: { metadata: { labels: Record<string, string> } }[] };
  const planes = items.filter(({ metadata }) => 'node-role.kubernetes.io/control-plane' in metadata.labels);
  if (items.length !== 4 || planes.length !== 1)
    throw new Error(`${name} has ${planes.length} + ${items.length - planes.length} nodes`);
}

/** Share of one core that the server takes while nobody asks it anything. */
async function idleCpu(server: RookeryRunning): Promise<number> {
  const { wall, cpu } = await spent(server, () => delay(IDLE_MS));
  return (cpu / wall) * 100;
}

/** Seconds by the clock, and of the server's own processor time: the second says more on a busy machine. */
async function spent({ pids }: RookeryRunning, work: () => unknown): Promise<{ wall: number; cpu: number }> {
  const start = cpuSeconds(pids);
  const ms = await elapsed(work);
  return { wall: ms / 1000, cpu: cpuSeconds(pids) - start };
}

/** User and system time of all threads; Linux counts in hundredths of a second. */
export function cpuSeconds(pids: number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}
