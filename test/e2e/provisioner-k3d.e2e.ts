// Rookery's k3d provisioner on real k3d and Docker: the suite every provisioner passes, and the product as people run it.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { K3dProvisioner } from '../../src/provisioners/k3d/k3d-provisioner.ts';
import { systemProcesses } from '../../src/tools/processes.ts';
import { scratch } from '../bed/cache.ts';
import { tryRun, waitFor } from '../bed/process.ts';
import { k3sVersion } from '../bed/versions.ts';
import { provisionerConformance } from '../conformance/provisioner/provisioner.ts';
import { podRuns } from './support/checks.ts';
import { fullTest } from './support/full.ts';
import { type K3dEngine, k3dEngine, quiet } from './support/k3d-provisioner.ts';
import { killPoints } from './support/kill-points.ts';
import { Kubectl } from './support/kubectl.ts';
import { Rookery } from './support/rookery.ts';
import { pod } from './support/workload.ts';

const image = `rancher/k3s:${k3sVersion.replace('+', '-')}`;
const own = `${process.pid % 10_000}`;

/** kubectl in a container on the cluster's network; the node image has it. */
async function namespacesFromInside(docker: K3dEngine, cluster: string, kubeconfig: string): Promise<string> {
  const file = join(scratch('k3d-inside'), 'kubeconfig');
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const where = ['--rm', '--network', `k3d-${cluster}`, '--volume', `${file}:/kubeconfig:ro`];
  const command = ['--kubeconfig', '/kubeconfig', 'get', 'namespaces', '-o', 'name'];
  try {
    return await docker.docker('run', ...where, '--entrypoint', 'kubectl', image, ...command);
  } finally {
    rmSync(join(file, '..'), { recursive: true });
  }
}

provisionerConformance('k3d on the bed', async () => {
  const prefix = `c${own}-`;
  const docker = await k3dEngine(prefix, 'k3d-proxy-image');
  const folder = scratch('provisioner-k3d');
  const homes = () => readdirSync(folder).filter((name) => name.startsWith(prefix));
  const killTools = async () => {
    for (const id of homes()) {
      const file = join(folder, id, 'run', 'pid');
      if (existsSync(file)) await tryRun('kill', ['-9', '--', `-${readFileSync(file, 'utf8').trim()}`]);
    }
  };
  const open = (env = docker.env) =>
    new K3dProvisioner({ processes: systemProcesses(env), clock: systemClock, folder, retryMs: 2000 });
  return {
    prefix,
    open,
    // With its load balancer where everything is tried, without it elsewhere.
    spec: (clusterName) => ({
      clusterName,
      kubernetesVersion: k3sVersion,
      k3sArgs: quiet,
      loadBalancer: clusterName.endsWith('one'),
    }),
    killTools,
    foreign: async (name) => {
      const config = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'foreign'), KUBECONFIG: join(folder, 'foreign') };
      const env = { ...docker.env, ...config };
      const args = ['--image', image, '--no-lb', '--wait=false', '--kubeconfig-update-default=false'];
      expect(await tryRun('k3d', ['cluster', 'create', name, ...args], { env })).toMatchObject({ code: 0 });
      return async () => void (await tryRun('k3d', ['cluster', 'delete', name], { env }));
    },
    leftovers: async () => [...(await docker.leftOf(prefix)), ...homes().map((id) => `folder ${id}`)],
    close: async () => {
      await killTools();
      await docker.clear(`k3d-${prefix}`);
      await docker.release();
      rmSync(folder, { recursive: true, force: true });
    },
    servesApi: true,
    namespacesFromInside: ({ name }, kubeconfig) => namespacesFromInside(docker, name, kubeconfig),
    scaled: (spec, more) => ({ ...spec, agents: (spec.agents ?? 0) + more }),
    // The engine is everybody's: this one looks for it where it is not.
    cutOff: async () => ({
      provisioner: open({ ...docker.env, DOCKER_HOST: `unix://${join(folder, 'no.sock')}` }),
      end: async () => {},
    }),
    patienceMs: 240_000,
    callMs: 30_000,
    killPoints: killPoints(1000, 5000),
  };
});

/** On a busy machine each step may take minutes. */
const LONG = { timeout: 600_000 };

