import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { program } from '../bed/environment.ts';
import { run, waitFor } from '../bed/process.ts';
import { acquire, type Lease } from '../bed/services/service.ts';
import { clusterApiVersion } from '../bed/versions.ts';
import { Kubectl } from './support/kubectl.ts';
import { group, nestClusters } from './support/nest-cluster.ts';

interface ClusterObject {
  readonly metadata: { readonly uid: string; readonly finalizers?: string[] };
  readonly spec: { readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number } };
  readonly status?: {
    readonly phase?: string;
    readonly initialization?: { readonly infrastructureProvisioned?: boolean };
    readonly conditions?: { readonly type: string; readonly status: string }[];
  };
}
interface NestObject {
  readonly metadata: {
    readonly ownerReferences?: { readonly kind: string; readonly uid: string }[];
    readonly labels?: Record<string, string>;
  };
}

describe('upstream Cluster API core on a bare kube-apiserver', () => {
  let management: Lease;
  let kubectl: Kubectl;
  beforeAll(async () => {
    management = await acquire('cluster-api');
    kubectl = new Kubectl(management.env.KUBECONFIG as string);
  });
  afterAll(() => management?.release());
  const cluster = (): Promise<ClusterObject> => kubectl.get<ClusterObject>('clusters.cluster.x-k8s.io', 'nest');

  test('a Cluster waits for its infrastructure', async () => {
    await kubectl.apply(nestClusters);
    await kubectl.run('wait', '--for=condition=Established', '--timeout=30s', `crd/nestclusters.${group}`);
    await kubectl.apply(
      {
        apiVersion: `${group}/v1alpha1`,
        kind: 'NestCluster',
        metadata: { name: 'nest', namespace: 'default' },
        spec: {},
      },
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name: 'nest', namespace: 'default' },
        spec: { infrastructureRef: { apiGroup: group, kind: 'NestCluster', name: 'nest' } },
      },
    );
    const owned = await waitFor('core to adopt the infrastructure', 60_000, async () => {
      const nest = await kubectl.get<NestObject>('nestclusters', 'nest');
      return nest.metadata.ownerReferences ? nest : undefined;
    });
    expect(owned.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', uid: (await cluster()).metadata.uid });
    expect(owned.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'nest' });
    await waitFor('phase Provisioning', 30_000, async () => (await cluster()).status?.phase === 'Provisioning');
  });

  test('core takes the endpoint over once the provider says provisioned', async () => {
    await kubectl.run(
      'patch',
      'nestclusters',
      'nest',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { controlPlaneEndpoint: { host: '127.0.0.1', port: 6443 } } }),
    );
    await kubectl.run(
      'patch',
      'nestclusters',
      'nest',
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status: { initialization: { provisioned: true } } }),
    );
    const provisioned = await waitFor('phase Provisioned', 60_000, async () => {
      const found = await cluster();
      return found.status?.phase === 'Provisioned' ? found : undefined;
    });
    expect(provisioned.spec.controlPlaneEndpoint).toEqual({ host: '127.0.0.1', port: 6443 });
    expect(provisioned.status?.initialization?.infrastructureProvisioned).toBe(true);
    expect(provisioned.metadata.finalizers).toContain('cluster.cluster.x-k8s.io');
  });

  test('clusterctl describes it', async () => {
    const env = {
      ...process.env,
      KUBECONFIG: management.env.KUBECONFIG as string,
      HOME: '/nonexistent',
      XDG_CONFIG_HOME: '/nonexistent',
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
    };
    expect(await run(program('cluster-api', 'clusterctl'), ['version', '-o', 'short'], { env })).toContain(
      clusterApiVersion,
    );
    expect(
      await run(program('cluster-api', 'clusterctl'), ['describe', 'cluster', 'nest'], { env, timeoutMs: 60_000 }),
    ).toContain('NestCluster default/nest');
  });

  test('delete takes the infrastructure with it', async () => {
    await kubectl.run('delete', 'clusters.cluster.x-k8s.io', 'nest', '--timeout=60s');
    expect((await kubectl.try(['get', 'nestclusters', 'nest'])).stderr).toContain('NotFound');
  });
});
