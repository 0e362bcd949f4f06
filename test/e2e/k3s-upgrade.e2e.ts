// A k3s on a machine is brought to the next release in place, over SSH, with programs and images of the offline folder: what runs on it goes on,
// a way back is refused, and a Rookery that is killed in the middle finishes it.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Of } from '../../src/provisioners/k3s/binaries.ts';
import { folderOf, scratch } from '../bed/cache.ts';
import { program } from '../bed/environment.ts';
import { bedSource } from '../bed/paths.ts';
import { waitFor } from '../bed/process.ts';
import { k3sUpgradeVersions } from '../bed/versions.ts';
import { type Engine, engine } from './support/engine.ts';
import { containerSpec, type K3sMachine, k3sMachine, sshKey } from './support/k3s-machine.ts';
import { Kubectl } from './support/kubectl.ts';
import { Traces } from './support/machine-traces.ts';
import { Rookery } from './support/rookery.ts';
import { pod } from './support/workload.ts';

const { from, to } = k3sUpgradeVersions;
const name = 'lab';
const host = `rk3sup${process.pid}-host`;
const ourFolder = '/var/lib/rookery/k3s';
const programs = { [from]: program('k3s-upgrade-from', `k3s-${from}`), [to]: program('k3s-upgrade-to', `k3s-${to}`) };

interface K3sClusterObject {
  readonly status?: { readonly ready?: boolean; readonly version?: string; readonly failureMessage?: string };
}
interface WorkloadPod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly containerStatuses: { readonly restartCount: number; readonly containerID: string }[] };
}

/** Says what its ConfigMap holds. */
const workload = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'greeting' },
    data: { 'index.html': 'here before the upgrade' },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'greeter' },
    spec: {
      selector: { matchLabels: { app: 'greeter' } },
      template: {
        metadata: { labels: { app: 'greeter' } },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'main',
              image: 'rookery-bed/busybox:1',
              imagePullPolicy: 'IfNotPresent',
              command: ['httpd', '-f', '-p', '8080', '-h', '/www'],
              volumeMounts: [{ name: 'www', mountPath: '/www' }],
            },
          ],
          volumes: [{ name: 'www', configMap: { name: 'greeting' } }],
        },
      },
    },
  },
];

