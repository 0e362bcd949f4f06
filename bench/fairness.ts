/**
 * What one tenant notices of another: a quiet client reads, lists and writes one request after the other, while a process
 * floods another tenant of the same server as its administrator.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { Client } from './client.ts';
import { configMap } from './config-maps.ts';
import { type LoopDelay, type RookeryRunning, startRookery } from './servers/rookery.ts';
import { atMost, type Row } from './table.ts';
import { elapsed, inFlight, quantile } from './timing.ts';

const NOISY = fileURLToPath(new URL('./noisy.child.mjs', import.meta.url));
const MAPS = '/api/v1/namespaces/default/configmaps';
const FLOODS = ['lists', 'writes', 'gets', 'mixed', 'strangers'];
const CONNECTIONS = 8;
const CONCURRENCY = 400;
const WARM_MS = 1000;
/** Objects in the list that the noisy client asks for. */
const LISTED = 1000;

interface Tenant {
  origin: string;
  path: string;
  token: string;
  client: Client;
}

export async function measureFairness(folder: string, ms: number): Promise<Row[]> {
  const server = await startRookery(folder);
  try {
    const [noisy, quiet] = [await tenantOf(server, 'noisy'), await tenantOf(server, 'quiet')];
    await inFlight(
      16,
      (n) => n >= LISTED,
      (n) => noisy.client.call('POST', noisy.path + MAPS, configMap(`noise-${n}`)),
    );
    const alone = await samples(quiet, ms, 'alone');
    const rows: Row[] = [{ what: 'a quiet tenant, alone, p99', unit: 'ms', ours: quantile(alone, 0.99) }];
    for (const flood of FLOODS) rows.push(...(await underFlood(server, noisy, quiet, flood, ms)));
    await Promise.all([noisy.client.close(), quiet.client.close()]);
    return rows;
  } finally {
    await server.stop();
  }
}

async function underFlood(
  server: RookeryRunning,
  noisy: Tenant,
  quiet: Tenant,
  flood: string,
  ms: number,
): Promise<Row[]> {
  const child = fork(NOISY, [noisy.origin, noisy.path, noisy.token, flood, `${CONNECTIONS}`, `${CONCURRENCY}`]);
  try {
    await once(child, 'message');
    await delay(WARM_MS);
    await server.ask('watchLoop');
    const taken = await samples(quiet, ms, flood);
    const loop = await server.ask<LoopDelay>('readLoop');
    const answered = await endOf(child);
    console.error(`${flood}: ${taken.length} quiet requests, the noisy tenant got`, answered);
    const beside = `a quiet tenant beside ${CONCURRENCY} ${flood} at a time`;
    return [
      { what: `${beside}, p50`, unit: 'ms', ours: quantile(taken, 0.5) },
      { what: `${beside}, p99`, unit: 'ms', ours: quantile(taken, 0.99), goal: atMost(100) },
      { what: '… longest turn of the event loop, computing', unit: 'ms', ours: loop.computing },
    ];
  } finally {
    child.kill('SIGKILL');
  }
}

async function endOf(child: ChildProcess): Promise<unknown> {
  const said = once(child, 'message');
  child.send('end');
  const [{ answered }] = await said;
  return answered;
}

/** Milliseconds of each request: create, get, list, delete, one after the other. */
async function samples({ client, path }: Tenant, ms: number, name: string): Promise<number[]> {
  const taken: number[] = [];
  const start = performance.now();
  const measure = async (work: () => Promise<unknown>) => taken.push(await elapsed(work));
  for (let n = 0; performance.now() - start < ms; n++) {
    const one = `${name}-${n}`;
    await measure(() => client.call('POST', path + MAPS, configMap(one)));
    await measure(() => client.call('GET', `${path}${MAPS}/${one}`));
    await measure(() => client.call('GET', path + MAPS));
    await measure(() => client.call('DELETE', `${path}${MAPS}/${one}`));
  }
  return taken;
}

async function tenantOf({ ask }: RookeryRunning, name: string): Promise<Tenant> {
  const kubeconfig = parse(await ask<string>('kubeconfig', name));
  const { origin, pathname } = new URL(kubeconfig.clusters[0].cluster.server);
  const { token } = kubeconfig.users[0].user;
  return { origin, path: pathname, token, client: new Client(origin, token) };
}
