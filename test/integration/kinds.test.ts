// Our own kinds on our own server: examples are accepted as they stand, mistakes are refused with the field and the
// rule, defaults appear, what may not change does not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdOf } from '../../src/api/crd.ts';
import { kinds } from '../../src/api/kinds.ts';
import type { KubeObject } from '../../src/api/object.ts';
import * as resources from '../../src/api/resources.ts';
import { type KubeError, type ObjectStore, type ResourceRef, waitFor } from '../../src/kube/index.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let store: ObjectStore;

beforeAll(async () => {
  server = await startServer();
  store = await server.remote();
  for (const crd of kinds.map(crdOf)) {
    await store.create(resources.customResourceDefinitions, crd);
    await waitFor(store, resources.customResourceDefinitions, { name: crd.metadata.name as string }, (object) =>
      (object?.status?.conditions ?? []).some(
        (c: { type: string; status: string }) => c.type === 'Established' && c.status === 'True',
      ),
    );
  }
});
afterAll(() => server.close());

const refOf = (kind: string): ResourceRef => {
  const found = Object.values(resources).find((resource) => resource.kind === kind);
  if (!found) throw new Error(`no resource for ${kind}`);
  return found;
};

async function create(object: KubeObject): Promise<KubeObject> {
  const { namespace } = object.metadata;
  if (namespace && namespace !== 'default') {
    const name: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await store.create(resources.namespaces, name).catch(() => undefined);
  }
  return store.create(refOf(object.kind), object, { fieldValidation: 'Strict' });
}

