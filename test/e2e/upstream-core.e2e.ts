// Our providers under the unmodified core of Cluster API, on a real API server: what "meets the contracts" means in the end.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { clusters, configMaps, k3dClusters, kindClusters, secrets, virtualClusters } from '../../src/api/resources.ts';
import {
  apiVersionOf,
  getCondition,
  leases,
  loadKubeconfig,
  RemoteStore,
  type ResourceRef,
  waitForCondition,
} from '../../src/kube/index.ts';
import { scratch } from '../bed/cache.ts';
import { program } from '../bed/environment.ts';
import { run, sleep, waitFor } from '../bed/process.ts';
import { freePorts } from '../bed/services/port.ts';
import { acquire, type Lease } from '../bed/services/service.ts';
import { k3dVersion, k3sVersion, kubernetesVersion } from '../bed/versions.ts';
import { podRuns } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { isFull } from './support/full.ts';
import { Kubectl } from './support/kubectl.ts';
import { RookeryManager, rookery } from './support/rookery-manager.ts';

const prefix = 'upstream-';
const namespace = 'default';
const lease = { namespace: 'rookery-system', name: 'rookery-manager' };
const minor = (version: string): string => /\d+\.\d+/.exec(version)?.[0] as string;
/** Two of our looks at a cluster, in a full run four. */
const quietMs = isFull ? 61_000 : 31_000;

/** A Cluster and the one object that is its infrastructure and its control plane. */
function pair(name: string, resource: ResourceRef, spec: object): KubeObject[] {
  const reference = { apiGroup: resource.group, kind: resource.kind, name };
  const metadata = { name, namespace };
  return [
    { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec },
    {
      apiVersion: apiVersionOf(clusters),
      kind: clusters.kind,
      metadata,
      spec: { infrastructureRef: reference, controlPlaneRef: reference },
    },
  ];
}

const virtual = `${prefix}virtual`;
const paused = `${prefix}paused`;
const tools = [
  { name: `${prefix}kind`, resource: kindClusters, spec: { kubernetesVersion: minor(kubernetesVersion) } },
  {
    name: `${prefix}k3d`,
    resource: k3dClusters,
    spec: {
      kubernetesVersion: minor(k3sVersion),
      // Their images are not on the bed.
      k3sArgs: ['traefik', 'servicelb', 'metrics-server'].map((addOn) => ({ arg: `--disable=${addOn}` })),
    },
  },
];
const all = [virtual, ...tools.map(({ name }) => name)];

