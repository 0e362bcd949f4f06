// Rookery's vclusters in a real host cluster, which Rookery made too: the suite every provisioner passes, the product as people use it, and Rookery killed again and
// again.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { kubeconfigConnection, RemoteStore } from '../../src/kube/index.ts';
import { vclusterConfig } from '../../src/provisioners/vcluster/config.ts';
import { namespaceOf, type VclusterSpec } from '../../src/provisioners/vcluster/marks.ts';
import { VclusterProvisioner } from '../../src/provisioners/vcluster/vcluster-provisioner.ts';
import { scratch } from '../bed/cache.ts';
import { waitFor } from '../bed/process.ts';
import { kubernetesVersion, vclusterVersion } from '../bed/versions.ts';
import { provisionerConformance } from '../conformance/provisioner/provisioner.ts';
import { hostLeftovers } from '../conformance/provisioner/vcluster-host.ts';
import { dnsWorks } from './support/checks.ts';
import { crashLoop } from './support/crash-loop.ts';
import { type Engine, engine } from './support/engine.ts';
import { fullTest, isFull } from './support/full.ts';
import { Kubectl } from './support/kubectl.ts';
import { Rookery } from './support/rookery.ts';
import { renderChart } from './support/vcluster-chart.ts';
import { loadVclusterImages } from './support/vcluster-images.ts';
import { deployment, pod } from './support/workload.ts';

const HOST = 'vchost';
/** On a busy machine each step may take minutes. */
const LONG = { timeout: 600_000 };
const READY = 'jsonpath={.status.ready}';
const folder = scratch('provisioner-vcluster');
let docker: Engine;
let rookery: Rookery;
let host: Kubectl;
let store: RemoteStore;
let access: { kubeconfig: string };

beforeAll(async () => {
  docker = await engine('node-image', 'vcluster-images');
  await docker.clear(HOST);
  rookery = new Rookery('provisioner-vcluster-home', docker.env);
  await rookery.up();
  const asked = await rookery.run('cluster', 'create', HOST, '--provisioner', 'kind', '--no-wait');
  expect(asked, asked.stderr).toMatchObject({ code: 0 });
  const isMade = async () => (await rookery.kubectl.run('get', 'kindcluster', HOST, '-o', READY)) === 'true';
  await waitFor('the host', 500_000, isMade, 1000);
  await loadVclusterImages(docker, `${HOST}-control-plane`);
  const path = (await rookery.run('cluster', 'kubeconfig', HOST, '--path')).stdout.trim();
  host = new Kubectl(path);
  access = { kubeconfig: readFileSync(path, 'utf8') };
  store = new RemoteStore({ connection: await kubeconfigConnection(access.kubeconfig, 'this machine') });
}, 600_000);
afterAll(async () => {
  await store?.close();
  await rookery?.close();
  await docker?.clear(HOST);
  await docker?.release();
  rmSync(folder, { recursive: true, force: true });
});

const spec = (clusterName: string, more: Partial<VclusterSpec> = {}): VclusterSpec => ({
  host: { cluster: HOST },
  clusterName,
  kubernetesVersion,
  ...more,
});

/** From a pod of the host. The node has kubectl, and lends it. */
async function namespacesFromInside(namespace: string, kubeconfig: string): Promise<string> {
  await host.run('create', 'secret', 'generic', 'inside', '-n', namespace, `--from-literal=config=${kubeconfig}`);
  const mounts = [
    { name: 'bin', mountPath: '/host' },
    { name: 'config', mountPath: '/config' },
  ];
  const main = {
    name: 'main',
    image: 'rookery-bed/busybox:1',
    imagePullPolicy: 'IfNotPresent',
    command: ['/host/kubectl', '--kubeconfig', '/config/config', 'get', 'namespaces', '-o', 'name'],
    volumeMounts: mounts,
  };
  const volumes = [
    { name: 'bin', hostPath: { path: '/usr/bin' } },
    { name: 'config', secret: { secretName: 'inside' } },
  ];
  const asker = { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, volumes, containers: [main] };
  await host.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'asker', namespace }, spec: asker });
  try {
    await host.run('wait', 'pod/asker', '-n', namespace, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s');
    return await host.run('logs', 'asker', '-n', namespace);
  } finally {
    await host.run('delete', 'pod/asker', 'secret/inside', '-n', namespace);
  }
}

provisionerConformance('vcluster on the bed', async () => ({
  prefix: 'conf-',
  open: () => new VclusterProvisioner({ clock: systemClock }),
  spec: (clusterName) => spec(clusterName),
  access,
  servesApi: true,
  namespacesFromInside: (ref, kubeconfig) => namespacesFromInside(namespaceOf(ref.spec), kubeconfig),
  killTools: async () => {},
  foreign: async (name) => {
    const namespace = `vcluster-${name}`;
    const config = vclusterConfig({ spec: spec(name), kubernetesVersion, vclusterVersion, addresses: [] });
    await host.run('create', 'namespace', namespace);
    await host.apply(...(await renderChart(folder, { name, namespace, config })));
    // What the host makes of it is there before it is counted.
    await waitFor('its pod', 60_000, async () => (await host.pods('-n', namespace)).length > 0);
    return async () => {
      await host.run('delete', 'namespace', namespace, '--timeout=100s');
      await waitFor('its volume to be gone', 60_000, async () => (await host.run('get', 'pv', '-o', 'name')) === '');
    };
  },
  leftovers: await hostLeftovers(store),
  close: async () => {},
  patienceMs: 200_000,
  callMs: 30_000,
  killPoints: [1500],
}));

