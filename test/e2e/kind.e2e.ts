import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../bed/cache.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { dnsWorks, networkWorks, podRuns, volumeKeeps } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { fullTest, isFull } from './support/full.ts';
import { Kubectl } from './support/kubectl.ts';
import { pod } from './support/workload.ts';

const name = 'bed-kind';
// In a short run, the suite of kubeadm has a worker.
const nodes = [`${name}-control-plane`, ...(isFull ? [`${name}-worker`] : [])];

describe('kind', () => {
  const folder = scratch('kind');
  const kubectl = new Kubectl(join(folder, 'kubeconfig'));
  let docker: Engine;
  beforeAll(async () => {
    docker = await engine('node-image');
    await docker.clear(name);
  });
  afterAll(async () => {
    await docker?.try('kind', 'delete', 'cluster', '--name', name, '--kubeconfig', kubectl.kubeconfig);
    // kind shares this network among its clusters and never removes it.
    await docker?.try('docker', 'network', 'rm', 'kind');
    await docker?.release();
    rmSync(folder, { recursive: true, force: true });
  });

  test('creates a cluster from the home-made node image', async () => {
    const config = join(folder, 'kind.json');
    const roles = nodes.map((_, index) => ({ role: index === 0 ? 'control-plane' : 'worker' }));
    writeFileSync(config, JSON.stringify({ kind: 'Cluster', apiVersion: 'kind.x-k8s.io/v1alpha4', nodes: roles }));
    await docker.run(
      'kind',
      'create',
      'cluster',
      '--name',
      name,
      '--config',
      config,
      '--image',
      `kindest/node:${kubernetesVersion}`,
      '--wait',
      '120s',
      '--kubeconfig',
      kubectl.kubeconfig,
    );
    await kubectl.untilReady(nodes.length);
    expect(
      (await kubectl.nodes()).map((node) => `${node.metadata.name} ${node.status.nodeInfo.kubeletVersion}`),
    ).toEqual(nodes.map((node) => `${node} ${kubernetesVersion}`));
  });

  test('a pod runs, answers exec and goes', () => podRuns(kubectl));
  fullTest('pods reach each other across nodes, by address and by Service', () =>
    networkWorks(kubectl, nodes as [string, string]),
  );
  test('names are resolved', () => dnsWorks(kubectl));
  fullTest('pods find the nodes by name', async () => {
    for (const node of nodes) {
      await kubectl.apply(pod(`on-${node}`, { node, command: ['sleep', '3600'] }));
      await kubectl.untilPodReady(`on-${node}`);
      for (const other of nodes)
        expect(await kubectl.exec(`on-${node}`, 'nslookup', '-type=a', `${other}.`)).toMatch(/Address: 10\.20[01]\./);
      await kubectl.run('delete', 'pod', `on-${node}`);
    }
  });
  // In a short run, the suite of kubeadm shows it.
  fullTest('a volume outlives its pod', () => volumeKeeps(kubectl));

  test('delete leaves nothing', async () => {
    await docker.run('kind', 'delete', 'cluster', '--name', name, '--kubeconfig', kubectl.kubeconfig);
    expect(await docker.found(name)).toEqual([]);
    expect((await docker.run('kind', 'get', 'clusters')).split('\n')).not.toContain(name);
  });
});
