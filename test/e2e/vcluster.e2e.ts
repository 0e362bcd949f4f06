import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { folderOf, scratch } from '../bed/cache.ts';
import { program } from '../bed/environment.ts';
import { run, waitFor } from '../bed/process.ts';
import { freePorts } from '../bed/services/port.ts';
import { kubernetesVersion, vclusterVersion } from '../bed/versions.ts';
import { type Engine, engine } from './support/engine.ts';
import { type Forward, forward } from './support/forward.ts';
import { type K3d, k3d } from './support/k3d.ts';
import { Kubectl } from './support/kubectl.ts';
import { pod } from './support/workload.ts';

const host = 'bed-host';
const name = 'inner';
const namespace = 'team';
const values = {
  telemetry: { enabled: false },
  controlPlane: {
    distro: {
      k8s: { enabled: true, version: kubernetesVersion, image: { registry: '', repository: 'loft-sh/kubernetes' } },
    },
    // The same image the host cluster resolves names with is in its nodes already.
    coredns: { enabled: true, deployment: { image: 'rancher/mirrored-coredns-coredns:1.13.1', replicas: 1 } },
    statefulSet: {
      image: { registry: '', repository: 'loft-sh/vcluster-oss', tag: vclusterVersion },
      imagePullPolicy: 'IfNotPresent',
      resources: { requests: { cpu: '50m', memory: '128Mi' } },
      persistence: { volumeClaim: { retentionPolicy: 'Delete' } },
      scheduling: { podManagementPolicy: 'Parallel' },
    },
  },
};

describe('vcluster in a k3d cluster', () => {
  const folder = scratch('vcluster');
  const inner = new Kubectl(join(folder, 'kubeconfig'));
  let docker: Engine;
  let outer: K3d;
  let tunnel: Forward | undefined;
  beforeAll(async () => {
    docker = await engine('k3s-image', 'vcluster-images');
    await docker.clear(`k3d-${host}`);
    outer = k3d(docker, host);
    await outer.create();
    await outer.kubectl.untilReady(1);
    await outer.run(
      'image',
      'import',
      '-m',
      'direct',
      '-c',
      host,
      `loft-sh/vcluster-oss:${vclusterVersion}`,
      `loft-sh/kubernetes:${kubernetesVersion}`,
    );
  });
  afterAll(async () => {
    tunnel?.stop();
    await outer?.remove();
    await docker?.release();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the chart of the same release starts it', async () => {
    writeFileSync(join(folder, 'values.yaml'), stringify(values));
    const chart = join(folderOf('vcluster'), 'keep/chart');
    const rendered = await run(program('helm', 'helm'), [
      'template',
      name,
      chart,
      '--namespace',
      namespace,
      '--kube-version',
      kubernetesVersion,
      '-f',
      join(folder, 'values.yaml'),
    ]);
    writeFileSync(join(folder, 'rendered.yaml'), rendered);
    await outer.kubectl.run('create', 'namespace', namespace);
    await outer.kubectl.run('apply', '-n', namespace, '-f', join(folder, 'rendered.yaml'));
    await outer.kubectl.run('rollout', 'status', `statefulset/${name}`, '-n', namespace, '--timeout=110s');
  });

  test('its kubeconfig opens an API server of its own', async () => {
    const secret = await waitFor('secret vc-inner', 60_000, () =>
      outer.kubectl.get<{ data: { config: string } }>('secret', `vc-${name}`, '-n', namespace),
    );
    const [port] = await freePorts(1);
    tunnel = await forward(outer.kubectl, namespace, `service/${name}`, port as number, 443);
    const config = Buffer.from(secret.data.config, 'base64').toString();
    writeFileSync(inner.kubeconfig, config.replace(/server: .*/, `server: https://localhost:${port}`), { mode: 0o600 });
    const names = (await inner.get<{ items: { metadata: { name: string } }[] }>('namespaces')).items.map(
      (item) => item.metadata.name,
    );
    expect(names).toContain('kube-system');
    expect(names).not.toContain(namespace);
  });

  test('a pod in it runs on the host', async () => {
    await waitFor(
      'the default ServiceAccount',
      60_000,
      async () => (await inner.try(['get', 'serviceaccount', 'default'])).code === 0,
    );
    await inner.apply(pod('tenant', { command: ['sleep', '3600'] }));
    await inner.untilPodReady('tenant');
    const synced = (await outer.kubectl.pods('-n', namespace)).map((item) => item.metadata.name);
    expect(synced).toContain(`tenant-x-default-x-${name}`);
  });

  test('deleting its namespace removes all of it', async () => {
    tunnel?.stop();
    await outer.kubectl.run('delete', 'namespace', namespace, '--timeout=100s');
    await waitFor(
      'its volume to be gone',
      60_000,
      async () => (await outer.kubectl.run('get', 'pv', '-o', 'name')).trim() === '',
      500,
    );
  });
});
