// Rookery's vclusters in a real host cluster, which Rookery made too: the suite every provisioner passes, what runs inside, what is repaired, and the product
// as people use it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sleep, systemClock } from '../../src/clock.ts';
import { loadKubeconfig, RemoteStore } from '../../src/kube/index.ts';
import type { ClusterRequest, Progress } from '../../src/provisioners/provisioner.ts';
import { vclusterConfig } from '../../src/provisioners/vcluster/config.ts';
import { namespaceOf, type VclusterSpec } from '../../src/provisioners/vcluster/marks.ts';
import { VclusterProvisioner } from '../../src/provisioners/vcluster/vcluster-provisioner.ts';
import { scratch } from '../bed/cache.ts';
import { waitFor } from '../bed/process.ts';
import { kubernetesVersion, vclusterVersion } from '../bed/versions.ts';
import { provisionerConformance } from '../conformance/provisioner/provisioner.ts';
import { hostLeftovers } from '../conformance/provisioner/vcluster-host.ts';
import { dnsWorks } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { Kubectl } from './support/kubectl.ts';
import { Rookery } from './support/rookery.ts';
import { renderChart } from './support/vcluster-chart.ts';
import { loadVclusterImages } from './support/vcluster-images.ts';
import { deployment, pod } from './support/workload.ts';

