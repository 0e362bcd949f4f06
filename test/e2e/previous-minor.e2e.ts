import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../bed/cache.ts';
import { previousKubernetesVersion } from '../bed/versions.ts';
import { podRuns } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { Kubectl } from './support/kubectl.ts';

const name = 'bed-previous';

describe('the minor before, from which upgrades start', () => {
  const folder = scratch('previous');
  const kubectl = new Kubectl(join(folder, 'kubeconfig'));
  let docker: Engine;
  beforeAll(async () => {
    docker = await engine('node-image-previous');
    await docker.clear(name);
  });
  afterAll(async () => {
    await docker?.try('kind', 'delete', 'cluster', '--name', name, '--kubeconfig', kubectl.kubeconfig);
    await docker?.try('docker', 'network', 'rm', 'kind');
    await docker?.release();
    rmSync(folder, { recursive: true, force: true });
  });

  test('makes a cluster in which a pod runs', async () => {
    await docker.run(
      'kind',
      'create',
      'cluster',
      '--name',
      name,
      '--image',
      `kindest/node:${previousKubernetesVersion}`,
      '--wait',
      '120s',
      '--kubeconfig',
      kubectl.kubeconfig,
    );
    await kubectl.untilReady(1);
    expect((await kubectl.nodes()).map((node) => node.status.nodeInfo.kubeletVersion)).toEqual([
      previousKubernetesVersion,
    ]);
    await podRuns(kubectl);
  });
});
