// The unmodified kube-controller-manager, all its controllers with accounts of their own, on our server: what it makes, counts and removes.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { program } from '../bed/environment.ts';
import { waitFor } from '../bed/process.ts';
import { freePorts } from '../bed/services/port.ts';
import { GoProgram } from './support/go-program.ts';
import { OwnServer } from './support/own-server.ts';

interface Owned {
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences?: { readonly kind: string; readonly controller?: boolean }[];
    readonly managedFields?: { readonly manager: string }[];
  };
}

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'nest:1' }] },
});
const selector = (app: string) => ({ matchLabels: { app } });
const named = (name: string) => ({ name, namespace: 'default' });
const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: named(name),
  spec: { replicas, selector: selector(name), template: template(name) },
});

describe('kube-controller-manager on our server', () => {
  const server = new OwnServer('controller-manager');
  let manager: GoProgram;
  const list = async (kind: string, ...args: string[]): Promise<Owned[]> =>
    (await server.kubectl.get<{ items: Owned[] }>(kind, ...args)).items;

  beforeAll(async () => {
    await server.start();
    const certificates = join(server.folder, 'manager');
    mkdirSync(certificates, { recursive: true });
    const [port] = await freePorts(1);
    const args = [
      `--kubeconfig=${server.kubeconfig}`,
      `--authentication-kubeconfig=${server.kubeconfig}`,
      `--authorization-kubeconfig=${server.kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${certificates}`,
      '--leader-elect=true',
      '--use-service-account-credentials=true',
      '--concurrent-gc-syncs=5',
    ];
    manager = new GoProgram(program('kubernetes', 'kube-controller-manager'), args, join(server.folder, 'manager.log'));
    await waitFor(
      'its lease',
      60_000,
      () => server.kubectl.get('lease', 'kube-controller-manager', '-n', 'kube-system'),
      300,
    );
  });
  afterAll(async () => {
    await manager?.end();
    await server.close();
    rmSync(server.folder, { recursive: true, force: true });
  });

  test('a Deployment gets its ReplicaSet and pods, by its hand', async () => {
    await server.kubectl.apply(deployment('web', 3));
    const pods = await waitFor('three pods', 60_000, async () => {
      const found = await list('pods', '-l', 'app=web');
      return found.length === 3 ? found : undefined;
    });
    const [set] = await list('replicasets', '-l', 'app=web', '--show-managed-fields');
    expect(set?.metadata.managedFields?.map(({ manager: by }) => by)).toContain('kube-controller-manager');
    for (const pod of pods)
      expect(pod.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', controller: true }]);
  });

  test('a pod that is ready, by the word of a kubelet, gets into endpoint slices and counts', async () => {
    await server.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: named('web'),
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    // No node, no endpoint: the test plays scheduler and kubelet.
    await server.kubectl.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'nest' } });
    for (const [at, pod] of (await list('pods', '-l', 'app=web')).entries()) {
      const path = `/api/v1/namespaces/default/pods/${pod.metadata.name}/binding`;
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: pod.metadata.name },
        target: { kind: 'Node', name: 'nest' },
      };
      const bound = await server.kubectl.try(['create', '--raw', path, '-f', '-'], JSON.stringify(binding));
      expect(bound, bound.stderr).toMatchObject({ code: 0 });
      const status = {
        phase: 'Running',
        podIP: `10.0.0.${at + 1}`,
        podIPs: [{ ip: `10.0.0.${at + 1}` }],
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
      await server.kubectl.run('patch', 'pod', pod.metadata.name, ...patch);
    }
    await server.kubectl.run('rollout', 'status', 'deployment/web', '--timeout=60s');
    const addresses = await waitFor('its addresses', 30_000, async () => {
      const path = 'jsonpath={.items[*].endpoints[*].addresses[0]}';
      const found = await server.kubectl.run(
        'get',
        'endpointslices',
        '-l',
        'kubernetes.io/service-name=web',
        '-o',
        path,
      );
      return found.split(' ').length === 3 ? found : undefined;
    });
    expect(addresses.split(' ').sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  });

  test('a Job makes its pod, sees it succeed and is complete', async () => {
    const job = { template: { spec: { ...template('once').spec, restartPolicy: 'Never' } } };
    await server.kubectl.apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: named('once'), spec: job });
    const pod = await waitFor(
      'its pod',
      60_000,
      async () => (await list('pods', '-l', 'batch.kubernetes.io/job-name=once'))[0],
    );
    const succeeded = JSON.stringify({ status: { phase: 'Succeeded' } });
    await server.kubectl.run(
      'patch',
      'pod',
      pod.metadata.name,
      '--subresource=status',
      '--type=merge',
      '-p',
      succeeded,
    );
    await server.kubectl.run('wait', 'job/once', '--for=condition=Complete', '--timeout=60s');
  });

  test('a StatefulSet, a budget and a quota are looked after', async () => {
    await server.kubectl.apply(
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: named('db'),
        spec: { serviceName: 'db', replicas: 1, selector: selector('db'), template: template('db') },
      },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: named('web'),
        spec: { minAvailable: 2, selector: selector('web') },
      },
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: named('few'),
        spec: { hard: { 'count/configmaps': '50', pods: '20' } },
      },
    );
    await waitFor('db-0', 60_000, () => server.kubectl.get('pod', 'db-0'));
    const path = (kind: string, what: string) => server.kubectl.run('get', kind, '-o', `jsonpath={${what}}`);
    await waitFor('the budget', 60_000, async () => (await path('pdb/web', '.status.disruptionsAllowed')) === '1');
    await waitFor('the quota', 60_000, async () => Number(await path('quota/few', '.status.used.pods')) >= 4);
  });

  test('a namespace gets its account and its certificate bundle, and goes with all that is in it', async () => {
    await server.kubectl.run('create', 'namespace', 'team');
    await waitFor('its account', 30_000, () => server.kubectl.get('serviceaccount', 'default', '-n', 'team'));
    await server.kubectl.run('create', 'configmap', 'note', '-n', 'team');
    await server.kubectl.run('delete', 'namespace', 'team', '--timeout=60s');
    expect((await server.kubectl.try(['get', 'namespace', 'team'])).stderr).toContain('NotFound');
  });

  test('what an owner leaves behind is collected, in the foreground when asked', async () => {
    // Without a node: those that have one wait for its kubelet to let them go.
    await server.kubectl.apply(deployment('gone', 2));
    await waitFor('its pods', 60_000, async () => (await list('pods', '-l', 'app=gone')).length === 2);
    await server.kubectl.run('delete', 'deployment', 'gone', '--cascade=foreground', '--timeout=60s');
    expect(await list('replicasets', '-l', 'app=gone')).toEqual([]);
    expect(await list('pods', '-l', 'app=gone')).toEqual([]);
    await server.kubectl.run('delete', 'job', 'once', '--timeout=60s');
    await waitFor(
      'its pod to go',
      60_000,
      async () => (await list('pods', '-l', 'batch.kubernetes.io/job-name=once')).length === 0,
    );
  });

  test('it found every kind it watches, was allowed all it tried, and comes back after a crash of ours', async () => {
    expect(manager.said(/failed to (list|watch)|forbidden|could not find the requested resource/i)).toEqual([]);
    await server.kill();
    await server.start();
    await server.kubectl.apply(deployment('again', 1));
    await waitFor('a pod after the crash', 90_000, async () => (await list('pods', '-l', 'app=again')).length === 1);
    expect(manager.isRunning).toBe(true);
    expect(server.failures).toEqual([]);
  });
});