const HOST = 'vchost';
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
  const made = await rookery.run('cluster', 'create', HOST, '--provisioner', 'kind', '--timeout', '220');
  expect(made, made.stderr).toMatchObject({ code: 0 });
  await loadVclusterImages(docker, `${HOST}-control-plane`);
  const path = (await rookery.run('cluster', 'kubeconfig', HOST, '--path')).stdout.trim();
  host = new Kubectl(path);
  access = { kubeconfig: readFileSync(path, 'utf8') };
  store = new RemoteStore({ connection: await loadKubeconfig({ data: access.kubeconfig }) });
});
afterAll(async () => {
  await store?.close();
  await rookery?.run('cluster', 'delete', HOST);
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

describe('a vcluster', () => {
  const provisioner = new VclusterProvisioner({ clock: systemClock });
  const inner = new Kubectl(join(folder, 'inner.kubeconfig'));
  // A namespace that is there already and stays: with something of others in it.
  const namespace = 'shared';
  const wanted = spec('inner', { namespace, sync: { nodes: true, priorityClasses: true } });
  const request: ClusterRequest<VclusterSpec> = {
    id: 'u-inner',
    name: 'inner',
    spec: wanted,
    access,
    resolved: { version: kubernetesVersion, image: '' },
    initialized: true,
  } as ClusterRequest<VclusterSpec>;
  let leftovers: () => Promise<string[]>;
  const until = async (phase: Progress['phase'], call: () => Promise<Progress>) => {
    const end = Date.now() + 200_000;
    for (;;) {
      const progress = await call();
      if (progress.phase === phase) return progress;
      if (progress.phase === 'refused' || Date.now() > end) throw new Error(JSON.stringify(progress));
      await sleep(systemClock, progress.lookAgainMs ?? 500);
    }
  };
  const ready = () => until('ready', () => provisioner.ensure({ ...request, access }));
  const ref = () => ({ ...request, access });

  test('is reached with its certificate checked, from here and from a pod of its host', async () => {
    await host.run('create', 'namespace', namespace);
    await host.run('create', 'configmap', 'theirs', '-n', namespace);
    leftovers = await hostLeftovers(store);
    await ready();
    writeFileSync(inner.kubeconfig, await provisioner.kubeconfig(ref(), 'external'), { mode: 0o600 });
    expect(readFileSync(inner.kubeconfig, 'utf8')).toContain('certificate-authority-data');
    expect((await inner.nodes()).map((node) => node.metadata.name)).toEqual([`${HOST}-control-plane`]);
    const seen = await namespacesFromInside(namespace, await provisioner.kubeconfig(ref(), 'internal'));
    expect(seen).toContain('namespace/kube-system');
    expect(seen).not.toContain(`namespace/${namespace}`);
  });

  test('its pods run on the host, and names are answered', async () => {
    await inner.apply(deployment('web'), pod('tenant', { command: ['sleep', '3600'] }));
    await inner.untilAvailable('web');
    await inner.untilPodReady('tenant');
    const synced = (await host.pods('-n', namespace)).map((item) => item.metadata.name);
    expect(synced).toContain('tenant-x-default-x-inner');
    await dnsWorks(inner);
  });

  test('is stopped with its pods and started with its objects', async () => {
    await until('suspended', () => provisioner.suspend(ref()));
    expect(await host.pods('-n', namespace)).toEqual([]);
    await ready();
    await inner.untilAvailable('web');
  });

  test('comes back after its StatefulSet, its Service and its kubeconfig were removed by hand', async () => {
    const port = (await provisioner.observe(ref())).endpoint?.port;
    await host.run('delete', 'statefulset/inner', 'service/inner', 'secret/vc-config-inner', '-n', namespace);
    const { cluster } = await ready();
    expect(cluster?.endpoint?.port).toBe(port);
    writeFileSync(inner.kubeconfig, await provisioner.kubeconfig(ref(), 'external'), { mode: 0o600 });
    await waitFor('its objects', 30_000, async () => (await inner.try(['get', 'deployment', 'web'])).code === 0);
  });

  test('leaves a namespace that is not ours as it was', async () => {
    await inner.run('create', 'priorityclass', 'urgent', '--value=7');
    await waitFor('the class in the host', 30_000, async () => (await leftovers()).some((n) => n.includes('urgent')));
    const end = Date.now() + 120_000;
    for (;;) {
      const removal = await provisioner.remove(ref());
      if (removal.isDone) break;
      if (Date.now() > end) throw new Error(JSON.stringify(removal));
      await sleep(systemClock, removal.lookAgainMs ?? 500);
    }
    await waitFor('its volume to be gone', 60_000, async () => (await host.run('get', 'pv', '-o', 'name')) === '');
    expect(await leftovers()).toEqual([]);
    expect(await host.run('get', 'configmap', 'theirs', '-n', namespace, '-o', 'name')).toBe('configmap/theirs\n');
    await host.run('delete', 'namespace', namespace, '--timeout=60s');
  });
});

describe('VCluster', () => {
  test('the command line makes one in a cluster it made, and removes it', async () => {
    const leftovers = await hostLeftovers(store);
    const args = [
      'cluster',
      'create',
      'vc-cli',
      '-p',
      'vcluster',
      '--host',
      HOST,
      '--kubernetes-version',
      kubernetesVersion,
    ];
    const created = await rookery.run(...args);
    expect(created, created.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('vc-cli is ready') });
    const path = (await rookery.run('cluster', 'kubeconfig', 'vc-cli', '--path')).stdout.trim();
    const inner = new Kubectl(path);
    await inner.apply(pod('hello', { command: ['sleep', '3600'] }));
    await inner.untilPodReady('hello');
    expect((await rookery.run('cluster', 'list')).stdout).toMatch(/vc-cli +Ready +VCluster/);
    expect(await rookery.run('cluster', 'delete', 'vc-cli')).toMatchObject({ code: 0 });
    await waitFor('its volume to be gone', 60_000, async () => (await host.run('get', 'pv', '-o', 'name')) === '');
    expect(await leftovers()).toEqual([]);
  });

  test('a host that is not there blocks, and is named; what is asked for there can be deleted', async () => {
    const key = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1', kind: 'VCluster' };
    const metadata = { name: 'vc-lost', namespace: 'default' };
    await rookery.kubectl.apply({ ...key, metadata, spec: { host: { cluster: 'nowhere' }, clusterName: 'vc-lost' } });
    const failure = () => rookery.kubectl.run('get', 'vcluster', 'vc-lost', '-o', 'jsonpath={.status.failureMessage}');
    await waitFor('the reason', 30_000, async () => (await failure()).startsWith('HostMissing'));
    expect(await failure()).toContain('there is no Cluster default/nowhere');
    await rookery.kubectl.run('delete', 'vcluster', 'vc-lost', '--timeout=30s');
  });
});
