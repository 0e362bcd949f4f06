import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../bed/cache.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { dnsWorks, podRuns, volumeKeeps } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { Kubectl } from './support/kubectl.ts';

const name = 'bed-kind';

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
    await docker.run(
      'kind',
      'create',
      'cluster',
      '--name',
      name,
      '--image',
      `kindest/node:${kubernetesVersion}`,
      '--wait',
      '120s',
      '--kubeconfig',
      kubectl.kubeconfig,
    );
    await kubectl.untilReady(1);
    expect((await kubectl.nodes()).map((node) => node.status.nodeInfo.kubeletVersion)).toEqual([kubernetesVersion]);
  });

  test('a pod runs, answers exec and goes', () => podRuns(kubectl));
  test('names are resolved', () => dnsWorks(kubectl));
  test('a volume outlives its pod', () => volumeKeeps(kubectl));

  test('delete leaves nothing', async () => {
    await docker.run('kind', 'delete', 'cluster', '--name', name, '--kubeconfig', kubectl.kubeconfig);
    expect(await docker.found(name)).toEqual([]);
    expect((await docker.run('kind', 'get', 'clusters')).split('\n')).not.toContain(name);
  });
});
