/** Many clusters in one process: how fast they come, what they weigh awake and asleep, how fast they go. */
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import { Client } from './client.ts';
import { fallAsleep, type LoopDelay, type RookeryRunning, startRookery } from './servers/rookery.ts';
import { residentMb } from './servers/server.ts';
import { atMost, type Row } from './table.ts';
import { elapsed, quantile } from './timing.ts';

const SETTLE_MS = 3000;

interface Kubeconfig {
  clusters: [{ cluster: { server: string } }];
  users: [{ user: { token: string } }];
}

export async function measureTenants(folder: string, count: number): Promise<Row[]> {
  const many = count.toLocaleString('en-US');
  const server = await startRookery(folder);
  let empty: number;
  let rows: Row[];
  try {
    await delay(SETTLE_MS);
    empty = residentMb(server.pids);
    // The first one loads what all others share.
    await makeTenant(server, 'first');
    const before = residentMb(server.pids);
    const perTenantKb = () => ((residentMb(server.pids) - before) / count) * 1024;
    const ready: number[] = [];
    await server.ask('watchLoop');
    const total = await elapsed(async () => {
      for (let n = 0; n < count; n++) ready.push(await elapsed(() => makeTenant(server, `tenant-${n}`)));
    });
    await delay(SETTLE_MS);
    const awakeKb = perTenantKb();
    await fallAsleep(server);
    const asleepKb = perTenantKb();
    const woken: number[] = [];
    for (let n = 0; n < 50; n++) woken.push(await elapsed(() => makeTenant(server, `tenant-${n}`)));
    const loop = await server.ask<LoopDelay>('readLoop');
    rows = [
      { what: `${many} tenants, created one after another`, unit: 's', ours: total / 1000, goal: atMost(count / 50) },
      { what: 'tenant ready, p50', unit: 'ms', ours: quantile(ready, 0.5), goal: atMost(25) },
      { what: 'tenant ready, p99', unit: 'ms', ours: quantile(ready, 0.99) },
      { what: 'memory of a tenant, awake', unit: 'kB', ours: awakeKb, goal: atMost(1024) },
      { what: 'memory of a tenant, fallen asleep', unit: 'kB', ours: asleepKb },
      { what: 'tenant woken up, p50', unit: 'ms', ours: quantile(woken, 0.5) },
      { what: 'event loop blocked, by tenants', unit: 'ms', ours: loop.blocked, goal: atMost(50) },
      { what: '… by computing alone', unit: 'ms', ours: loop.computing },
    ];
  } finally {
    await server.stop();
  }
  return [...rows, ...(await measureSleepers(folder, count, empty))];
}

/** A server that starts with all of them asleep, and the end of them all. */
async function measureSleepers(folder: string, count: number, emptyMb: number): Promise<Row[]> {
  const server = await startRookery(folder);
  try {
    await delay(SETTLE_MS);
    const sleeperKb = ((residentMb(server.pids) - emptyMb) / count) * 1024;
    const gone = await elapsed(async () => {
      for (let n = 0; n < count; n++) await server.ask('drop', `tenant-${n}`);
    });
    return [
      { what: 'memory of a tenant, never woken', unit: 'kB', ours: Math.max(0, sleeperKb) },
      { what: `${count.toLocaleString('en-US')} tenants, deleted`, unit: 's', ours: gone / 1000 },
    ];
  } finally {
    await server.stop();
  }
}

/** From nothing to an answer under its own kubeconfig. */
async function makeTenant({ ask }: RookeryRunning, name: string): Promise<void> {
  const kubeconfig = parse(await ask<string>('kubeconfig', name)) as Kubeconfig;
  const { server } = kubeconfig.clusters[0].cluster;
  const { origin, pathname } = new URL(server);
  const client = new Client(origin, kubeconfig.users[0].user.token);
  const list = JSON.parse(String(await client.call('GET', `${pathname}/api/v1/namespaces`))) as { items: unknown[] };
  if (list.items.length < 4) throw new Error(`${name} has ${list.items.length} namespaces`);
  await client.close();
}
