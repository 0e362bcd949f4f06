import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KindCluster } from '../api/infrastructure/kind-cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { clusters, kindClusters, secrets } from '../api/resources.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { apiVersionOf, events, getCondition, isNotFound, Manager, waitFor } from '../kube/index.ts';
import { MemoryStore } from '../kube/testing/memory-store.ts';
import { HostFolders } from '../machines/host-folders.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type { Observation, Progress, Provisioner, Removal } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { trustingPolicy } from '../provisioners/testing/trusting-policy.ts';
import { coreControllers } from './core/index.ts';
import { installKinds } from './core/testing/install-kinds.ts';
import { readJournal } from './journal.ts';
import { provisionedClusterController } from './provisioned-cluster.ts';
import { ABANDON_ANNOTATION, SUSPENDED_ANNOTATION } from './provisioned-cluster-scope.ts';

const READY: Progress = {
  phase: 'ready',
  reason: 'Ready',
  message: '',
  cluster: {
    phase: 'ready',
    nodes: [{ name: 'dev-control-plane', role: 'control-plane', ready: true }],
    version: 'v1.35.8',
    missing: [],
    endpoint: { host: '127.0.0.1', port: 40000 },
  },
};
const WORKING: Progress = {
  phase: 'working',
  reason: 'Creating',
  message: 'kind is making the cluster: Preparing nodes',
  step: 'Preparing nodes',
  since: Date.UTC(2030, 0, 1),
  usualMs: 25_000,
  output: [' • Preparing nodes'],
  next: 'more of it',
  lookAgainMs: 10,
};

/** Answers what it is told to. */
class Scripted implements Provisioner<KindCluster['spec']> {
  readonly name = 'kind';
  readonly fidelity = 'container';
  upgrades: 'recreate' | 'in place' = 'recreate';
  readonly scales = 'recreate';
  progress: Progress = READY;
  removal: Removal = { isDone: true, removed: ['container dev-control-plane'], reason: 'Removed', message: 'gone' };
  refusal: RookeryError | undefined;
  calls: string[] = [];
  kubeconfigText = 'a kubeconfig';
  version = 'v1.35.8';

  probe = async () => ({ isUsable: true, version: 'v0.33.0', detail: '' }) as const;
  async resolve() {
    this.calls.push('resolve');
    if (this.refusal) throw this.refusal;
    return { version: this.version, image: `kindest/node:${this.version}` };
  }
  async ensure() {
    this.calls.push('ensure');
    return this.progress;
  }
  observe = async () => READY.cluster as Observation;
  kubeconfig = async (_ref: unknown, audience: string) =>
    audience === 'external' ? this.kubeconfigText : `${this.kubeconfigText} for containers`;
  suspension: Progress = { phase: 'suspended', reason: 'Suspended', message: 'stopped' };
  suspend = async () => this.suspension;
  resume = () => this.ensure();
  async upgrade(): Promise<Progress> {
    this.calls.push('upgrade');
    const cluster = { ...(READY.cluster as Observation), version: this.version };
    this.progress = { ...READY, cluster };
    return this.progress;
  }
  async remove() {
    this.calls.push('remove');
    return this.removal;
  }
  inventory = async () => [];
}

