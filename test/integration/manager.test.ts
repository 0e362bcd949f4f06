// The second home without anything real around it: the manager against an API server of ours, which is to it what any other is.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { clusters, customResourceDefinitions, namespaces, secrets, virtualClusters } from '../../src/api/resources.ts';
import {
  apiVersionOf,
  isConditionTrue,
  kubeconfigConnection,
  leases,
  ownerReference,
  RemoteStore,
  type ResourceRef,
  waitFor,
  waitForCondition,
  waitForGone,
} from '../../src/kube/index.ts';
import { HostFolders } from '../../src/machines/host-folders.ts';
import { type ProviderManagerOptions, runProviderManager } from '../../src/manager/provider-manager.ts';
import { providerKinds } from '../../src/manager/served-kinds.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { freePorts } from '../bed/services/port.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const namespace = 'default';
const patience = { timeoutMs: 30_000 };
let server: TestServer;
let store: RemoteStore;
let home: string;
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  server = await startServer();
  store = await server.remote();
  home = mkdtempSync(join(tmpdir(), 'rookery-manager-'));
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  expect(server.errors).toEqual([]);
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const settings = (): ProviderManagerOptions => ({
  store,
  home,
  core: 'auto',
  host: { hasAdmission: false, allows: () => false, folders: new HostFolders([]) },
  installCrds: true,
  virtual: { host: '127.0.0.1', port: 0, durability: 'normal' },
});

/** Answers how to stop it; it ends as `run` does. */
function start(options: Partial<ProviderManagerOptions> = {}): () => Promise<void> {
  const stop = new AbortController();
  const running = runProviderManager({ ...settings(), ...options }, stop.signal);
  running.catch(() => {});
  const end = async () => {
    stop.abort();
    await running;
  };
  stops.push(end);
  return end;
}

const virtualCluster = (metadata: KubeObject['metadata']): KubeObject => ({
  apiVersion: apiVersionOf(virtualClusters),
  kind: virtualClusters.kind,
  metadata,
  spec: {},
});

/** The Cluster goes first: the other is known to be referred to from its beginning. */
async function make(name: string, more: KubeObject['metadata'] = {}): Promise<void> {
  const reference = { apiGroup: virtualClusters.group, kind: virtualClusters.kind, name };
  const metadata = { name, namespace, ...more };
  const spec = { infrastructureRef: reference, controlPlaneRef: reference };
  await store.create(clusters, { apiVersion: apiVersionOf(clusters), kind: clusters.kind, metadata, spec });
  await store.create(virtualClusters, virtualCluster(metadata));
}

/** Ours are installed after those of Cluster API. */
const untilInstalled = () =>
  expect
    .poll(() => store.list(providerKinds.at(-1) as ResourceRef).then(Boolean, () => false), { timeout: 30_000 })
    .toBe(true);
const untilAvailable = (name: string) => waitForCondition(store, clusters, { namespace, name }, 'Available', patience);

async function kubeconfigOf(name: string): Promise<RemoteStore> {
  const secret = await store.get(secrets, { namespace, name: `${name}-kubeconfig` });
  const data = Buffer.from(secret.data?.value ?? '', 'base64').toString();
  const remote = new RemoteStore({ connection: await kubeconfigConnection(data, 'this machine') });
  stops.push(() => remote.close());
  return remote;
}

it('drives a cluster by our own core where there is no other, and takes it away again', async () => {
  start();
  await untilInstalled();
  await make('demo');
  await untilAvailable('demo');
  const inside = await kubeconfigOf('demo');
  const { items } = await inside.list(namespaces);
  expect(items.map(({ metadata }) => metadata.name)).toContain('kube-system');
  await store.delete(clusters, { namespace, name: 'demo' });
  await waitForGone(store, clusters, { namespace, name: 'demo' }, patience);
  await expect(inside.list(namespaces)).rejects.toThrow();
});

it('keeps virtual clusters over a restart, and their kubeconfigs follow its address', async () => {
  const stop = start();
  await untilInstalled();
  await make('demo');
  await untilAvailable('demo');
  const before = await kubeconfigOf('demo');
  await before.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } });
  const old = await store.get(secrets, { namespace, name: 'demo-kubeconfig' });
  await stop();
  start();
  const isNew = (secret: KubeObject | undefined) => secret?.data?.value !== old.data?.value;
  await waitFor(store, secrets, { namespace, name: 'demo-kubeconfig' }, isNew, patience);
  const after = await kubeconfigOf('demo');
  expect((await after.get(namespaces, { name: 'mine' })).metadata.name).toBe('mine');
});

