// Nodes of a VirtualCluster, from the object in the root cluster to the tenant, through sleep and restart.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { virtualClusters } from '../../src/api/resources.ts';
import type { Cluster } from '../../src/apiserver/index.ts';
import { LOOPBACK, ROOT } from '../../src/apiserver/index.ts';
import { loadConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { type ClusterWay, clusterWays } from '../../src/provisioners/registry.ts';
import { clusterManifests } from '../../src/provisioners/request-cluster.ts';

const virtual = clusterWays.find((way) => way.name === 'virtual') as ClusterWay;
const home = mkdtempSync(join(tmpdir(), 'rookery-nodes-'));
let plane: ControlPlane;
const start = () => ControlPlane.start({ config: loadConfig({}, { home, port: 0 }) });

beforeAll(async () => {
  plane = await start();
});
afterAll(async () => {
  await plane.close();
  rmSync(home, { recursive: true, force: true });
});

async function until<T>(read: () => Promise<T> | T, is: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const value = await read();
    if (is(value)) return value;
    if (Date.now() > end) throw new Error(`never came true: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function tenant(): Promise<Cluster | undefined> {
  return plane.clusters.has('pond') ? plane.clusters.get('pond') : undefined;
}

async function nodes(): Promise<string[]> {
  const cluster = await tenant();
  const resource = cluster?.registry.find('', 'v1', 'nodes');
  if (!cluster || !resource) return [];
  const ready = ({ spec, status }: KubeObject) => !spec?.taints && status?.conditions?.length > 0;
  return cluster.operations
    .listAll(resource)
    .filter(ready)
    .map(({ metadata }) => metadata.name as string);
}

it('has as many as the spec says, also when it says something else later', async () => {
  const { provider: infra } = clusterManifests(virtual, { namespace: 'default', name: 'pond' });
  infra.spec = { nodes: 3 };
  await plane.store.create(virtualClusters, infra);
  await until(nodes, (names) => names.length === 3);
  expect(await nodes()).toEqual(['pond-node-0', 'pond-node-1', 'pond-node-2']);
  await plane.store.patch(
    virtualClusters,
    { namespace: 'default', name: 'pond' },
    { type: 'merge', body: { spec: { nodes: 1 } } },
  );
  await until(nodes, (names) => names.length === 1);
});

it('refuses more than it can carry', async () => {
  const { provider: infra } = clusterManifests(virtual, { namespace: 'default', name: 'lake' });
  infra.spec = { nodes: 1001 };
  await expect(plane.store.create(virtualClusters, infra)).rejects.toThrow(/nodes/);
});

it('simulates tenants only, never the root cluster', async () => {
  const root = (await plane.clusters.get(ROOT)) as Cluster;
  const pods = root.registry.find('', 'v1', 'pods');
  if (!pods) throw new Error('no pods');
  const pod = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'nginx' }] },
  });
  await root.operations.create(pods, 'default', pod('web'), { identity: LOOPBACK });
  const cluster = (await tenant()) as Cluster;
  await cluster.operations.create(pods, 'default', pod('web'), { identity: LOOPBACK });
  await until(
    () => cluster.operations.get(pods, 'default', 'web').status?.phase,
    (phase) => phase === 'Running',
  );
  expect(root.operations.get(pods, 'default', 'web').status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
});

it('goes on after a restart as if nothing had been', async () => {
  const before = (await tenant()) as Cluster;
  const { rv } = before.store;
  await plane.close();
  plane = await start();
  const after = (await tenant()) as Cluster;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(after.store.rv).toBe(rv);
  expect(await nodes()).toEqual(['pond-node-0']);
});
