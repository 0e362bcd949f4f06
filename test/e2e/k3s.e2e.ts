import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../bed/cache.ts';
import { waitFor } from '../bed/process.ts';
import { k3sVersion } from '../bed/versions.ts';
import { dnsWorks, podRuns, volumeKeeps } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { fullTest } from './support/full.ts';
import { Kubectl } from './support/kubectl.ts';

const name = 'bed-k3s';

describe('k3s in a container', () => {
  const folder = scratch('k3s');
  const kubectl = new Kubectl(join(folder, 'kubeconfig'));
  let docker: Engine;
  beforeAll(async () => {
    docker = await engine('k3s-image');
    await docker.clear(name);
  });
  afterAll(async () => {
    await docker?.try('docker', 'rm', '-f', '-v', name);
    await docker?.release();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a server becomes Ready', async () => {
    const image = `rancher/k3s:${k3sVersion.replace('+', '-')}`;
    const server = ['server', '--disable=traefik,servicelb,metrics-server', '--tls-san=127.0.0.1'];
    await docker.docker(
      'run',
      '-d',
      '--name',
      name,
      '--hostname',
      name,
      '--privileged',
      '--cgroupns=private',
      '--tmpfs',
      '/run',
      '--tmpfs',
      '/var/run',
      '-p',
      '127.0.0.1::6443',
      image,
      ...server,
    );
    const port = (await docker.docker('port', name, '6443/tcp')).trim().split(':').at(-1);
    const config = await waitFor(
      'k3s to write its kubeconfig',
      60_000,
      () => docker.docker('exec', name, 'cat', '/etc/rancher/k3s/k3s.yaml'),
      500,
    );
    writeFileSync(kubectl.kubeconfig, config.replace(/server: .*/, `server: https://127.0.0.1:${port}`), {
      mode: 0o600,
    });
    await waitFor('the API', 60_000, async () => (await kubectl.try(['get', '--raw', '/readyz'])).code === 0);
    await kubectl.untilReady(1);
    expect((await kubectl.nodes()).map((node) => node.status.nodeInfo.kubeletVersion)).toEqual([k3sVersion]);
  });

  test('a pod runs', () => podRuns(kubectl));
  test('names are resolved', () => dnsWorks(kubectl));
  // In a short run, the suite of kubeadm shows it.
  fullTest('a volume outlives its pod', () => volumeKeeps(kubectl));

  test('removing it leaves no volume behind', async () => {
    await docker.docker('rm', '-f', '-v', name);
    expect(await docker.found(name)).toEqual([]);
  });
});