it('serves nothing but tenants', async () => {
  start();
  await untilInstalled();
  await make('demo');
  const isKnown = (cluster: KubeObject | undefined) => cluster?.spec?.controlPlaneEndpoint !== undefined;
  const cluster = await waitFor(store, clusters, { namespace, name: 'demo' }, isKnown, patience);
  const { host, port } = cluster?.spec?.controlPlaneEndpoint ?? {};
  const connection = { server: `https://${host}:${port}`, insecure: true };
  const root = new RemoteStore({ connection });
  await expect(root.list(namespaces)).rejects.toMatchObject({ code: 404 });
  await root.close();
});

it('looks after one label only, when told so', async () => {
  start({ watchFilter: 'blue' });
  await untilInstalled();
  await make('plain');
  await make('blue', { labels: { 'cluster.x-k8s.io/watch-filter': 'blue' } });
  await untilAvailable('blue');
  const plain = await store.get(virtualClusters, { namespace, name: 'plain' });
  expect([plain.metadata.finalizers, plain.status]).toEqual([undefined, undefined]);
});

it('lets one work at a time; the next one takes over when it goes', async () => {
  const lease = { namespace, name: 'rookery-manager' };
  const first = start({ leaderElection: { lease, identity: 'first' } });
  await untilInstalled();
  await make('one');
  await untilAvailable('one');
  start({ leaderElection: { lease, identity: 'second' } });
  await first();
  const isSecond = (object: KubeObject | undefined) => object?.spec?.holderIdentity === 'second';
  await waitFor(store, leases, lease, isSecond, patience);
  await make('two');
  await untilAvailable('two');
});

it('does not take clusters over whose folder it does not have', async () => {
  const lease = { namespace, name: 'rookery-manager' };
  const first = start({ leaderElection: { lease, identity: 'first' } });
  await untilInstalled();
  await make('demo');
  await untilAvailable('demo');
  await first();
  const elsewhere = { ...settings(), home: join(home, 'elsewhere'), leaderElection: { lease, identity: 'second' } };
  const taking = runProviderManager(elsewhere, new AbortController().signal);
  await expect(taking).rejects.toMatchObject({ code: 'manager.other-home', hint: expect.stringContaining('--home') });
  const demo = await store.get(virtualClusters, { namespace, name: 'demo' });
  expect(isConditionTrue(demo, 'Ready')).toBe(true);
});

it('tells how it is', async () => {
  const [healthPort] = (await freePorts(1)) as [number];
  start({ probes: { host: '127.0.0.1', healthPort, metricsPort: healthPort }, metrics: createMetrics() });
  const ask = (path: string) => fetch(`http://127.0.0.1:${healthPort}${path}`);
  const code = (path: string) =>
    ask(path).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(() => code('/readyz'), { timeout: 30_000 }).toBe(200);
  expect([await code('/healthz'), await code('/other')]).toEqual([200, 404]);
  expect(await (await ask('/metrics')).text()).toContain('controller_active_workers');
});

it('leaves driving to upstream where its core is installed, and cannot be made to fight it', async () => {
  const stop = start();
  await untilInstalled();
  await stop();
  const name = 'clusters.cluster.x-k8s.io';
  const labels = { 'cluster.x-k8s.io/provider': 'cluster-api', 'rookery.dev/core': null };
  await store.patch(customResourceDefinitions, { name }, { type: 'merge', body: { metadata: { labels } } });
  const fighting = runProviderManager({ ...settings(), core: 'on' }, new AbortController().signal);
  await expect(fighting).rejects.toMatchObject({ code: 'manager.two-cores' });

  start();
  await make('demo');
  // One that no Cluster refers to is made at once, the other not before upstream's core, played by the test, has made it its own.
  await store.create(virtualClusters, virtualCluster({ name: 'alone', namespace }));
  await waitForCondition(store, virtualClusters, { namespace, name: 'alone' }, 'Ready', patience);
  const waiting = await store.get(virtualClusters, { namespace, name: 'demo' });
  expect([waiting.metadata.finalizers, waiting.status]).toEqual([undefined, undefined]);
  const cluster = await store.get(clusters, { namespace, name: 'demo' });
  const body = { metadata: { ownerReferences: [ownerReference(cluster)] } };
  await store.patch(virtualClusters, { namespace, name: 'demo' }, { type: 'merge', body });
  await waitForCondition(store, virtualClusters, { namespace, name: 'demo' }, 'Ready', patience);
  expect((await store.get(clusters, { namespace, name: 'demo' })).status).toBeUndefined();
});

it('stops cleanly while it still starts', async () => {
  await runProviderManager(settings(), AbortSignal.abort());
});
