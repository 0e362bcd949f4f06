/**
 * One cluster with simulated nodes, ours beside kwok's: how soon it is there, what it weighs, and how fast nodes become Ready and pods
 * run in it. The same manifests for both: our clusters know kwok's annotations.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from './client.ts';
import { kwok, whyNot } from './servers/kwok.ts';
import { type RookeryRunning, startRookery } from './servers/rookery.ts';
import { type Running, residentMb } from './servers/server.ts';
import { type Row, ratioAtMost } from './table.ts';
import { elapsed, inFlight } from './timing.ts';
import { createVirtualCluster } from './virtual-clusters.ts';

const IN_FLIGHT = 32;
const PATIENCE_MS = 600_000;
const NODES = '/api/v1/nodes';
const PODS = '/api/v1/namespaces/default/pods';

interface Measured {
  readyMs: number;
  mb: number;
  nodesPerSecond: number;
  podsPerSecond: number;
}

export async function measureSimulators(folder: string, nodes: number, pods: number): Promise<Row[]> {
  const ours = await measureOurs(made(folder, 'ours'), nodes, pods);
  const theirs = whyNot() === undefined ? await measureTheirs(made(folder, 'kwok'), nodes, pods) : undefined;
  const many = (count: number) => count.toLocaleString('en-US');
  return [
    {
      what: 'beside kwok: a cluster of 1 + 3 nodes, request → Ready',
      unit: 'ms',
      ours: ours.readyMs,
      theirs: theirs?.readyMs,
      goal: ratioAtMost(0.1),
    },
    {
      what: 'beside kwok: memory with one cluster',
      unit: 'MB',
      ours: ours.mb,
      theirs: theirs?.mb,
      goal: ratioAtMost(0.5),
    },
    {
      what: `beside kwok: ${many(nodes)} nodes until Ready`,
      unit: '/s',
      ours: ours.nodesPerSecond,
      theirs: theirs?.nodesPerSecond,
    },
    {
      what: `beside kwok: ${many(pods)} pods until Running`,
      unit: '/s',
      ours: ours.podsPerSecond,
      theirs: theirs?.podsPerSecond,
    },
  ];
}

function made(folder: string, name: string): string {
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name);
}

/** The control plane runs already, as it does when someone asks for a cluster: a virtual one needs no processes. */
async function measureOurs(folder: string, nodes: number, pods: number): Promise<Measured> {
  const server = await startRookery(folder);
  try {
    const readyMs = await elapsed(() => createVirtualCluster(server.client, 'sim'));
    const inside = await tenant(server, 'sim');
    await follow(inside, NODES, isReady, 4, async () => {});
    const mb = residentMb(server.pids);
    return { readyMs, mb, ...(await measureLoad(inside, nodes, pods)) };
  } finally {
    await server.stop();
  }
}

/** A cluster of kwok is three processes that have to be started. */
async function measureTheirs(folder: string, nodes: number, pods: number): Promise<Measured> {
  let server: Running | undefined;
  try {
    const readyMs = await elapsed(async () => {
      server = await kwok.start(folder);
      const { client } = server;
      await follow(client, NODES, isReady, 4, async () => {
        for (let n = 0; n < 4; n++) await client.call('POST', NODES, node(`first-${n}`));
      });
    });
    const { client, pids } = server as unknown as Running;
    const mb = residentMb(pids);
    // No controllers run beside kwok that would make it.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await client.call('POST', '/api/v1/namespaces/default/serviceaccounts', account);
    return { readyMs, mb, ...(await measureLoad(client, nodes, pods)) };
  } finally {
    await server?.stop();
  }
}

async function measureLoad(client: Pick<Client, 'call' | 'follow'>, nodes: number, pods: number) {
  const nodesMs = await elapsed(() =>
    follow(
      client,
      NODES,
      (object) => object.metadata.name.startsWith('load-') && isReady(object),
      nodes,
      () =>
        inFlight(
          IN_FLIGHT,
          (n) => n >= nodes,
          (n) => client.call('POST', NODES, node(`load-${n}`)),
        ),
    ),
  );
  const podsMs = await elapsed(() =>
    follow(
      client,
      PODS,
      ({ status }) => status?.phase === 'Running',
      pods,
      () =>
        inFlight(
          IN_FLIGHT,
          (n) => n >= pods,
          (n) => client.call('POST', PODS, pod(`pod-${n}`, `load-${n % nodes}`)),
        ),
    ),
  );
  return { nodesPerSecond: nodes / (nodesMs / 1000), podsPerSecond: pods / (podsMs / 1000) };
}

interface Seen {
  metadata: { name: string };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

const isReady = ({ status }: Seen) =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;

/** Does the work, and waits until so many objects have been seen as they should be. */
async function follow(
  client: Pick<Client, 'follow'>,
  path: string,
  is: (object: Seen) => boolean,
  count: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const seen = new Set<string>();
  let done = () => {};
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const followed = await client.follow(`${path}?watch=1`, (text) => {
    const { object } = JSON.parse(text) as { object: Seen };
    if (is(object)) seen.add(object.metadata.name);
    if (seen.size >= count) done();
  });
  const timer = setTimeout(done, PATIENCE_MS);
  try {
    await work();
    await all;
    if (seen.size < count) throw new Error(`${seen.size} of ${count} at ${path}`);
  } finally {
    clearTimeout(timer);
    followed.end();
  }
}

/** The client of a cluster inside ours: the same connections, another path and another token. */
async function tenant({ client, ask }: RookeryRunning, name: string): Promise<Pick<Client, 'call' | 'follow'>> {
  const authorization = `Bearer ${await ask<string>('token', name)}`;
  const prefix = `/clusters/${name}`;
  return {
    call: (method, path, body, headers) => client.call(method, prefix + path, body, { ...headers, authorization }),
    follow: (path, line) => client.follow(prefix + path, line, { authorization }),
  };
}

function node(name: string) {
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', type: 'kwok' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations: { 'kwok.x-k8s.io/node': 'fake', 'node.alpha.kubernetes.io/ttl': '0' } },
  };
}

function pod(name: string, nodeName: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName, containers: [{ name: 'c', image: 'fake' }] },
  };
}