const namespace = 'default';
let store: MemoryStore;
let kind: Scripted;
let host: HostPolicy;
let stop: AbortController;
let running: Promise<void>;
beforeEach(async () => {
  store = new MemoryStore(systemClock, systemRandom);
  await installKinds(store, clusters, kindClusters);
  kind = new Scripted();
  host = { ...trustingPolicy };
  stop = new AbortController();
  const manager = new Manager({ store });
  coreControllers(manager, { store, host });
  const [way] = clusterWays.filter(({ name }) => name === 'kind') as [ClusterWay];
  manager.addController(
    provisionedClusterController({ store, informers: manager.informers, way, host, open: async () => kind }),
  );
  running = manager.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const make = (name = 'dev', clusterName = 'dev') =>
  store.create(kindClusters, {
    apiVersion: apiVersionOf(kindClusters),
    kind: 'KINDCluster',
    metadata: { name, namespace },
    spec: { clusterName },
  });
const until = async (wanted: (object: KubeObject) => boolean, name = 'dev') =>
  (await waitFor(store, kindClusters, { namespace, name }, (object) => object !== undefined && wanted(object), {
    timeoutMs: 10_000,
  })) as KubeObject;
const secret = (name: string) => store.get(secrets, { namespace, name });
const text = (object: KubeObject, key: string) => Buffer.from(object.data?.[key] ?? '', 'base64').toString();
const reason = (object: KubeObject) => getCondition(object, 'Ready')?.reason;

it('goes on with a cluster that cannot be suspended, and says why it is not', async () => {
  kind.suspension = { phase: 'refused', reason: 'CannotSuspend', message: 'three control planes', next: 'one' };
  await make();
  await until((object) => reason(object) === 'Ready');
  const metadata = { annotations: { 'rookery.dev/suspended': 'true' } };
  await store.patch(kindClusters, { namespace, name: 'dev' }, { type: 'merge', body: { metadata } });
  const stalled = await until((object) => getCondition(object, 'Stalled') !== undefined);
  expect(getCondition(stalled, 'Stalled')).toMatchObject({ status: 'True', reason: 'CannotSuspend' });
  expect(getCondition(stalled, 'Stalled')?.message).toBe('three control planes\nNext: one');
  expect(stalled.status).toMatchObject({ ready: true });
  expect(reason(stalled)).toBe('Ready');
});

it('stores its intent first, then the cluster, its kubeconfig and its history', async () => {
  kind.progress = WORKING;
  await make();
  const working = await until((object) => reason(object) === 'Creating');
  expect(working.metadata.finalizers).toEqual(['kindcluster.infrastructure.cluster.x-k8s.io']);
  expect(working.status).toMatchObject({ ready: false, image: 'kindest/node:v1.35.8' });
  expect(getCondition(working, 'Ready')?.message).toBe(
    [
      'kind is making the cluster: Preparing nodes',
      'Since 2030-01-01T00:00:00Z, usually done in about 25 s',
      'Last output:  • Preparing nodes',
      'Next: more of it',
    ].join('\n'),
  );
  await expect(secret('dev-config')).rejects.toSatisfy(isNotFound);
  kind.progress = READY;
  const ready = await until((object) => object.status?.ready === true);
  expect(ready.spec?.controlPlaneEndpoint).toEqual({ host: '127.0.0.1', port: 40000 });
  expect(ready.status).toMatchObject({
    initialization: { provisioned: true, controlPlaneInitialized: true },
    version: 'v1.35.8',
    versions: [{ version: 'v1.35.8', replicas: 1 }],
    fidelity: 'container',
    nodes: [{ name: 'dev-control-plane', ready: true }],
  });
  expect(ready.status?.history.map((entry: { reason: string }) => entry.reason)).toEqual([
    'Resolved',
    'Creating',
    'Ready',
  ]);
  expect(text(await secret('dev-config'), 'config')).toBe('a kubeconfig');
  expect(text(await secret('dev-config'), 'internal')).toBe('a kubeconfig for containers');
});

it('keeps what a run of the tool said, once and without secrets', async () => {
  const said = 'kind says hello\nAuthorization: Bearer abcdef0123456789';
  kind.progress = {
    ...READY,
    transcript: { startedAt: Date.UTC(2030, 0, 1), title: 'kind create cluster', text: said },
  };
  await make();
  await until((object) => object.status?.ready === true);
  await store.delete(secrets, { namespace, name: 'dev-config' });
  await waitFor(store, secrets, { namespace, name: 'dev-config' }, Boolean, { timeoutMs: 10_000 });
  const journal = await readJournal(store, await store.get(kindClusters, { namespace, name: 'dev' }));
  const runs = journal.filter((entry) => entry.output);
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ at: '2030-01-01T00:00:00Z', message: 'kind create cluster' });
  expect(runs[0]?.output).toContain('kind says hello');
  expect(runs[0]?.output).not.toContain('abcdef0123456789');
  expect(journal.map((entry) => entry.reason)).toContain('Resolved');
});

const ask = (kubernetesVersion: string) =>
  store.patch(kindClusters, { namespace, name: 'dev' }, { type: 'merge', body: { spec: { kubernetesVersion } } });

it('upgrades in place where the provisioner can, one minor at a time and never down', async () => {
  kind.upgrades = 'in place';
  await make();
  await until((object) => object.status?.ready === true);
  kind.version = 'v1.37.0';
  await ask('1.37');
  const refused = await until((object) => reason(object) === 'UpgradeRefused');
  expect(refused.status).toMatchObject({ version: 'v1.35.8', resolved: { requested: '', version: 'v1.35.8' } });
  expect(getCondition(refused, 'Ready')?.message).toContain('upgrade to 1.36 first');
  kind.version = 'v1.34.0';
  await ask('1.34');
  await until((object) => getCondition(object, 'Ready')?.message.includes('cannot go back') === true);
  expect(kind.calls).not.toContain('upgrade');
  kind.version = 'v1.36.4';
  await ask('1.36');
  const upgraded = await until((object) => object.status?.version === 'v1.36.4');
  expect(upgraded.status?.resolved).toEqual({
    requested: '1.36',
    version: 'v1.36.4',
    image: 'kindest/node:v1.36.4',
  });
});