async function refusal(object: KubeObject): Promise<string> {
  try {
    await create(object);
  } catch (error) {
    expect((error as KubeError).code).toBeGreaterThanOrEqual(400);
    expect((error as KubeError).code).toBeLessThan(500);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

const example = (kind: string): KubeObject => parse(kinds.find((k) => k.kind === kind)?.example ?? '');

function changed(kind: string, change: (object: KubeObject) => void): KubeObject {
  const object = example(kind);
  delete object.metadata.name;
  object.metadata.generateName = 'case-';
  change(object);
  return object;
}

it.each(kinds.map((kind) => kind.kind))('accepts the example of %s as it stands', async (kind) => {
  const made = await create(example(kind));
  expect(made.metadata.uid).toBeTruthy();
});

describe('WorkspaceTemplate', () => {
  it('fills in defaults', async () => {
    const made = await create(
      changed('WorkspaceTemplate', (t) => {
        t.spec = { defaults: { cluster: {} } };
      }),
    );
    expect(made.spec.defaults.cluster.mode).toBe('none');
  });

  it.each([
    [
      'lifecycle.mode',
      (t: KubeObject) => (t.spec.defaults.lifecycle.mode = 'forever'),
      /lifecycle\.mode: Unsupported value: "forever"/,
    ],
    ['lifecycle.ttl', (t: KubeObject) => (t.spec.defaults.lifecycle.ttl = '2 hours'), /spec\.defaults\.lifecycle\.ttl/],
    ['a ttl of zero', (t: KubeObject) => (t.spec.defaults.lifecycle.ttl = '0s'), /must be a duration above zero/],
    ['team isolation', (t: KubeObject) => (t.spec.defaults.isolation.mode = 'team'), /team isolation is reserved/],
    [
      'a version without a cluster',
      (t: KubeObject) => (t.spec.defaults.cluster = { mode: 'none', version: '1.35' }),
      /a version needs a cluster/,
    ],
    ['resources.cpu', (t: KubeObject) => (t.spec.defaults.resources.cpu = 'much'), /spec\.defaults\.resources\.cpu/],
    ['a step twice', (t: KubeObject) => t.spec.steps.push(t.spec.steps[0]), /spec\.steps\[2\]: Duplicate value/],
    ['an unknown field', (t: KubeObject) => (t.spec.colour = 'red'), /unknown field "spec\.colour"/],
  ])('refuses %s', async (_what, change, message) => {
    expect(await refusal(changed('WorkspaceTemplate', change))).toMatch(message);
  });
});

describe('WorkspaceInstance', () => {
  it('needs an owner and a template', async () => {
    expect(await refusal(changed('WorkspaceInstance', (i) => delete i.spec.owner))).toMatch(
      /spec\.owner: Required value/,
    );
    expect(await refusal(changed('WorkspaceInstance', (i) => delete i.spec.templateRef))).toMatch(
      /spec\.templateRef: Required value/,
    );
  });

  it('stays with its template', async () => {
    const made = await create(changed('WorkspaceInstance', () => {}));
    const moved = structuredClone(made);
    moved.spec.templateRef.name = 'another';
    await expect(store.update(refOf('WorkspaceInstance'), moved)).rejects.toThrow(/templateRef cannot be changed/);
    const step = structuredClone(made);
    step.spec.currentStep = 'step-1-intro';
    expect((await store.update(refOf('WorkspaceInstance'), step)).spec.currentStep).toBe('step-1-intro');
  });
});

describe('KINDCluster', () => {
  it.each([
    ['an empty spec', (k: KubeObject) => (k.spec = {}), /spec\.clusterName: Required value/],
    ['a long name', (k: KubeObject) => (k.spec.clusterName = 'x'.repeat(65)), /Too long: may not be more than 50/],
    ['a version that is none', (k: KubeObject) => (k.spec.kubernetesVersion = 'latest'), /spec\.kubernetesVersion/],
    [
      'nodes said twice',
      (k: KubeObject) => (k.spec.nodes = [{ role: 'control-plane' }]),
      /either nodes or the numbers/,
    ],
  ])('refuses %s', async (_what, change, message) => {
    expect(await refusal(changed('KINDCluster', change))).toMatch(message);
  });
});

describe('K3dCluster', () => {
  const ports = (nodeFilters: string[]) => [{ containerPort: 80, nodeFilters }];
  it.each([
    ['a long name', { clusterName: 'x'.repeat(33) }, /Too long: may not be more than 32/],
    ['a name with a dot', { clusterName: 'a.b' }, /spec\.clusterName/],
    ['an even number of servers', { servers: 2 }, /servers must be odd/],
    [
      'ports through a load balancer that is off',
      { loadBalancer: false, ports: ports(['loadbalancer']) },
      /cannot go through it/,
    ],
    ['ports through one that nobody asked for', { ports: ports(['loadbalancer']) }, /add loadBalancer: true/],
    ['an argument that k3d sets', { k3sArgs: [{ arg: '--token=x' }] }, /k3d sets --token/],
    ['a node filter that is none', { ports: ports(['worker:0']) }, /nodeFilters/],
    ['a version beside an image', { image: 'mine:1', kubernetesVersion: '1.35' }, /either image or kubernetesVersion/],
    ['a memory limit that is none', { serverMemory: 'much' }, /serverMemory/],
    ['a subnet that is none', { subnet: 'here' }, /spec\.subnet/],
  ])('refuses %s', async (_what, spec, message) => {
    const object = changed('K3dCluster', (k) => Object.assign(k.spec, spec));
    expect(await refusal(object)).toMatch(message);
  });

  it('takes what is possible', async () => {
    const spec = { servers: 3, agents: 2, ports: ports(['loadbalancer']), subnet: 'auto', images: ['mine:1'] };
    expect((await create(changed('K3dCluster', (k) => Object.assign(k.spec, spec)))).spec).toMatchObject(spec);
    await create(
      changed('K3dCluster', (k) => Object.assign(k.spec, { ports: ports(['server:0:direct', 'agent:*:direct']) })),
    );
  });
});

describe('K3sCluster', () => {
  const ssh = { address: '10.0.0.7', keySecretRef: { name: 'edge-ssh-key' } };
  it.each([
    ['two machines', { host: { local: true, ssh } }, /either local or ssh/],
    ['a machine without a key', { host: { ssh: { address: '10.0.0.7' } } }, /keySecretRef: Required value/],
    ['a fingerprint that is none', { host: { ssh: { ...ssh, hostKey: 'MD5:aa' } } }, /spec\.host\.ssh\.hostKey/],
    ['the data of the system', { dataDir: '/var/lib/' }, /must be a folder of its own/],
    ['a path that leads elsewhere', { dataDir: '/data/../etc' }, /must be a folder of its own/],
    ['a flag that has a field', { k3sArgs: ['--token=abc'] }, /a flag that Rookery sets itself/],
    ['words that are no flag', { k3sArgs: ['server'] }, /spec\.k3sArgs/],
    ['one range for two', { clusterCIDR: '10.1.0.0/16', serviceCIDR: '10.1.0.0/16' }, /ranges of their own/],
    ['a part it does not know', { disable: ['etcd'] }, /Unsupported value: "etcd"/],
  ])('refuses %s', async (_what, spec, message) => {
    expect(await refusal(changed('K3sCluster', (k) => Object.assign(k.spec, spec)))).toMatch(message);
  });

  it('stays on its machine and with its data; user, key and fingerprint may change', async () => {
    const made = await create(changed('K3sCluster', (k) => (k.spec = {})));
    expect(made.spec).toMatchObject({ host: {}, dataDir: '/var/lib/rancher/k3s', port: 6443, supervision: 'auto' });
    const far = await create(changed('K3sCluster', () => {}));
    const update = (change: (spec: KubeObject['spec']) => void) => {
      const next = structuredClone(far);
      change(next.spec);
      return store.update(refOf('K3sCluster'), next);
    };
    await expect(update((spec) => (spec.host.ssh.address = '10.0.0.8'))).rejects.toThrow(/machine cannot be changed/);
    await expect(update((spec) => (spec.host = { local: true }))).rejects.toThrow(/machine cannot be changed/);
    await expect(update((spec) => (spec.dataDir = '/data'))).rejects.toThrow(/dataDir cannot be changed/);
    await expect(update((spec) => (spec.port = 7443))).rejects.toThrow(/port cannot be changed/);
    await expect(update((spec) => (spec.clusterCIDR = '10.1.0.0/16'))).rejects.toThrow(/cannot be added or removed/);
    const hostKey = `SHA256:${'a'.repeat(43)}`;
    const moved = await update((spec) => Object.assign(spec.host.ssh, { user: 'admin', hostKey }));
    expect(moved.spec.host.ssh).toMatchObject({ user: 'admin', hostKey, port: 22 });
  });
});

it.each(['KINDCluster', 'K3dCluster'])('a %s cannot be renamed: the old cluster would be orphaned', async (kind) => {
  const made = await create(changed(kind, () => {}));
  made.spec.clusterName = 'other';
  await expect(store.update(refOf(kind), made)).rejects.toThrow(/clusterName cannot be changed/);
});

describe('VCluster', () => {
  it.each([
    ['two hosts', (v: KubeObject) => (v.spec.host.kubeconfigSecretRef = { name: 'x' }), /exactly one of cluster and/],
    ['no host', (v: KubeObject) => (v.spec.host = {}), /exactly one of cluster and/],
    ['a name no Service can have', (v: KubeObject) => (v.spec.clusterName = '1st'), /spec\.clusterName/],
    ['an image with a tag', (v: KubeObject) => (v.spec.images = { vcluster: 'a/b:1' }), /spec\.images\.vcluster/],
  ])('refuses %s', async (_what, change, message) => {
    expect(await refusal(changed('VCluster', change))).toMatch(message);
  });

  it.each([
    ['host', (v: KubeObject) => (v.spec.host = { cluster: 'other' }), /host cannot be changed/],
    ['clusterName', (v: KubeObject) => (v.spec.clusterName = 'other'), /clusterName cannot be changed/],
    ['namespace', (v: KubeObject) => (v.spec.namespace = 'other'), /namespace cannot be changed/],
    ['persistence', (v: KubeObject) => (v.spec.persistence = { enabled: false }), /persistence cannot be changed/],
  ])('stays where it is: its %s', async (_what, change, message) => {
    const made = await create(changed('VCluster', () => {}));
    change(made);
    await expect(store.update(refOf('VCluster'), made)).rejects.toThrow(message);
  });
});

it('a ClusterJob says what its type needs', async () => {
  const job = (spec: object) => changed('ClusterJob', (j) => (j.spec = { clusterName: 'prod', ...spec }));
  expect(await refusal(job({ type: 'upgrade' }))).toMatch(/an upgrade needs a version/);
  expect(await refusal(job({ type: 'scale' }))).toMatch(/scaling needs a number of workers/);
  expect(await refusal(job({ type: 'dance' }))).toMatch(/spec\.type: Unsupported value: "dance"/);
});

it('a Machine needs bootstrap data from somewhere', async () => {
  expect(await refusal(changed('Machine', (m) => (m.spec.bootstrap = {})))).toMatch(
    /either configRef or dataSecretName/,
  );
});