describe('a K3sCluster over SSH is upgraded in place', () => {
  const folder = scratch('k3s-upgrade');
  let docker: Engine;
  let machine: K3sMachine;
  let traces: Traces;
  let rookery: Rookery;
  let cluster: Kubectl;
  let before: WorkloadPod;

  const found = async (): Promise<NonNullable<K3sClusterObject['status']>> =>
    (await rookery.kubectl.get<K3sClusterObject>('k3scluster', name)).status ?? {};
  const runs = (version: string): Promise<boolean> =>
    waitFor(
      `${name} to run ${version}`,
      300_000,
      async () => {
        const now = await found();
        if (now.ready && now.version === version) return true;
        throw new Error(JSON.stringify(now));
      },
      500,
    );
  const create = async (): Promise<void> => {
    const infrastructure = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'K3sCluster', name };
    await rookery.kubectl.apply(
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name, namespace: 'default' },
        spec: { infrastructureRef: infrastructure, controlPlaneRef: infrastructure },
      },
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'K3sCluster',
        metadata: { name, namespace: 'default' },
        spec: {
          host: { ssh: { address: machine.address, keySecretRef: { name: `${name}-ssh-key` } } },
          kubernetesVersion: from,
          airgapImages: [join(folderOf('k3s-upgrade-images'), 'image.tar')],
          ...containerSpec,
          // k3s 1.32 has another containerd than the release for which the machine was made.
          containerdTemplate: readFileSync(join(bedSource, 'images/k3s-upgrade/config.toml.tmpl'), 'utf8'),
        },
      },
    );
    await runs(from);
    const secret = await rookery.kubectl.get<{ data: { value: string } }>('secret', `${name}-kubeconfig`);
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, Buffer.from(secret.data.value, 'base64'), { mode: 0o600 });
    cluster = new Kubectl(file);
    await cluster.apply(...workload);
    await cluster.untilAvailable('greeter');
    before = await greeter();
  };
  const greeter = async (): Promise<WorkloadPod> => {
    const { items } = await cluster.get<{ items: WorkloadPod[] }>('pods', '-l', 'app=greeter');
    expect(items).toHaveLength(1);
    return items[0] as WorkloadPod;
  };
  /** Server and node say the version themselves; what was made in the cluster is there, and its container was not even started again. */
  const isWholeAt = async (version: string): Promise<void> => {
    const server = JSON.parse(await cluster.run('get', '--raw', '/version')) as { gitVersion: string };
    expect(server.gitVersion).toBe(version);
    await waitFor(`the node to say ${version}`, 60_000, async () => {
      const [node] = await cluster.nodes();
      if (node?.status.nodeInfo.kubeletVersion === version) return true;
      throw new Error(`the kubelet is ${node?.status.nodeInfo.kubeletVersion}`);
    });
    await cluster.untilReady(1);
    await cluster.untilAvailable('greeter');
    expect(await cluster.run('get', 'configmap', 'greeting', '-o', 'jsonpath={.data}')).toContain('before the upgrade');
    const now = await greeter();
    expect(now.metadata.uid).toBe(before.metadata.uid);
    expect(now.status.containerStatuses).toEqual([
      expect.objectContaining({
        restartCount: 0,
        containerID: before.status.containerStatuses[0]?.containerID,
      }),
    ]);
    const answer = await cluster.exec(now.metadata.name, 'wget', '-qO-', 'http://127.0.0.1:8080');
    expect(answer).toContain('here before the upgrade');
  };
  const isGone = async (): Promise<void> => {
    expect(await rookery.run('cluster', 'delete', name)).toMatchObject({ code: 0 });
    expect((await rookery.kubectl.try(['get', 'k3scluster', name])).stderr).toContain('not found');
    expect(await traces.left()).toEqual([]);
  };

  beforeAll(async () => {
    docker = await engine('k3s-image');
    await docker.clear(host);
    mkdirSync(join(folder, 'tools'), { recursive: true });
    for (const [version, file] of Object.entries(programs)) symlinkSync(file, join(folder, 'tools', `k3s-${version}`));
    const key = await sshKey(folder);
    machine = await k3sMachine(docker, host, { init: 'systemd', publicKey: key.publicKey });
    traces = await Traces.of(machine);
    rookery = new Rookery('k3s-upgrade-home', { ...docker.env, ROOKERY_TOOLS: join(folder, 'tools') });
    await rookery.up();
    await rookery.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/ssh-auth',
      metadata: { name: `${name}-ssh-key`, namespace: 'default' },
      stringData: { 'ssh-privatekey': key.privateKey },
    });
  });
  afterAll(async () => {
    await rookery?.close();
    await docker?.clear(host);
    await docker?.release();
    rmSync(folder, { recursive: true, force: true });
  });

  test(`${from} is made, and a Deployment runs on it`, { timeout: 480_000 }, async () => {
    await create();
    await isWholeAt(from);
  });

  test(`rookery cluster upgrade brings it to ${to}, and its pod goes on`, { timeout: 480_000 }, async () => {
    const upgraded = await rookery.run('cluster', 'upgrade', name, '--kubernetes-version', to);
    expect(upgraded).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') });
    expect(upgraded.stdout).toContain(`cluster ${name} runs Kubernetes ${to} (was ${from})`);
    await isWholeAt(to);
    await cluster.apply(pod('newcomer'));
    await cluster.untilPodReady('newcomer');
    expect(await cluster.exec('newcomer', 'hostname')).toBe('newcomer\n');
  });

  test('a way back is refused, and says why', { timeout: 240_000 }, async () => {
    const back = await rookery.run('cluster', 'upgrade', name, '--kubernetes-version', '1.31');
    expect(back.code).not.toBe(0);
    expect(back.stderr).toContain(`${name} runs ${to} and cannot go back to 1.31`);
    // Past the command, as anybody can who may write the object.
    const ask = (version: string): Promise<string> =>
      rookery.kubectl.run(
        'patch',
        'k3scluster',
        name,
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { kubernetesVersion: version } }),
      );
    await ask(from);
    await waitFor('the refusal', 60_000, async () => {
      const { failureMessage = '' } = await found();
      if (failureMessage === `UpgradeRefused: Kubernetes ${to} cannot go back to ${from}`) return true;
      throw new Error(failureMessage || 'nothing was said');
    });
    await isWholeAt(to);
    await ask(to);
    await runs(to);
  });

  test('deleting it leaves nothing on the machine', { timeout: 240_000 }, isGone);

  test('an upgrade goes on though Rookery is killed while it copies and while it restarts', {
    timeout: 600_000,
  }, async () => {
    await create();
    const requested = await rookery.run('cluster', 'upgrade', name, '--kubernetes-version', to, '--no-wait');
    expect(requested).toMatchObject({ code: 0 });
    const sha256 = await sha256Of(programs[to] as string);
    await waitFor(
      'the new program to be on its way',
      60_000,
      () => machine.sh(`ls ${ourFolder}/bin | grep k3s-${sha256.slice(0, 12)}`),
      50,
    );
    await rookery.end('SIGKILL');
    await isWholeAt(from);
    await rookery.up();
    await waitFor(
      'the new program in its place',
      120_000,
      () => machine.sh(`grep ${sha256} ${ourFolder}/bin/k3s.sha256`),
      50,
    );
    await rookery.end('SIGKILL');
    await rookery.up();
    await runs(to);
    await isWholeAt(to);
    await isGone();
  });
});