it('leaves a cluster that cannot be upgraded at what it is', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  kind.version = 'v1.36.4';
  await ask('1.36');
  await until((object) => object.status?.observedGeneration === object.metadata.generation);
  const { status } = await store.get(kindClusters, { namespace, name: 'dev' });
  expect(status?.resolved).toMatchObject({ requested: '', version: 'v1.35.8' });
  expect(kind.calls.filter((call) => call === 'resolve')).toHaveLength(1);
});

it('refreshes a kubeconfig that went stale or was deleted', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  kind.kubeconfigText = 'a new one';
  await store.delete(secrets, { namespace, name: 'dev-config' });
  const found = await waitFor(store, secrets, { namespace, name: 'dev-config' }, (object) => object !== undefined, {
    timeoutMs: 10_000,
  });
  expect(text(found as KubeObject, 'config')).toBe('a new one');
});

it('puts the labels back by which Cluster API and we find a kubeconfig', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  const name = 'dev-config';
  const labels = { 'app.kubernetes.io/managed-by': null };
  await store.patch(secrets, { namespace, name }, { type: 'merge', body: { metadata: { labels } } });
  const isBack = (object: KubeObject | undefined) =>
    object?.metadata.labels?.['app.kubernetes.io/managed-by'] === 'rookery';
  await waitFor(store, secrets, { namespace, name }, isBack, { timeoutMs: 10_000 });
});

it('serves a Cluster: endpoint, contract fields, <cluster>-kubeconfig, and goes with it', async () => {
  await make();
  const reference = { apiGroup: kindClusters.group, kind: 'KINDCluster', name: 'dev' };
  await store.create(clusters, {
    apiVersion: apiVersionOf(clusters),
    kind: 'Cluster',
    metadata: { name: 'team', namespace },
    spec: { infrastructureRef: reference, controlPlaneRef: reference },
  });
  const key = { namespace, name: 'team' };
  const isAvailable = (object?: KubeObject) =>
    object !== undefined &&
    getCondition(object, 'Available')?.status === 'True' &&
    object.spec?.controlPlaneEndpoint?.port > 0;
  const cluster = await waitFor(store, clusters, key, isAvailable, { timeoutMs: 10_000 });
  expect(cluster?.spec?.controlPlaneEndpoint).toEqual({ host: '127.0.0.1', port: 40000 });
  const found = await waitFor(store, secrets, { namespace, name: 'team-kubeconfig' }, Boolean, { timeoutMs: 10_000 });
  expect(found?.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'team' });
  expect(text(found as KubeObject, 'value')).toBe('a kubeconfig');
  await store.delete(clusters, key);
  await waitFor(store, clusters, key, (object) => object === undefined, { timeoutMs: 10_000 });
  expect(kind.calls).toContain('remove');
  await expect(secret('team-kubeconfig')).rejects.toSatisfy(isNotFound);
});

it('says why a version cannot be had, and makes nothing', async () => {
  kind.refusal = new RookeryError('version.unavailable', 'Kubernetes 1.13 cannot be had', {
    class: 'user',
    hint: 'take 1.35',
  });
  await make();
  const refused = await until((object) => reason(object) === 'VersionUnavailable');
  expect(refused.status?.failureMessage).toBe('VersionUnavailable: Kubernetes 1.13 cannot be had');
  expect(kind.calls).not.toContain('ensure');
});

it('lets the first of two objects have a name', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await make('rival');
  const refused = await until((object) => reason(object) === 'NameTaken', 'rival');
  expect(refused.status?.failureMessage).toContain('KINDCluster default/dev has asked for');
});

it('stays deleted-in-progress with a clear condition while Docker is down, and can be given up', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  kind.removal = {
    isDone: false,
    removed: [],
    reason: 'DockerUnreachable',
    message: 'Docker does not answer',
    lookAgainMs: 10,
  };
  await store.delete(kindClusters, { namespace, name: 'dev' });
  const waiting = await until((object) => getCondition(object, 'Deleting')?.reason === 'DockerUnreachable');
  expect(waiting.metadata.finalizers).toHaveLength(1);
  await store.patch(
    kindClusters,
    { namespace, name: 'dev' },
    {
      type: 'merge',
      body: { metadata: { annotations: { [ABANDON_ANNOTATION]: 'true' } } },
    },
  );
  await waitFor(store, kindClusters, { namespace, name: 'dev' }, (object) => object === undefined, {
    timeoutMs: 10_000,
  });
});

