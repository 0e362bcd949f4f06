/**
 * The machine is not the tenants': a user of one namespace, with the real kubectl and a token of a bound ServiceAccount, tries every field that reaches
 * the machine Rookery runs on. What asks for permission names it, and how an administrator grants it. Refused changes leave what lives as it was.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ROOT } from '../../src/apiserver/index.ts';
import { loadConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { harmlessKubeconfig } from '../../src/kube/index.ts';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';

const folder = mkdtempSync(join(tmpdir(), 'rookery-boundary-'));
const home = join(folder, 'home');
const given = join(folder, 'given');
const proof = join(folder, 'proof');
const program = join(given, 'k3s');
let plane: ControlPlane;
let admin: Kubectl;
let tenant: Kubectl;
let hostUser: Kubectl;
let instructor: Kubectl;

async function userOf(name: string): Promise<Kubectl> {
  const token = (await admin(`create token ${name} -n team`)).out.trim();
  const file = join(folder, `${name}.kubeconfig`);
  writeFileSync(file, await harmlessKubeconfig(await plane.kubeconfig(ROOT), { user: { token }, namespace: 'team' }));
  return kubectl(file, join(folder, name));
}

beforeAll(async () => {
  mkdirSync(given);
  // The program a K3sCluster would run as this process.
  writeFileSync(program, `#!/bin/sh\ntouch ${proof}\necho "k3s version v1.35.0+k3s1"\n`);
  chmodSync(program, 0o755);
  const config = loadConfig({}, { home, port: 0, hostFolders: [given] });
  plane = await ControlPlane.start({ config });
  admin = kubectl(plane.home.kubeconfig, join(folder, 'admin'));
  const setUp = [
    'create namespace team',
    ...['tenant', 'host-user', 'instructor'].map((name) => `create serviceaccount ${name} -n team`),
    'create rolebinding tenant -n team --clusterrole=rookery-tenant --serviceaccount=team:tenant --serviceaccount=team:host-user',
    'create rolebinding host-user -n team --clusterrole=rookery-host-user --serviceaccount=team:host-user',
    'create clusterrolebinding instructor --clusterrole=rookery-instructor --serviceaccount=team:instructor',
    // More than the role gives: what holds the machine must not be the role alone.
    `create role everything -n team --verb=* --resource=kindclusters.infrastructure.cluster.x-k8s.io,k3dclusters.infrastructure.cluster.x-k8s.io,k3sclusters.infrastructure.cluster.x-k8s.io,kindclusters.infrastructure.cluster.x-k8s.io/status`,
  ];
  for (const command of setUp) expect((await admin(command)).err, command).toBe('');
  tenant = await userOf('tenant');
  hostUser = await userOf('host-user');
  instructor = await userOf('instructor');
}, 120_000);
afterAll(async () => {
  await plane?.close();
  rmSync(folder, { recursive: true, force: true });
});

const infrastructure = (kind: string, spec: object, name = 'x') =>
  stringify({
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind,
    // Paused: this test is about who may ask, and makes nothing.
    metadata: { name, namespace: 'team', annotations: { 'cluster.x-k8s.io/paused': '' } },
    spec,
  });
const template = (name: string, cluster: object, more: object = {}) =>
  stringify({
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name },
    spec: { defaults: { cluster }, steps: [], ...more },
  });
const instance = (name: string, templateName: string, cluster?: object) =>
  stringify({
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceInstance',
    metadata: { name, namespace: 'team' },
    spec: {
      templateRef: { name: templateName },
      owner: 'me',
      suspend: true,
      ...(cluster ? { overrides: { cluster } } : {}),
    },
  });

const KINDS: [string, object][] = [
  ['KINDCluster', { clusterName: 'x' }],
  ['K3dCluster', { clusterName: 'x' }],
  ['K3sCluster', { host: { local: true } }],
];
it.each(KINDS)('gives tenants no right to write a %s', async (kind, spec) => {
  const { code, err } = await tenant('create -f -', infrastructure(kind, spec));
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('cannot create resource') });
});

const node = (more: object) => ({ clusterName: 'x', nodes: [{ role: 'control-plane', ...more }] });
const ssh = { address: '192.0.2.7', keySecretRef: { name: 'key' } };
const FIELDS: [string, string, string, object][] = [
  ['containers', 'spec', 'KINDCluster', { clusterName: 'x' }],
  ['containers', 'spec', 'K3dCluster', { clusterName: 'x' }],
  ['machine', 'spec.host', 'K3sCluster', {}],
  ['machine', 'spec.host', 'K3sCluster', { host: { local: true } }],
  ['ssh', 'spec.host.ssh', 'K3sCluster', { host: { ssh } }],
];
const DETAILS: [string, string, string, object][] = [
  [
    'paths',
    'spec.nodes[0].extraMounts[0].hostPath',
    'KINDCluster',
    node({ extraMounts: [{ hostPath: '/', containerPath: '/x' }] }),
  ],
  [
    'ports',
    'spec.nodes[0].extraPortMappings[0]',
    'KINDCluster',
    node({ extraPortMappings: [{ containerPort: 80, hostPort: 22, listenAddress: '127.0.0.1' }] }),
  ],
  [
    'ports',
    'spec.nodes[0].extraPortMappings[0]',
    'KINDCluster',
    node({ extraPortMappings: [{ containerPort: 80, hostPort: 8080 }] }),
  ],
  [
    'ports',
    'spec.networking.apiServerAddress',
    'KINDCluster',
    { clusterName: 'x', networking: { apiServerAddress: '0.0.0.0' } },
  ],
  ['ports', 'spec.networking.apiServerPort', 'KINDCluster', { clusterName: 'x', networking: { apiServerPort: 443 } }],
  [
    'ports',
    'spec.controlPlaneEndpoint.port',
    'KINDCluster',
    { clusterName: 'x', controlPlaneEndpoint: { host: 'x', port: 25 } },
  ],
  [
    'paths',
    'spec.volumes[0].hostPath',
    'K3dCluster',
    { clusterName: 'x', volumes: [{ hostPath: '/etc', containerPath: '/x' }] },
  ],
  [
    'paths',
    'spec.volumes[0].hostPath',
    'K3dCluster',
    { clusterName: 'x', volumes: [{ hostPath: 'a-volume', containerPath: '/x' }] },
  ],
  [
    'ports',
    'spec.ports[0]',
    'K3dCluster',
    { clusterName: 'x', ports: [{ containerPort: 80, hostPort: 80, listenAddress: '127.0.0.1' }] },
  ],
  ['ports', 'spec.apiAddress', 'K3dCluster', { clusterName: 'x', apiAddress: '0.0.0.0' }],
  ['ports', 'spec.apiPort', 'K3dCluster', { clusterName: 'x', apiPort: 443 }],
  ['paths', 'spec.binary', 'K3sCluster', { binary: program }],
  ['paths', 'spec.binary', 'K3sCluster', { host: { ssh }, binary: program }],
  ['paths', 'spec.airgapImages[0]', 'K3sCluster', { airgapImages: ['/etc/shadow'] }],
  ['paths', 'spec.airgapImages[0]', 'K3sCluster', { host: { ssh }, airgapImages: ['/etc/shadow'] }],
  ['paths', 'spec.dataDir', 'K3sCluster', { dataDir: '/opt/other' }],
  ['paths', 'spec.k3sArgs[0]', 'K3sCluster', { k3sArgs: ['--private-registry=/etc/shadow'] }],
  ['ports', 'spec.port', 'K3sCluster', { port: 443 }],
];

it.each([...FIELDS, ...DETAILS])(
  'asks for %s because of %s of a %s, whatever else the user may',
  async (capability, field, kind, spec) => {
    await admin('create rolebinding everything -n team --role=everything --serviceaccount=team:tenant');
    // Permission for all but this one: each is asked for on its own.
    const others = ['containers', 'machine', 'ssh', 'paths', 'ports'].filter((other) => other !== capability);
    const rules = [{ apiGroups: ['rookery.dev'], resources: ['hosts'], resourceNames: others, verbs: ['use'] }];
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'others' }, rules };
    await admin('apply -n team -f -', stringify(role));
    await admin('create rolebinding others -n team --role=others --serviceaccount=team:tenant');
    const { code, err } = await tenant('create -f -', infrastructure(kind, spec));
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(`"x" is forbidden: ${field} `) });
    expect(err).toContain(`needs the verb "use" on the resource "hosts/${capability}" in API group "rookery.dev"`);
    expect(err).toContain(
      'kubectl create rolebinding host-user --clusterrole=rookery-host-user --serviceaccount=team:tenant --namespace=team',
    );
    expect(existsSync(proof)).toBe(false);
  },
  60_000,
);

it('lets a user with the permission have them, as long as paths lie in the folders of the operator', async () => {
  symlinkSync('/etc', join(given, 'link'));
  const volume = (hostPath: string) => ({ clusterName: 'x', volumes: [{ hostPath, containerPath: '/x' }] });
  for (const path of [
    '/etc',
    '/',
    '/var/run/docker.sock',
    home,
    folder,
    join(given, 'link'),
    join(given, 'link/ssh'),
    `${given}/../home`,
  ]) {
    const { code, err } = await hostUser('create -f -', infrastructure('K3dCluster', volume(path)));
    expect({ path, code, err }).toMatchObject({ code: 1, err: expect.stringContaining('may not be used') });
    expect(err).toContain('ROOKERY_HOST_FOLDERS');
  }
  const allowed = await hostUser('create -f -', infrastructure('K3dCluster', volume(join(given, 'new/data'))));
  expect(allowed.all).toContain('created');
  const mine = await hostUser(
    'create -f -',
    infrastructure('K3sCluster', { host: { local: true }, binary: program }, 'm'),
  );
  expect(mine.all).toContain('created');
  expect((await admin('create -f -', infrastructure('KINDCluster', { clusterName: 'other' }, 'other'))).all).toContain(
    'created',
  );
}, 60_000);

it('leaves a living cluster as it was when a change of it is refused', async () => {
  await admin('create rolebinding everything -n team --role=everything --serviceaccount=team:tenant');
  await admin('delete rolebinding others -n team');
  const before = await admin('get k3dcluster x -n team -o json');
  const attempts = [
    `patch k3dcluster x -n team --type=merge -p {"spec":{"volumes":[{"hostPath":"/","containerPath":"/h"}]}}`,
    `patch k3dcluster x -n team --type=merge -p {"spec":{"agents":3}}`,
    `patch kindcluster other -n team --subresource=status --type=merge -p {"status":{"resolved":{"requested":"","image":"evil/node"}}}`,
  ];
  for (const attempt of attempts) {
    const { code, err } = await tenant(attempt);
    expect({ attempt, code, err }).toMatchObject({ code: 1, err: expect.stringContaining('hosts/containers') });
  }
  expect((await admin('get k3dcluster x -n team -o json')).out).toBe(before.out);
  // What uses nothing of the machine is free, on it too.
  expect((await tenant('label k3dcluster x -n team team=blue')).code).toBe(0);
}, 60_000);

it('lets tenants have virtual clusters, and none through references', async () => {
  expect((await tenant('create -f -', infrastructure('VirtualCluster', {}, 'v'))).all).toContain('created');
  const vcluster = { clusterName: 'vc', host: { cluster: 'v' } };
  expect((await tenant('create -f -', infrastructure('VCluster', vcluster, 'vc'))).all).toContain('created');
  const reference = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'KINDCluster', name: 'gone' };
  const cluster = stringify({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'gone', namespace: 'team' },
    spec: { infrastructureRef: reference, controlPlaneRef: reference },
  });
  expect((await tenant('create -f -', cluster)).all).toContain('created');
  expect((await admin('get kindcluster gone -n team')).err).toContain('not found');
  for (const verb of ['create', 'patch']) {
    expect((await tenant(`auth can-i ${verb} secrets -n team`)).out.trim()).toBe('no');
    expect((await tenant(`auth can-i ${verb} workspacetemplates.workshop.platform`)).out.trim()).toBe('no');
  }
}, 60_000);

it('asks the author of a template, and its users only for what they add', async () => {
  const { code, err } = await instructor(
    'create -f -',
    template('real', { mode: 'per-workspace', provisioner: 'kind' }),
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const policy = { overridePolicy: { allow: ['cluster.mode', 'cluster.provisioner'] } };
  expect((await instructor('create -f -', template('plain', { mode: 'none' }, policy))).code).toBe(0);
  // Without permission the same template is refused.
  await admin('create clusterrole authors --verb=* --resource=workspacetemplates.workshop.platform');
  await admin('create clusterrolebinding authors --clusterrole=authors --serviceaccount=team:tenant');
  for (const cluster of [{ mode: 'per-workspace' }, { mode: 'shared', provisioner: 'k3d' }]) {
    const refused = await tenant('create -f -', template('mine', cluster));
    expect(refused.err).toContain('spec.defaults.cluster makes containers');
    expect(refused.err).toContain('kubectl create clusterrolebinding host-user');
  }
  expect((await tenant('create -f -', template('mine', { mode: 'shared', provisioner: 'virtual' }))).code).toBe(0);
  const change = await tenant(
    `patch workspacetemplate mine --type=merge -p {"spec":{"defaults":{"cluster":{"provisioner":"kind"}}}}`,
  );
  expect(change.err).toContain('hosts/containers');
  // Its users gain nothing by it.
  expect((await tenant('create -f -', instance('a', 'real'))).all).toContain('created');
  const beyond = [
    instance('b', 'plain', { mode: 'per-workspace' }),
    instance('b', 'plain', { provisioner: 'k3d' }),
    instance('b', 'comes-later', { provisioner: 'kind' }),
  ];
  for (const text of beyond) expect((await tenant('create -f -', text)).err).toContain('spec.overrides.cluster makes');
  const own = instance('b', 'plain', { mode: 'per-workspace', provisioner: 'virtual' });
  expect((await tenant('create -f -', own)).all).toContain('created');
  const later = await tenant(
    `patch workspaceinstance b -n team --type=merge -p {"spec":{"overrides":{"cluster":{"provisioner":"kind"}}}}`,
  );
  expect(later.err).toContain('hosts/containers');
}, 60_000);

it('keeps a cluster from losing its object: the finalizer is removed with the cluster', async () => {
  const virtual = infrastructure('VirtualCluster', {}, 'ghost');
  expect((await tenant('create -f -', virtual)).all).toContain('created');
  expect((await tenant('annotate virtualcluster ghost -n team cluster.x-k8s.io/paused-')).code).toBe(0);
  const finalizers = async () =>
    (await admin('get virtualcluster ghost -n team -o jsonpath={.metadata.finalizers}')).out.trim();
  await expect.poll(finalizers, { timeout: 20_000 }).toContain('virtualcluster.infrastructure.cluster.x-k8s.io');
  expect((await tenant('annotate virtualcluster ghost -n team cluster.x-k8s.io/paused=true')).code).toBe(0);
  const stripped = await tenant('patch virtualcluster ghost -n team --type=merge -p {"metadata":{"finalizers":null}}');
  expect(stripped.err).toContain('virtualclusters/finalizers');
  expect(await finalizers()).toContain('virtualcluster.infrastructure.cluster.x-k8s.io');
  expect((await tenant('annotate virtualcluster ghost -n team cluster.x-k8s.io/paused-')).code).toBe(0);
  expect((await tenant('delete virtualcluster ghost -n team --timeout=30s')).code).toBe(0);
}, 90_000);

it('lets no student bring a revoked link back', async () => {
  await admin('create serviceaccount student -n team');
  await admin('create rolebinding student -n team --clusterrole=rookery-student --serviceaccount=team:student');
  const student = await userOf('student');
  expect((await tenant('create -f -', instance('linked', 'plain'))).all).toContain('created');
  const patch = (spec: string) => `patch workspaceinstance linked -n team --type=merge -p {"spec":${spec}}`;
  expect((await tenant(patch('{"revokedLinks":["a"]}'))).code).toBe(0);
  for (const spec of ['{"revokedLinks":[]}', '{"revokedLinks":null}', '{"linksRevokedAt":"2020-01-01T00:00:00Z"}']) {
    expect((await student(patch(spec))).err).toContain('workspaceinstances/links');
  }
  expect((await student(patch('{"suspend":true}'))).code).toBe(0);
}, 60_000);
