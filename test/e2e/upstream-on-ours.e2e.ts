// Upstream's Cluster API on our server, as it is installed: its CRDs with conversion by webhook, its mutating and validating webhooks, its unmodified core manager.
// Every write goes through three calls to a Go program.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { createCa, issueServer } from '../../src/vault/certificates.ts';
import { folderOf } from '../bed/cache.ts';
import { program } from '../bed/environment.ts';
import { waitFor } from '../bed/process.ts';
import { freePorts } from '../bed/services/port.ts';
import { GoProgram } from './support/go-program.ts';
import { group, nestClusters } from './support/nest-cluster.ts';
import { OwnServer } from './support/own-server.ts';

interface Hook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}
interface ClusterObject {
  readonly metadata: { readonly finalizers?: string[]; readonly labels?: Record<string, string> };
  readonly spec: Record<string, unknown>;
  readonly status?: { readonly phase?: string };
}

describe('upstream Cluster API core, with its webhooks, on our server', () => {
  const server = new OwnServer('upstream-on-ours');
  let core: GoProgram;

  beforeAll(async () => {
    await server.start();
    const issuing = { clock: systemClock, random: systemRandom };
    const ca = createCa('webhooks', issuing);
    const pair = issueServer(ca, 'capi-webhook', ['127.0.0.1'], issuing);
    const certificates = join(server.folder, 'webhook');
    mkdirSync(certificates, { recursive: true });
    writeFileSync(join(certificates, 'tls.crt'), pair.cert);
    writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
    const [webhook, health, diagnostics] = (await freePorts(3)) as [number, number, number];
    const caBundle = Buffer.from(ca.cert).toString('base64');
    const reached = (path: string) => ({ url: `https://127.0.0.1:${webhook}${path}`, caBundle });

    const config = join(folderOf('cluster-api'), 'keep/core/config');
    const crds = readdirSync(join(config, 'crd/bases')).map((file) => {
      const crd = parse(readFileSync(join(config, 'crd/bases', file), 'utf8'));
      crd.metadata.labels = { 'cluster.x-k8s.io/v1beta2': 'v1beta2', 'cluster.x-k8s.io/v1beta1': 'v1beta1' };
      if (crd.spec.versions.length > 1) {
        const webhook = { conversionReviewVersions: ['v1'], clientConfig: reached('/convert') };
        crd.spec.conversion = { strategy: 'Webhook', webhook };
      }
      return crd;
    });
    await server.kubectl.try(
      ['apply', '--server-side', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }),
    );
    await server.kubectl.run('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
    const args = [
      `--kubeconfig=${server.kubeconfig}`,
      '--leader-elect=false',
      `--webhook-port=${webhook}`,
      `--webhook-cert-dir=${certificates}`,
      `--health-addr=127.0.0.1:${health}`,
      `--diagnostics-address=127.0.0.1:${diagnostics}`,
      '--insecure-diagnostics',
    ];
    core = new GoProgram(program('cluster-api', 'capi-core'), args, join(server.folder, 'capi-core.log'));
    await waitFor(
      `Cluster API core (log: ${core.log})`,
      60_000,
      async () => {
        core.mustRun();
        return (await fetch(`http://127.0.0.1:${health}/readyz`)).ok;
      },
      300,
    );
    const hooks = parseAllDocuments(readFileSync(join(config, 'webhook/manifests.yaml'), 'utf8')).map((document) => {
      const object = document.toJS();
      object.webhooks = object.webhooks.map((hook: Hook) => ({
        ...hook,
        clientConfig: reached(hook.clientConfig.service.path),
      }));
      return object;
    });
    await server.kubectl.apply(...hooks);
  });
  afterAll(async () => {
    await core?.end();
    await server.close();
  });

  const deployment = (spec: object) => ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: 'workers', namespace: 'default' },
    spec: {
      clusterName: 'nest',
      selector: { matchLabels: { pool: 'a' } },
      template: {
        metadata: { labels: { pool: 'a' } },
        spec: {
          clusterName: 'nest',
          version: '1.35.0',
          bootstrap: { dataSecretName: 'none' },
          infrastructureRef: { apiGroup: group, kind: 'NestMachineTemplate', name: 'nest' },
        },
      },
      ...spec,
    },
  });

  test('what its webhook fills in is stored', async () => {
    await server.kubectl.apply(deployment({ replicas: 2 }));
    const stored = await server.kubectl.get<ClusterObject>('machinedeployments.cluster.x-k8s.io', 'workers');
    // Filled in by the Go program: the name of the cluster as a label, a version with its v, a strategy.
    expect(stored.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'nest' });
    expect(stored.spec).toMatchObject({ template: { spec: { version: 'v1.35.0' } } });
  });

  test('what its webhook refuses is not stored, in its own words', async () => {
    const wrong = deployment({ replicas: 2 });
    wrong.spec.selector = { matchLabels: { pool: 'other' } };
    wrong.metadata.name = 'wrong';
    const { code, stderr } = await server.kubectl.try(['create', '-f', '-'], JSON.stringify(wrong));
    expect(code).not.toBe(0);
    // kubectl words a refusal by its causes, which only the Go program knows.
    expect(stderr).toContain('is invalid: spec.template.metadata.labels: Forbidden: must match spec.selector');
    expect((await server.kubectl.try(['get', 'machinedeployments.cluster.x-k8s.io', 'wrong'])).stderr).toContain(
      'NotFound',
    );
  });

  test('an object is served in both of its versions, converted by its webhook', async () => {
    const old = {
      apiVersion: 'cluster.x-k8s.io/v1beta1',
      kind: 'Cluster',
      metadata: { name: 'nest', namespace: 'default' },
      spec: {
        paused: true,
        clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
        infrastructureRef: { apiVersion: `${group}/v1alpha1`, kind: 'NestCluster', name: 'nest', namespace: 'default' },
      },
    };
    await server.kubectl.apply(nestClusters);
    await server.kubectl.run('wait', `crd/nestclusters.${group}`, '--for=condition=Established', '--timeout=30s');
    await server.kubectl.apply(old);
    const older = await server.kubectl.get<ClusterObject>('clusters.v1beta1.cluster.x-k8s.io', 'nest');
    const newer = await server.kubectl.get<ClusterObject>('clusters.v1beta2.cluster.x-k8s.io', 'nest');
    expect(older.spec).toMatchObject(old.spec);
    expect(newer.spec).toMatchObject({
      paused: true,
      clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
      infrastructureRef: { apiGroup: group, kind: 'NestCluster', name: 'nest' },
    });
    const lists = await server.kubectl.run(
      'get',
      'clusters.v1beta1.cluster.x-k8s.io',
      '-o',
      'jsonpath={.items[*].apiVersion}',
    );
    expect(lists).toBe('cluster.x-k8s.io/v1beta1');
  });

  test('the manager reconciles what it is given, and lets go of it', async () => {
    await server.kubectl.run(
      'patch',
      'clusters.cluster.x-k8s.io',
      'nest',
      '--type=merge',
      '-p',
      '{"spec":{"paused":false}}',
    );
    const cluster = await waitFor('its finalizer and phase', 60_000, async () => {
      const found = await server.kubectl.get<ClusterObject>('clusters.cluster.x-k8s.io', 'nest');
      return found.metadata.finalizers && found.status?.phase ? found : undefined;
    });
    expect(cluster.metadata.finalizers).toContain('cluster.cluster.x-k8s.io');
    await server.kubectl.run('delete', 'machinedeployments.cluster.x-k8s.io', 'workers', '--timeout=60s');
    await server.kubectl.run('delete', 'clusters.cluster.x-k8s.io', 'nest', '--timeout=60s');
    expect(core.isRunning).toBe(true);
    expect(server.failures).toEqual([]);
  });

  test('a webhook that does not answer stops writes of its kind, and only those', async () => {
    await core.end();
    const { stderr } = await server.kubectl.try(['create', '-f', '-'], JSON.stringify(deployment({ replicas: 1 })));
    expect(stderr).toMatch(
      /failed calling webhook "default\.machinedeployment\.cluster\.x-k8s\.io": failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/.*connect(ion)? ?refused/i,
    );
    await server.kubectl.run('create', 'configmap', 'unrelated');
  });
});