it('tells what a deletion removed', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  await store.delete(kindClusters, { namespace, name: 'dev' });
  await waitFor(store, kindClusters, { namespace, name: 'dev' }, (object) => object === undefined, {
    timeoutMs: 10_000,
  });
  await expect(secret('dev-config')).rejects.toSatisfy(isNotFound);
  const told = async () => (await store.list(events)).items.map((event) => String(event.message));
  await expect.poll(told).toContain('removed container dev-control-plane, secret dev-config');
});

it('stops and starts by annotation', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  const annotate = (value: string | null) =>
    store.patch(
      kindClusters,
      { namespace, name: 'dev' },
      {
        type: 'merge',
        body: { metadata: { annotations: { [SUSPENDED_ANNOTATION]: value } } },
      },
    );
  await annotate('true');
  expect((await until((object) => reason(object) === 'Suspended')).status?.ready).toBe(false);
  await annotate(null);
  await until((object) => object.status?.ready === true);
});

it('does nothing while paused, and nothing to what somebody else manages', async () => {
  const paused = { 'cluster.x-k8s.io/paused': '' };
  await store.create(kindClusters, {
    apiVersion: apiVersionOf(kindClusters),
    kind: 'KINDCluster',
    metadata: { name: 'dev', namespace, annotations: paused },
    spec: { clusterName: 'dev' },
  });
  await until((object) => getCondition(object, 'Paused')?.status === 'True');
  expect(kind.calls).toEqual([]);
});

it('keeps the last fifty entries of its history', async () => {
  await make();
  await until((object) => object.status?.ready === true);
  for (let i = 0; i < 60; i++) {
    kind.progress = { ...WORKING, step: `step ${i}`, lookAgainMs: 1 };
    await store.patch(
      kindClusters,
      { namespace, name: 'dev' },
      {
        type: 'merge',
        body: { metadata: { annotations: { poke: String(i) } } },
      },
    );
    await until((object) => object.status?.history?.at(-1)?.message === `step ${i}`);
  }
  const { status } = await store.get(kindClusters, { namespace, name: 'dev' });
  expect(status?.history).toHaveLength(50);
});

it('does nothing on this machine for a namespace that may not use it', async () => {
  Object.assign(host, { hasAdmission: false, allows: () => false });
  await make();
  const refused = await until((object) => getCondition(object, 'Stalled') !== undefined);
  expect(getCondition(refused, 'Stalled')).toMatchObject({ reason: 'HostNotAllowed' });
  expect(getCondition(refused, 'Stalled')?.message).toContain('--host-namespaces default');
  expect(refused.metadata.finalizers).toBeUndefined();
  expect(kind.calls).toEqual([]);
});

it('leaves a cluster alone whose namespace may not use this machine any more, until it is abandoned', async () => {
  await make();
  await until((object) => reason(object) === 'Ready');
  kind.calls = [];
  Object.assign(host, { hasAdmission: false, allows: () => false });
  const key = { namespace, name: 'dev' };
  await store.patch(kindClusters, key, { type: 'merge', body: { spec: { workerNodes: 2 } } });
  const stalled = await until((object) => getCondition(object, 'Stalled') !== undefined);
  expect(stalled.status).toMatchObject({ ready: true });
  expect(reason(stalled)).toBe('Ready');
  await store.delete(kindClusters, key);
  const deleting = await until((object) => getCondition(object, 'Deleting')?.reason === 'HostNotAllowed');
  expect(getCondition(deleting, 'Deleting')?.message).toContain(ABANDON_ANNOTATION);
  expect(kind.calls).toEqual([]);
  const metadata = { annotations: { [ABANDON_ANNOTATION]: 'true' } };
  await store.patch(kindClusters, key, { type: 'merge', body: { metadata } });
  await waitFor(store, kindClusters, key, (object) => object === undefined, { timeoutMs: 10_000 });
  expect(kind.calls).toEqual([]);
});

it('refuses a path outside of the folders that clusters may be given', async () => {
  host.folders = new HostFolders(['/srv']);
  const nodes = [{ role: 'control-plane', extraMounts: [{ hostPath: '/etc', containerPath: '/x' }] }];
  await store.create(kindClusters, {
    apiVersion: apiVersionOf(kindClusters),
    kind: 'KINDCluster',
    metadata: { name: 'dev', namespace },
    spec: { clusterName: 'dev', nodes },
  });
  const refused = await until((object) => getCondition(object, 'Stalled') !== undefined);
  expect(getCondition(refused, 'Stalled')).toMatchObject({ reason: 'HostPathNotAllowed' });
  expect(getCondition(refused, 'Stalled')?.message).toContain('spec.nodes[0].extraMounts[0].hostPath: /etc');
  expect(kind.calls).toEqual([]);
});