describe('VCluster', () => {
  const name = 'vc-cli';
  // There before, and there after, with something of others in it.
  const namespace = `vcluster-${name}`;
  let inner: Kubectl;
  let leftovers: () => Promise<string[]>;
  const isReady = async (): Promise<boolean> => {
    const { status } = await rookery.kubectl.get<{ status?: { ready?: boolean } }>('vcluster', name);
    if (!status?.ready) throw new Error(JSON.stringify(status));
    return true;
  };
  const openInner = async (): Promise<Kubectl> =>
    new Kubectl((await rookery.run('cluster', 'kubeconfig', name, '--path')).stdout.trim());

  test('the command line makes one in a cluster that it made', LONG, async () => {
    await host.run('create', 'namespace', namespace);
    await host.run('create', 'configmap', 'theirs', '-n', namespace);
    leftovers = await hostLeftovers(store);
    const args = ['cluster', 'create', name, '-p', 'vcluster', '--host', HOST];
    const created = await rookery.run(...args, '--kubernetes-version', kubernetesVersion);
    expect(created, created.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`${name} is ready`) });
    expect((await rookery.run('cluster', 'list')).stdout).toMatch(/vc-cli +Ready +vcluster +virtual/);
    inner = await openInner();
  });

  test('its pods run on the host, names are answered, and a pod of the host can reach it', LONG, async () => {
    await inner.apply(deployment('web'), pod('tenant', { command: ['sleep', '3600'] }));
    await inner.untilAvailable('web');
    await inner.untilPodReady('tenant');
    const synced = (await host.pods('-n', namespace)).map((item) => item.metadata.name);
    expect(synced).toContain(`tenant-x-default-x-${name}`);
    await dnsWorks(inner);
    const internal = (await rookery.run('cluster', 'kubeconfig', name, '--internal')).stdout;
    expect(internal).toContain(`https://${name}.${namespace}`);
    const seen = await namespacesFromInside(namespace, internal);
    expect(seen).toContain('namespace/kube-system');
    expect(seen).not.toContain(`namespace/${namespace}`);
  });

  fullTest(
    'comes back at the same address after its StatefulSet, Service and configuration were deleted by hand',
    LONG,
    async () => {
      const address = () => rookery.kubectl.run('get', 'vcluster', name, '-o', 'jsonpath={.spec.controlPlaneEndpoint}');
      const before = await address();
      const things = [`statefulset/${name}`, `service/${name}`, `secret/vc-config-${name}`];
      await host.run('delete', ...things, '-n', namespace);
      await waitFor(
        'its return',
        60_000,
        async () => (await host.try(['get', ...things, '-n', namespace])).code === 0,
        500,
      );
      await waitFor(
        'its objects',
        200_000,
        async () => (await (await openInner()).try(['get', 'deploy', 'web'])).code === 0,
        1000,
      );
      await waitFor('ready', 200_000, isReady, 1000);
      expect(await address()).toBe(before);
    },
  );

  test('deleting it leaves the namespace as it was', LONG, async () => {
    expect(await rookery.run('cluster', 'delete', name)).toMatchObject({ code: 0 });
    await waitFor('nothing to be left', 60_000, async () => {
      const left = await leftovers();
      if (left.length > 0) throw new Error(left.join(', '));
      return true;
    });
    expect(await host.run('get', 'configmap', 'theirs', '-n', namespace, '-o', 'name')).toBe('configmap/theirs\n');
    await host.run('delete', 'namespace', namespace, '--timeout=60s');
  });

  test('a host that is not there is named, and what was asked for there can be deleted', LONG, async () => {
    const key = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1', kind: 'VCluster' };
    const metadata = { name: 'vc-lost', namespace: 'default' };
    await rookery.kubectl.apply({ ...key, metadata, spec: { host: { cluster: 'nowhere' }, clusterName: 'vc-lost' } });
    const failure = () => rookery.kubectl.run('get', 'vcluster', 'vc-lost', '-o', 'jsonpath={.status.failureMessage}');
    await waitFor('the reason', 30_000, async () => (await failure()).startsWith('HostMissing'));
    expect(await failure()).toContain('there is no Cluster default/nowhere');
    await rookery.kubectl.run('delete', 'vcluster', 'vc-lost', '--timeout=30s');
  });
});

// Five minutes more with the host that is there: only in the full run.
if (isFull)
  crashLoop('vcluster', async () => {
    const metadata = { name: 'big', namespace: 'default' };
    return {
      prefix: 'crash-',
      env: docker.env,
      prepare: (kubectl) =>
        kubectl.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { value: access.kubeconfig } }),
      object: (clusterName) => ({
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'VCluster',
        metadata: { name: clusterName, namespace: 'default' },
        spec: { host: { kubeconfigSecretRef: { name: 'big' } }, clusterName, kubernetesVersion },
      }),
      hasBegun: async (clusterName) => (await host.try(['get', 'namespace', `vcluster-${clusterName}`])).code === 0,
      leftovers: await hostLeftovers(store),
      close: async () => {},
      patienceMs: 400_000,
    };
  });

test('the host, made by the command line, goes as well and leaves nothing', LONG, async () => {
  expect((await rookery.run('cluster', 'list')).stdout).toMatch(new RegExp(`${HOST} +Ready +kind +container`));
  expect(await rookery.run('cluster', 'delete', HOST)).toMatchObject({ code: 0 });
  expect(await docker.found(HOST)).toEqual([]);
  expect(readdirSync(join(rookery.home, 'provisioners', 'kind'))).toEqual([]);
});