describe('our providers under upstream Cluster API core', () => {
  const home = scratch('upstream-core');
  const managers: RookeryManager[] = [];
  let management: Lease;
  let docker: Engine;
  let kubectl: Kubectl;
  let store: RemoteStore;
  let virtualPort: number;

  beforeAll(async () => {
    docker = await engine('node-image', 'k3s-image');
    await docker.clear(prefix);
    await docker.clear(`k3d-${prefix}`);
    management = await acquire('cluster-api');
    kubectl = new Kubectl(management.env.KUBECONFIG as string);
    store = new RemoteStore({ connection: await loadKubeconfig({ file: kubectl.kubeconfig }) });
    [virtualPort] = (await freePorts(1)) as [number];
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    for (const manager of managers) console.error(manager.tail());
    for (const { name, resource } of tools) {
      const found = await store.get(resource, { namespace, name }).catch(String);
      console.error(JSON.stringify(found, null, 1));
    }
  });
  afterAll(async () => {
    await Promise.all(managers.map((manager) => manager.end('SIGKILL')));
    await store?.close();
    await docker?.clear(prefix);
    await docker?.clear(`k3d-${prefix}`);
    await docker?.release();
    await management?.release();
    rmSync(home, { recursive: true, force: true });
  });

  const start = async (name: string): Promise<RookeryManager> => {
    const args = ['--leader-elect', '--leader-elect-namespace', lease.namespace, '--virtual-port', String(virtualPort)];
    const kubeconfig = join(home, 'manager.kubeconfig');
    const env = { ...docker.env, K3D_IMAGE_TOOLS: `rookery-bed/k3d-tools:${k3dVersion.slice(1)}` };
    const manager = await RookeryManager.start(name, { home, kubeconfig, env, args });
    managers.push(manager);
    return manager;
  };
  const untilAvailable = async (name: string, timeoutMs: number): Promise<KubeObject> => {
    const cluster = await waitForCondition(store, clusters, { namespace, name }, 'Available', { timeoutMs });
    // Kubeconfig and API were there before core was told to use them; else it would wait for 30 s before it tries again.
    const lines = readFileSync(management.env.CAPI_CORE_LOG as string, 'utf8').split('\n');
    expect(lines.filter((line) => line.includes(`/${name}"`) && line.includes('Connect failed'))).toEqual([]);
    expect(lines.some((line) => line.includes(`/${name}"`) && line.includes('"Connected"'))).toBe(true);
    return cluster;
  };
  const clusterctl = (...args: string[]): Promise<string> =>
    run(program('cluster-api', 'clusterctl'), args, {
      env: {
        ...process.env,
        KUBECONFIG: kubectl.kubeconfig,
        HOME: '/nonexistent',
        XDG_CONFIG_HOME: '/nonexistent',
        CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
      },
      timeoutMs: 60_000,
    });
  const reached = async (name: string): Promise<Kubectl> => {
    const file = join(home, `${name}.kubeconfig`);
    writeFileSync(file, await clusterctl('get', 'kubeconfig', name), { mode: 0o600 });
    return new Kubectl(file);
  };
  /** Whatever is there of our clusters in the management cluster, with its version. */
  const versions = async (names: readonly string[]): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const resource of [clusters, virtualClusters, kindClusters, k3dClusters, secrets, configMaps]) {
      for (const { metadata } of (await store.list(resource, { namespace })).items) {
        const isOurs = names.some((name) => metadata.name?.startsWith(name));
        if (isOurs) found[`${resource.kind} ${metadata.name}`] = metadata.resourceVersion as string;
      }
    }
    return found;
  };

  test('before its kinds are installed it says so, and how that is done', async () => {
    const refused = await rookery(home, docker.env, 'manager', '--kubeconfig', kubectl.kubeconfig);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('not installed: virtualclusters.infrastructure.cluster.x-k8s.io');
    expect(refused.stderr).toContain('rookery manager manifests');
  });

  test('clusterctl takes it for a provider', async () => {
    const folder = join(home, 'repository');
    const image = ['--image', 'registry.example/rookery:1', '--clusterctl', folder];
    const [file] = (await rookery(home, docker.env, 'manager', 'manifests', ...image)).stdout.match(
      /^.*infrastructure-components\.yaml$/m,
    ) as string[];
    const version = /\/(v[^/]+)\/[^/]+$/.exec(file as string)?.[1];
    const config = join(home, 'clusterctl.yaml');
    const provider = { name: 'rookery', type: 'InfrastructureProvider', url: file };
    writeFileSync(config, JSON.stringify({ providers: [provider] }));
    const common = ['--config', config, '--infrastructure', `rookery:${version}`];
    const components = join(home, 'components.yaml');
    writeFileSync(components, await clusterctl('generate', 'provider', ...common, '--target-namespace', 'default'));
    const taken = await kubectl.run('apply', '--server-side', '--dry-run=server', '-f', components);
    expect(taken).toContain('deployment.apps/rookery-manager serverside-applied');
    const made = await clusterctl('generate', 'cluster', 'demo', ...common, '--flavor', 'kind', '-n', 'default');
    expect(made).toContain('clusterName: demo');
  });

  test('it runs with the rights of its own manifests, one of two at a time', async () => {
    const manifests = await rookery(home, docker.env, 'manager', 'manifests', '-o', 'json');
    writeFileSync(join(home, 'manifests.json'), manifests.stdout);
    await kubectl.run('apply', '--server-side', '-f', join(home, 'manifests.json'));
    const kubeconfig = JSON.parse(readFileSync(kubectl.kubeconfig, 'utf8'));
    const account = ['create', 'token', 'rookery-manager', '-n', lease.namespace, '--duration=1h'];
    kubeconfig.users[0].user = { token: (await kubectl.run(...account)).trim() };
    writeFileSync(join(home, 'manager.kubeconfig'), JSON.stringify(kubeconfig), { mode: 0o600 });
    await Promise.all([start('one'), start('two')]);
    await Promise.all(managers.map((manager) => manager.untilReady()));
    await waitFor('a leader', 60_000, async () => managers.some(({ isLeader }) => isLeader));
    expect(managers.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    for (const manager of managers) {
      expect((await manager.get('/healthz')).text).toBe('ok');
      expect((await manager.get('/metrics')).text).toContain('controller_active_workers');
    }
  });

  test('a VirtualCluster becomes Available', async () => {
    const begun = performance.now();
    for (const object of pair(virtual, virtualClusters, {})) await store.create(resourceOf(object), object);
    const cluster = await untilAvailable(virtual, 120_000);
    console.log(`VirtualCluster: Available after ${Math.round(performance.now() - begun)} ms`);
    expect(cluster.spec?.controlPlaneEndpoint).toEqual({ host: '127.0.0.1', port: virtualPort });
    expect(cluster.status?.phase).toBe('Provisioned');
  });

  test('clusters of tools become Available, though the leader is killed while they are made', async () => {
    managers.sort((a, b) => Number(b.isLeader) - Number(a.isLeader));
    const [first, second] = managers as [RookeryManager, RookeryManager];
    const begun = performance.now();
    for (const { name, resource, spec } of tools) {
      for (const object of pair(name, resource, { clusterName: name, ...spec })) {
        await store.create(resourceOf(object), object);
      }
    }
    for (const { name } of tools) {
      await waitFor(`a container of ${name}`, 120_000, async () => (await containers(name)).length > 0);
    }
    await first.end('SIGKILL');
    await waitFor('the other to lead', 60_000, async () => second.isLeader);
    for (const { name, resource } of tools) {
      await untilAvailable(name, 360_000);
      const provider = await store.get(resource, { namespace, name });
      const cluster = await store.get(clusters, { namespace, name });
      const seconds = (object: KubeObject, type: string): number =>
        Date.parse(getCondition(object, type)?.lastTransitionTime as string) / 1000;
      const lag = seconds(cluster, 'Available') - seconds(provider, 'Ready');
      const took = Math.round((performance.now() - begun) / 1000);
      console.log(`${resource.kind}: Available after ${took} s, ${lag} s after it was ready itself`);
      expect(provider.status).toMatchObject({
        initialization: { provisioned: true, controlPlaneInitialized: true },
        version: expect.stringMatching(/^v1\./),
        versions: [{ replicas: 1 }],
      });
    }
    expect((await store.get(leases, lease)).spec).toMatchObject({
      holderIdentity: second.identity,
      leaseTransitions: 1,
    });
  }, 600_000);

  test('clusterctl describes them and hands out kubeconfigs that work', async () => {
    for (const name of all) {
      const described = await clusterctl('describe', 'cluster', name);
      expect(described).toMatch(new RegExp(`^Cluster default/${name} +True +Available`, 'm'));
      expect(described).toMatch(new RegExp(`(Virtual|KIND|K3d)Cluster default/${name} +True`));
    }
    const simulated = await reached(virtual);
    await simulated.run('create', 'deployment', 'web', '--image=nginx', '--replicas=2');
    await simulated.run('rollout', 'status', 'deployment/web', '--timeout=30s');
    for (const { name } of tools) await podRuns(await reached(name));
  });

  test('once they are Available nobody writes; pausing by the Cluster stops ours', async () => {
    const before = await versions(all);
    expect(Object.keys(before).length).toBeGreaterThanOrEqual(3 * all.length);
    const quietUntil = Date.now() + quietMs;

    for (const object of pair(paused, virtualClusters, { nodes: 1 })) await store.create(resourceOf(object), object);
    await untilAvailable(paused, 60_000);
    const inside = await reached(paused);
    const change = (resource: ResourceRef, spec: object): Promise<KubeObject> =>
      store.patch(resource, { namespace, name: paused }, { type: 'merge', body: { spec } });
    const saysPaused = (status: 'True' | 'False'): Promise<KubeObject> =>
      waitForCondition(store, virtualClusters, { namespace, name: paused }, 'Paused', { status, timeoutMs: 30_000 });
    await change(clusters, { paused: true });
    await saysPaused('True');
    await change(virtualClusters, { nodes: 3 });
    await sleep(2000);
    expect(await inside.nodes()).toHaveLength(1);
    await change(clusters, { paused: false });
    await saysPaused('False');
    await waitFor('three nodes', 30_000, async () => (await inside.nodes()).length === 3);

    await sleep(Math.max(0, quietUntil - Date.now()));
    expect(await versions(all)).toEqual(before);
  });

  test('deleted in the order of upstream, they leave nothing', async () => {
    const names = [...all, paused];
    await kubectl.run('delete', 'clusters.cluster.x-k8s.io', ...names, '--timeout=120s');
    const left = async (): Promise<string[]> => Object.keys(await versions(names));
    const providers = (await left()).filter((text) => /Cluster /.test(text));
    expect(providers).toEqual([]);
    // Secrets and journals belong to the objects, and go with them.
    await waitFor('the garbage collector', 60_000, async () => (await left()).length === 0, 500);
    for (const { name } of tools) expect(await containers(name)).toEqual([]);
    expect(readdirSync(join(home, 'manager', 'data', 'clusters'))).toEqual([]);
  });

  test('told to stop, it ends well and gives the lease back', async () => {
    const leader = managers[1] as RookeryManager;
    expect(await leader.end('SIGTERM')).toBe(0);
    expect((await store.get(leases, lease)).spec?.holderIdentity ?? '').toBe('');
    expect(leader.complaints).toEqual([]);
  });

  const containers = async (name: string): Promise<string[]> => [
    ...(await docker.found(name)),
    ...(await docker.found(`k3d-${name}`)),
  ];
});

function resourceOf({ kind }: KubeObject): ResourceRef {
  const kinds = [clusters, virtualClusters, kindClusters, k3dClusters];
  return kinds.find((resource) => resource.kind === kind) as ResourceRef;
}
