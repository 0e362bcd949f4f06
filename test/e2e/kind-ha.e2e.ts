// Three control planes behind kind's load balancer, asked for as a KINDCluster: one may stop without anybody noticing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../bed/process.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { dnsWorks, networkWorks } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { Kubectl } from './support/kubectl.ts';
import { Rookery } from './support/rookery.ts';

const name = 'ha-dev';
const controlPlanes = [`${name}-control-plane`, `${name}-control-plane2`, `${name}-control-plane3`] as const;
const balancer = `${name}-external-load-balancer`;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}
interface KindClusterObject {
  readonly spec: { readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number } };
  readonly status?: { readonly ready?: boolean; readonly conditions?: Condition[] };
}

describe('KINDCluster with three control planes', () => {
  let docker: Engine;
  let rookery: Rookery;
  let cluster: Kubectl;
  const found = (): Promise<KindClusterObject> => rookery.kubectl.get<KindClusterObject>('kindcluster', name);
  const ready = (): Promise<boolean> =>
    waitFor(
      'ready',
      400_000,
      async () => {
        const { status } = await found();
        if (!status?.ready) throw new Error(JSON.stringify(status));
        return true;
      },
      1000,
    );
  const stateOf = async (container: string): Promise<string> =>
    (await docker.docker('inspect', '--format', '{{.State.Status}}', container)).trim();

  beforeAll(async () => {
    docker = await engine('node-image', 'kind-balancer-image');
    await docker.clear(name);
    rookery = new Rookery('kind-ha', docker.env);
    await rookery.up();
  });
  afterAll(async () => {
    await rookery?.close();
    await docker?.clear(name);
    await docker?.release();
  });

  test('becomes ready, and its endpoint is the load balancer', { timeout: 480_000 }, async () => {
    await rookery.kubectl.apply({
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'KINDCluster',
      metadata: { name, namespace: 'default' },
      spec: { clusterName: name, controlPlaneNodes: 3, kubernetesVersion: kubernetesVersion.replace(/^v|\.\d+$/g, '') },
    });
    await ready();
    const secret = await rookery.kubectl.get<{ data: { config: string } }>('secret', `${name}-config`);
    const file = join(rookery.home, `${name}.kubeconfig`);
    writeFileSync(file, Buffer.from(secret.data.config, 'base64'), { mode: 0o600 });
    cluster = new Kubectl(file);
    await cluster.untilReady(3);
    const published = (await docker.docker('port', balancer, '6443/tcp')).trim();
    const { host, port } = (await found()).spec.controlPlaneEndpoint ?? {};
    expect(`${host}:${port}`).toBe(published);
    const members = await cluster.pods('-n', 'kube-system', '-l', 'component=etcd');
    expect(members.map((pod) => pod.spec.nodeName).sort()).toEqual([...controlPlanes]);
  });

  test('pods reach each other across nodes', () => networkWorks(cluster, [controlPlanes[1], controlPlanes[2]]));

  test('one control plane stops, and the API still reads and writes', { timeout: 300_000 }, async () => {
    // Rookery would start it again: it is kept out until the point is made.
    await rookery.end();
    await docker.docker('stop', '--time', '10', controlPlanes[0]);
    const written = await waitFor('a write', 60_000, async () => {
      const { code, stderr } = await cluster.try(['create', 'configmap', 'written-meanwhile']);
      if (code !== 0 && !stderr.includes('already exists')) throw new Error(stderr);
      return true;
    });
    expect(written).toBe(true);
    // Several in a row: none may go to the one that is gone.
    for (let i = 0; i < 6; i++) expect((await cluster.try(['get', 'configmap', 'written-meanwhile'])).code).toBe(0);
    expect(await stateOf(controlPlanes[0])).toBe('exited');
  });

  test('Rookery starts it again, and the cluster is whole', { timeout: 480_000 }, async () => {
    await rookery.up();
    await waitFor('the container', 60_000, async () => (await stateOf(controlPlanes[0])) === 'running', 500);
    await ready();
    await cluster.untilReady(3);
    await dnsWorks(cluster);
  });

  test('it is not suspended, says why, and goes on', async () => {
    await rookery.kubectl.run('annotate', 'kindcluster', name, 'rookery.dev/suspended=true');
    await waitFor('the refusal', 60_000, async () =>
      (await found()).status?.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'CannotSuspend'),
    );
    expect((await found()).status?.ready).toBe(true);
    for (const container of [...controlPlanes, balancer]) expect(await stateOf(container)).toBe('running');
    await rookery.kubectl.run('annotate', 'kindcluster', name, 'rookery.dev/suspended-');
  });

  test('deleting it leaves nothing', async () => {
    await rookery.kubectl.run('delete', 'kindcluster', name, '--timeout=110s');
    expect(await docker.found(name)).toEqual([]);
  });
});
