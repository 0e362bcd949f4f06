// Rookery's kind provisioner on real kind and Docker: the suite every provisioner passes, then the product as people run it.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { KindProvisioner } from '../../src/provisioners/kind/kind-provisioner.ts';
import { systemProcesses } from '../../src/tools/processes.ts';
import { scratch } from '../bed/cache.ts';
import { tryRun, waitFor } from '../bed/process.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { provisionerConformance } from '../conformance/provisioner/provisioner.ts';
import { dnsWorks, podRuns } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { fullTest } from './support/full.ts';
import { killPoints } from './support/kill-points.ts';
import { hasKindNetwork, kindLeftovers } from './support/kind-leftovers.ts';
import { Kubectl } from './support/kubectl.ts';
import { Rookery } from './support/rookery.ts';

const prefix = `conf${process.pid}-`;

provisionerConformance('kind on the bed', async () => {
  const docker = await engine('node-image');
  await docker.clear(prefix);
  if ((await kindLeftovers(docker, prefix)).includes('network kind'))
    await docker.try('docker', 'network', 'rm', 'kind');
  const folder = scratch('provisioner-kind');
  const foreign = (name: string) => ['--name', name, '--kubeconfig', join(folder, 'foreign.kubeconfig')];
  const homes = () => readdirSync(folder).filter((name) => name.startsWith(prefix));
  const killTools = async () => {
    for (const id of homes()) {
      const file = join(folder, id, 'run', 'pid');
      if (existsSync(file)) await tryRun('kill', ['-9', '--', `-${readFileSync(file, 'utf8').trim()}`]);
    }
  };
  return {
    prefix,
    open: () =>
      new KindProvisioner({ processes: systemProcesses(docker.env), clock: systemClock, folder, retryMs: 2000 }),
    spec: (clusterName) => ({ clusterName, kubernetesVersion }),
    killTools,
    foreign: async (name) => {
      await docker.run('kind', 'create', 'cluster', '--image', `kindest/node:${kubernetesVersion}`, ...foreign(name));
      return async () => {
        await docker.run('kind', 'delete', 'cluster', ...foreign(name));
        await docker.try('docker', 'network', 'rm', 'kind');
      };
    },
    leftovers: async () => [...(await kindLeftovers(docker, prefix)), ...homes().map((id) => `folder ${id}`)],
    close: async () => {
      await killTools();
      await docker.clear(prefix);
      await docker.release();
      rmSync(folder, { recursive: true, force: true });
    },
    patienceMs: 200_000,
    callMs: 30_000,
    killPoints: killPoints(2500, 9000),
  };
});

describe('KINDCluster', () => {
  let docker: Engine;
  let rookery: Rookery;
  let root: Kubectl;
  /** The network was there before: somebody else's, which stays. */
  let isShared: boolean;

  const seed = (name: string, clusterName: string) => ({
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'KINDCluster',
    metadata: { name, namespace: 'default' },
    spec: { clusterName, kubernetesVersion: kubernetesVersion.replace(/^v|\.\d+$/g, '') },
  });
  const isReady = async (name: string): Promise<boolean> => {
    const found = await root.get<{ status?: { ready?: boolean; failureMessage?: string } }>('kindcluster', name);
    if (!found.status?.ready) throw new Error(JSON.stringify(found.status));
    return true;
  };

  beforeAll(async () => {
    docker = await engine('node-image');
    await docker.clear('e2e-');
    isShared = await hasKindNetwork(docker);
    rookery = new Rookery('provisioner-kind-home', docker.env);
    root = rookery.kubectl;
    await rookery.up();
  });
  afterAll(async () => {
    await rookery?.close();
    await docker?.clear('e2e-');
    await docker?.release();
  });

  test('the object of seed 003 becomes a cluster, though Rookery is killed while it is made', async () => {
    await root.apply(seed('dev', 'e2e-dev'));
    await waitFor('a container', 60_000, async () => (await docker.found('e2e-dev')).length > 0);
    await rookery.end();
    await rookery.up();
    await waitFor('ready', 200_000, () => isReady('dev'), 1000);
    const secret = await root.get<{ data: { config: string } }>('secret', 'e2e-dev-config');
    const file = join(rookery.home, 'e2e-dev.kubeconfig');
    writeFileSync(file, Buffer.from(secret.data.config, 'base64'), { mode: 0o600 });
    const cluster = new Kubectl(file);
    await cluster.untilReady(1);
    await podRuns(cluster);
    await dnsWorks(cluster);
  });

  test('a second object for the same cluster is refused', async () => {
    await root.apply(seed('rival', 'e2e-dev'));
    await waitFor('the refusal', 30_000, async () =>
      (await root.run('get', 'kindcluster', 'rival', '-o', 'jsonpath={.status.failureMessage}')).startsWith(
        'NameTaken',
      ),
    );
    await root.run('delete', 'kindcluster', 'rival', '--timeout=60s');
    expect(await docker.found('e2e-dev')).not.toEqual([]);
  });

  test('a container stopped by hand is started again', async () => {
    await docker.docker('stop', '--time', '5', 'e2e-dev-control-plane');
    const state = () => docker.docker('inspect', '--format', '{{.State.Status}}', 'e2e-dev-control-plane');
    await waitFor('the container', 60_000, async () => (await state()).trim() === 'running', 500);
    await waitFor('ready', 200_000, () => isReady('dev'), 1000);
  });

  test('deleting it leaves nothing', async () => {
    await root.run('delete', 'kindcluster', 'dev', '--timeout=100s');
    expect(await kindLeftovers(docker, 'e2e-', isShared)).toEqual([]);
    expect((await root.try(['get', 'secret', 'e2e-dev-config'])).code).not.toBe(0);
    expect(await root.run('get', 'events', '-o', 'jsonpath={.items[*].message}')).toContain(
      'container e2e-dev-control-plane',
    );
  });

  // In a short run, the suite of vcluster makes its host so, and removes it.
  fullTest('the command line makes one with a Cluster over it, and removes it', async () => {
    const created = await rookery.run('cluster', 'create', 'e2e-cli', '--provisioner', 'kind', '--nodes', '1');
    expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining('e2e-cli is ready') });
    const path = (await rookery.run('cluster', 'kubeconfig', 'e2e-cli', '--path')).stdout.trim();
    await new Kubectl(path).untilReady(1);
    expect((await rookery.run('cluster', 'list')).stdout).toMatch(/e2e-cli +Ready +kind +container/);
    expect(await rookery.run('cluster', 'delete', 'e2e-cli')).toMatchObject({ code: 0 });
    expect(await kindLeftovers(docker, 'e2e-', isShared)).toEqual([]);
    expect(readdirSync(join(rookery.home, 'provisioners', 'kind'))).toEqual([]);
  });

  test('the command line says which versions cannot be had', async () => {
    const refused = await rookery.run('cluster', 'create', 'e2e-old', '-p', 'kind', '--kubernetes-version', '1.13');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('1.13 cannot be had') });
    expect(await rookery.run('cluster', 'delete', 'e2e-old')).toMatchObject({ code: 0 });
  });

  test('the doctor finds that kind works here', async () => {
    expect(await rookery.run('doctor', '--provisioner', 'kind')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('kind: works here'),
    });
  });
});