describe('K3dCluster', () => {
  const prefix = `p${own}-`;
  const name = `${prefix}dev`;
  let docker: K3dEngine;
  let rookery: Rookery;
  let cluster: Kubectl;
  const isRunning = async (container: string) =>
    (await docker.docker('inspect', '--format', '{{.State.Running}}', container)).trim() === 'true';
  const status = () =>
    rookery.kubectl.get<{ status: { ready: boolean; nodes: { name: string; ready: boolean }[] } }>('k3dcluster', name);

  beforeAll(async () => {
    docker = await k3dEngine(prefix);
    rookery = new Rookery('provisioner-k3d-home', docker.env);
    await rookery.up();
  });
  afterAll(async () => {
    await rookery?.close();
    await docker?.clear(`k3d-${prefix}`);
    await docker?.release();
  });

  test('the command line makes one with two nodes, and a pod runs', LONG, async () => {
    const created = await rookery.run('cluster', 'create', name, '-p', 'k3d', '--nodes', '2');
    expect(created, created.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`${name} is ready`) });
    cluster = new Kubectl((await rookery.run('cluster', 'kubeconfig', name, '--path')).stdout.trim());
    await cluster.untilReady(2);
    await podRuns(cluster);
    expect((await rookery.run('cluster', 'list')).stdout).toMatch(new RegExp(`${name} +Ready +k3d`));
  });

  test('a container on its network uses the kubeconfig that is stored for it', LONG, async () => {
    const { data } = await rookery.kubectl.get<{ data: Record<string, string> }>('secret', `${name}-kubeconfig`);
    const internal = Buffer.from(data.internal ?? '', 'base64').toString();
    expect(await namespacesFromInside(docker, name, internal)).toContain('namespace/kube-system');
  });

  test('an agent stopped by hand is started again', LONG, async () => {
    await docker.docker('stop', '--time', '1', `k3d-${name}-agent-0`);
    await waitFor('the agent', 300_000, () => isRunning(`k3d-${name}-agent-0`), 500);
    await waitFor('ready', 300_000, async () => (await status()).status.ready, 500);
  });

  // In a short run, the suite of all provisioners suspends and scales.
  fullTest('suspended and resumed, it has what it had, pods that nobody would make again among it', LONG, async () => {
    await cluster.run('create', 'configmap', 'kept', '--from-literal=text=still-here');
    await cluster.apply(pod('bare', { node: `k3d-${name}-server-0`, command: ['sleep', '3600'] }));
    await cluster.untilPodReady('bare');
    expect(await rookery.run('cluster', 'suspend', name, '--timeout', '200')).toMatchObject({ code: 0 });
    expect(await isRunning(`k3d-${name}-server-0`)).toBe(false);
    const resumed = await rookery.run('cluster', 'resume', name, '--timeout', '500');
    expect(resumed, resumed.stderr).toMatchObject({ code: 0 });
    expect(await cluster.run('get', 'configmap', 'kept', '-o', 'jsonpath={.data.text}')).toBe('still-here');
    await cluster.untilPodReady('bare');
  });

  fullTest('scaled in and out, it has the nodes asked for, also when one was removed by hand', LONG, async () => {
    expect(await rookery.run('cluster', 'scale', name, '--nodes', '1')).toMatchObject({ code: 0 });
    expect((await cluster.nodes()).map((node) => node.metadata.name)).toEqual([`k3d-${name}-server-0`]);
    const scaled = await rookery.run('cluster', 'scale', name, '--nodes', '2');
    expect(scaled, scaled.stderr).toMatchObject({ code: 0 });
    const [agent] = (await status()).status.nodes.map((node) => node.name).filter((one) => one.includes('agent'));
    await docker.docker('rm', '-f', '-v', agent as string);
    await waitFor('another agent', 300_000, async () => {
      const { ready, nodes } = (await status()).status;
      return ready && nodes.length === 2 && !nodes.some((node) => node.name === agent);
    });
    expect((await cluster.nodes()).map((node) => node.metadata.name)).not.toContain(agent);
  });

  test('deleted, it leaves nothing, though somebody is on its network', LONG, async () => {
    const guest = `${prefix}guest`;
    await docker.docker(
      'run',
      '-d',
      '--name',
      guest,
      '--network',
      `k3d-${name}`,
      '--entrypoint',
      'sleep',
      image,
      '600',
    );
    try {
      expect(await rookery.run('cluster', 'delete', name)).toMatchObject({ code: 0 });
      expect(await isRunning(guest)).toBe(true);
      expect(await docker.leftOf(prefix)).toEqual([]);
      expect(readdirSync(join(rookery.home, 'provisioners', 'k3d'))).toEqual([]);
    } finally {
      await docker.docker('rm', '-f', '-v', guest);
    }
  });

  test('the doctor finds that k3d works here', LONG, async () => {
    expect(await rookery.run('doctor', '--provisioner', 'k3d')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('k3d: works here'),
    });
  });
});
