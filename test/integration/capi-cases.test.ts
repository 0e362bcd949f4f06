// Our Cluster API core where the story of test/conformance/cluster-api does not lead: machines that stand alone, what
// holds a deletion up, kinds that come late or go, and what it costs when nothing happens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import {
  clusters,
  customResourceDefinitions,
  machineDeployments,
  machineHealthChecks,
  machineSets,
  machines,
  secrets,
} from '../../src/api/resources.ts';
import { systemClock } from '../../src/clock.ts';
import { apiVersionOf, ignoreNotFound, keyOf, type ResourceRef } from '../../src/kube/index.ts';
import { createCa } from '../../src/vault/certificates.ts';
import {
  fooClusters,
  fooConfigTemplates,
  fooControlPlanes,
  fooCrd,
  fooMachines,
  fooMachineTemplates,
  ref,
} from '../conformance/cluster-api/foo-kinds.ts';
import { nodes } from '../conformance/cluster-api/foo-providers.ts';
import { conditionText, eventually, type OurCore, startOurCore } from '../conformance/cluster-api/our-core.ts';

const namespace = 'default';
const pods: ResourceRef = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const volumes: ResourceRef = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
};
let core: OurCore;

beforeAll(async () => {
  core = await startOurCore();
});
afterAll(async () => {
  await core.stop();
  expect(core.errors).toEqual([]);
});

const get = (resource: ResourceRef, name: string) => core.store.get(resource, { namespace, name });
const find = (resource: ResourceRef, name: string) => get(resource, name).catch(ignoreNotFound);
const patch = (resource: ResourceRef, name: string, body: Record<string, unknown>, subresource?: string) =>
  core.store.patch(resource, { namespace, name }, { type: 'merge', body }, { subresource });
const make = (resource: ResourceRef, name: string, spec: object, more: Partial<KubeObject['metadata']> = {}) =>
  core.store.create(resource, {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, namespace, ...more },
    spec,
  });

/** A cluster whose control plane has no machines, up at once. */
async function cluster(name: string): Promise<void> {
  await make(fooControlPlanes, name, {});
  await make(fooClusters, name, { controlPlaneEndpoint: core.workload.endpoint });
  await core.store.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-kubeconfig`, namespace, labels: { 'cluster.x-k8s.io/cluster-name': name } },
    data: { value: Buffer.from(core.workload.kubeconfig).toString('base64') },
  });
  await make(clusters, name, {
    infrastructureRef: ref(fooClusters, name),
    controlPlaneRef: ref(fooControlPlanes, name),
  });
  await patch(fooClusters, name, { status: { initialization: { provisioned: true } } }, 'status');
  const status = { initialization: { controlPlaneInitialized: true }, externalManagedControlPlane: true };
  await patch(fooControlPlanes, name, { status }, 'status');
}

/** A machine that stands alone, with its node. */
async function machine(name: string, clusterName: string, spec: object = {}): Promise<void> {
  await make(fooMachines, name, { providerID: `foo://${name}` });
  await patch(fooMachines, name, { status: { initialization: { provisioned: true } } }, 'status');
  await core.workload.api.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    spec: { providerID: `foo://${name}` },
  });
  const bootstrap = { dataSecretName: 'given' };
  await make(machines, name, { clusterName, bootstrap, infrastructureRef: ref(fooMachines, name), ...spec });
  await eventually(`machine ${name} to run`, async () => (await get(machines, name)).status?.phase === 'Running');
}

const deleting = (name: string, reason: string) =>
  eventually(`${name} to reach ${reason}`, async () => {
    const found = await get(machines, name);
    return conditionText(found, 'Deleting').startsWith(`True ${reason}`) && found;
  });
const gone = (resource: ResourceRef, name: string) =>
  eventually(`${resource.kind} ${name} to be gone`, async () => !(await find(resource, name)));

describe('a machine that stands alone', () => {
  beforeAll(() => cluster('alone'));

  it('belongs to its Cluster, and its parts to it', async () => {
    await machine('solo', 'alone');
    const solo = await eventually('an owner', async () => {
      const found = await get(machines, 'solo');
      return found.metadata.ownerReferences && found;
    });
    expect(solo.metadata.ownerReferences).toMatchObject([{ kind: 'Cluster', name: 'alone' }]);
    expect(solo.metadata.ownerReferences?.[0]?.controller).toBeUndefined();
    expect(conditionText(solo, 'BootstrapConfigReady')).toBe('True DataSecretProvided: ');
    const [owner] = (await get(fooMachines, 'solo')).metadata.ownerReferences ?? [];
    expect(owner).toMatchObject({ kind: 'Machine', name: 'solo', controller: true });
    await eventually(
      'the cluster to count it',
      async () => (await get(clusters, 'alone')).status?.workers?.replicas === 1,
    );
  });

  it('says that its host is gone when somebody takes it away behind our back', async () => {
    await machine('robbed', 'alone');
    await core.store.delete(fooMachines, { namespace, name: 'robbed' });
    await eventually('the machine to notice', async () =>
      conditionText(await get(machines, 'robbed'), 'InfrastructureReady').startsWith('False ObjectDeleted'),
    );
    await core.store.delete(machines, { namespace, name: 'robbed' });
    await gone(machines, 'robbed');
  });

  it('waits for volumes to be detached', async () => {
    await machine('disk', 'alone');
    await core.workload.api.create(volumes, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'va' },
      spec: { attacher: 'csi.example.dev', nodeName: 'disk', source: { persistentVolumeName: 'pv-1' } },
    });
    const attached = { type: 'merge' as const, body: { status: { attached: true } } };
    await core.workload.api.patch(volumes, { name: 'va' }, attached, { subresource: 'status' });
    await core.store.delete(machines, { namespace, name: 'disk' });
    expect(conditionText(await deleting('disk', 'WaitingForVolumeDetach'), 'Deleting')).toContain('pv-1');
    expect((await get(machines, 'disk')).status?.deletion?.waitForNodeVolumeDetachStartTime).toBeDefined();
    await core.workload.api.delete(volumes, { name: 'va' });
    await gone(machines, 'disk');
    expect(await core.workload.api.get(nodes, { name: 'disk' }).catch(ignoreNotFound)).toBeUndefined();
  });

  it('gives up a drain after its time, and leaves pods that say so alone', async () => {
    await machine('stuck', 'alone', { deletion: { nodeDrainTimeoutSeconds: 2 } });
    const pod = (name: string, drain: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { 'cluster.x-k8s.io/drain': drain } },
      spec: { nodeName: 'stuck', containers: [{ name: 'c', image: 'nginx' }], tolerations: [{ operator: 'Exists' }] },
    });
    await core.workload.api.create(pods, pod('stays', 'skip'));
    await core.workload.api.create(pods, pod('ends-by-itself', 'wait-completed'));
    await core.store.delete(machines, { namespace, name: 'stuck' });
    const message = conditionText(await deleting('stuck', 'DrainingNode'), 'Deleting');
    expect(message).toContain('default/ends-by-itself: waiting for completion');
    expect(message).not.toContain('default/stays');
    await gone(machines, 'stuck');
    for (const name of ['stays', 'ends-by-itself']) {
      await core.workload.api
        .delete(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 })
        .catch(ignoreNotFound);
    }
  });

  it('is not drained while its whole cluster goes', async () => {
    await machine('last', 'alone');
    await core.store.delete(clusters, { namespace, name: 'alone' });
    await gone(clusters, 'alone');
    expect(await core.workload.api.get(nodes, { name: 'last' })).toMatchObject({ kind: 'Node' });
    expect((await core.store.list(machines, { namespace })).items).toEqual([]);
  });
});

describe('sets and deployments', () => {
  const labels = { pool: 'p' };
  const template = (clusterName: string, version = 'v1.35.0') => ({
    metadata: { labels },
    spec: {
      clusterName,
      version,
      bootstrap: { configRef: ref(fooConfigTemplates, 'pool') },
      infrastructureRef: ref(fooMachineTemplates, 'pool'),
    },
  });
  const ofPool = async () => (await core.store.list(machines, { namespace, labelSelector: 'pool=p' })).items;

  beforeAll(async () => {
    await cluster('pools');
    await make(machineDeployments, 'late', { clusterName: 'pools', replicas: 1, template: template('pools') });
  });

  it('wait for templates that come later, and say so', async () => {
    await eventually('the deployment to say what is missing', async () =>
      conditionText(await get(machineDeployments, 'late'), 'ScalingUp').includes('FooConfigTemplate do not exist'),
    );
    await make(fooMachineTemplates, 'pool', { template: { spec: {} } });
    await make(fooConfigTemplates, 'pool', { template: { spec: {} } });
    await eventually('a machine', async () => (await ofPool()).length === 1);
  });

  it('scale by /scale', async () => {
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'late', namespace },
      spec: { replicas: 2 },
    };
    await core.store.update(machineDeployments, scale, { subresource: 'scale' });
    expect((await get(machineDeployments, 'late')).spec.replicas).toBe(2);
    await eventually('two machines', async () => (await ofPool()).length === 2);
    expect((await get(machineDeployments, 'late')).status?.selector).toContain('cluster.x-k8s.io/deployment-name=late');
  });

  it('replace only what people delete, with OnDelete', async () => {
    await patch(machineDeployments, 'late', {
      spec: {
        rollout: { strategy: { type: 'OnDelete', rollingUpdate: null } },
        template: template('pools', 'v1.35.1'),
      },
    });
    const old = await eventually('a new set', async () => {
      const sets = (await core.store.list(machineSets, { namespace })).items;
      return sets.length === 2 && sets.find(({ spec }) => spec.template.spec.version === 'v1.35.0');
    });
    const annotation = 'cluster.x-k8s.io/disable-machine-create';
    await eventually(
      'the old set to make no machine again',
      async () => (await get(machineSets, old.metadata.name as string)).metadata.annotations?.[annotation] === 'true',
    );
    const versions = async () => (await ofPool()).map(({ spec }) => spec.version).sort();
    expect(await versions()).toEqual(['v1.35.0', 'v1.35.0']);
    const [first] = await ofPool();
    await core.store.delete(machines, keyOf(first as KubeObject));
    await eventually('a machine of the new version', async () => (await versions()).join() === 'v1.35.0,v1.35.1');
  });

  it('hold new machines back while the control plane changes its version', async () => {
    await patch(fooControlPlanes, 'pools', { spec: { version: 'v1.36.0' } });
    await patch(
      fooControlPlanes,
      'pools',
      { status: { version: 'v1.35.1', versions: [{ version: 'v1.35.1', replicas: 1 }] } },
      'status',
    );
    await make(machineSets, 'held', {
      clusterName: 'pools',
      replicas: 1,
      template: { ...template('pools'), metadata: {} },
    });
    await eventually('the set to say why', async () =>
      conditionText(await get(machineSets, 'held'), 'ScalingUp').includes(
        'is upgrading ("ControlPlaneIsStable" preflight check failed)',
      ),
    );
    const versions = [{ version: 'v1.36.0', replicas: 1 }];
    await patch(fooControlPlanes, 'pools', { status: { version: 'v1.36.0', versions } }, 'status');
    await eventually('the machine', async () => (await get(machineSets, 'held')).status?.replicas === 1);
  });

  it('take in a machine without a master that matches', async () => {
    const label = { 'cluster.x-k8s.io/set-name': 'held', 'cluster.x-k8s.io/cluster-name': 'pools' };
    await make(fooMachines, 'orphan', {});
    const spec = {
      clusterName: 'pools',
      bootstrap: { dataSecretName: 'x' },
      infrastructureRef: ref(fooMachines, 'orphan'),
    };
    await make(machines, 'orphan', spec, { labels: label });
    await eventually('the set to own it', async () => {
      const found = await find(machines, 'orphan');
      // Two are one too many: either may have gone since.
      return (
        !found || found.metadata.ownerReferences?.some(({ kind, controller }) => kind === 'MachineSet' && controller)
      );
    });
    await eventually('one machine to be left', async () => (await get(machineSets, 'held')).status?.replicas === 1);
  });

  it('go with their cluster', async () => {
    await core.store.delete(clusters, { namespace, name: 'pools' });
    await gone(clusters, 'pools');
    for (const resource of [machineDeployments, machineSets, machines, fooMachines]) {
      expect((await core.store.list(resource, { namespace })).items).toEqual([]);
    }
  });
});

describe('a cluster', () => {
  it('without a control plane provider is given a kubeconfig made from its CA', async () => {
    await make(fooClusters, 'bare', { controlPlaneEndpoint: { host: '192.0.2.9', port: 6443 } });
    await make(clusters, 'bare', { infrastructureRef: ref(fooClusters, 'bare') });
    await patch(fooClusters, 'bare', { status: { initialization: { provisioned: true } } }, 'status');
    const ca = createCa('bare', { clock: systemClock });
    const data = { 'tls.crt': ca.cert, 'tls.key': ca.key };
    await core.store.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bare-ca', namespace, labels: { 'cluster.x-k8s.io/cluster-name': 'bare' } },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    });
    const secret = await eventually('the kubeconfig', () => find(secrets, 'bare-kubeconfig'));
    expect(secret.metadata.ownerReferences).toMatchObject([{ kind: 'Cluster', name: 'bare' }]);
    const kubeconfig = JSON.parse(Buffer.from(secret.data?.value, 'base64').toString());
    expect(kubeconfig['current-context']).toBe('bare-admin@bare');
    expect(kubeconfig.clusters[0].cluster.server).toBe('https://192.0.2.9:6443');
    await core.store.delete(clusters, { namespace, name: 'bare' });
    await gone(clusters, 'bare');
  });

  it('waits for a kind that is not installed, and goes though it has gone again', async () => {
    const late: ResourceRef = { ...fooClusters, kind: 'LateCluster', plural: 'lateclusters' };
    await make(clusters, 'early', { infrastructureRef: ref(late, 'early') });
    await eventually('the cluster to say that it cannot look', async () =>
      conditionText(await get(clusters, 'early'), 'InfrastructureReady').startsWith('Unknown InternalError'),
    );
    await core.store.create(customResourceDefinitions, fooCrd(late));
    await eventually('the cluster to look', async () =>
      conditionText(await get(clusters, 'early'), 'InfrastructureReady').startsWith('False ObjectDoesNotExist'),
    );
    await eventually('the kind to be served', () => make(late, 'early', {}));
    await eventually(
      'the cluster to own it',
      async () => (await get(late, 'early')).metadata.ownerReferences?.length === 1,
    );
    await core.store.delete(customResourceDefinitions, { name: `${late.plural}.${late.group}` });
    await core.store.delete(clusters, { namespace, name: 'early' });
    await gone(clusters, 'early');
  });

  it('refuses a kubeconfig that would run a program', async () => {
    await cluster('exec');
    const kubeconfig = { users: [{ name: 'u', user: { exec: { command: 'id' } } }] };
    const value = Buffer.from(JSON.stringify(kubeconfig)).toString('base64');
    await patch(secrets, 'exec-kubeconfig', { data: { value } });
    await eventually('the connection to be given up', async () =>
      conditionText(await get(clusters, 'exec'), 'RemoteConnectionProbe').startsWith('False ProbeFailed'),
    );
    await core.store.delete(clusters, { namespace, name: 'exec' });
    await gone(clusters, 'exec');
  });

  it('counts availability gates', async () => {
    await cluster('gated');
    const gates = [{ conditionType: 'Networked' }, { conditionType: 'Busy', polarity: 'Negative' }];
    await patch(clusters, 'gated', { spec: { availabilityGates: gates } });
    await eventually('the gates to hold it back', async () =>
      conditionText(await get(clusters, 'gated'), 'Available').includes('Networked'),
    );
    await core.store.delete(clusters, { namespace, name: 'gated' });
    await gone(clusters, 'gated');
  });
});

it('leaves repair to somebody else where the health check says so', async () => {
  const requests: ResourceRef = { ...fooMachines, kind: 'FooFix', plural: 'foofixes' };
  const templates: ResourceRef = { ...fooMachines, kind: 'FooFixTemplate', plural: 'foofixtemplates' };
  for (const kind of [requests, templates]) await core.store.create(customResourceDefinitions, fooCrd(kind));
  await eventually('the template', () => make(templates, 'fix', { template: { spec: { how: 'gently' } } }));
  await cluster('hospital');
  await machine('patient', 'hospital');
  const templateRef = { apiVersion: apiVersionOf(templates), kind: 'FooFixTemplate', name: 'fix' };
  await make(machineHealthChecks, 'ward', {
    clusterName: 'hospital',
    selector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'hospital' } },
    remediation: { templateRef },
  });
  await eventually('it to be well', async () => (await get(machineHealthChecks, 'ward')).status?.currentHealthy === 1);
  await patch(machines, 'patient', { metadata: { annotations: { 'cluster.x-k8s.io/remediate-machine': '' } } });
  const request = await eventually('the request', () => find(requests, 'patient'));
  expect(request).toMatchObject({ spec: { how: 'gently' }, metadata: { ownerReferences: [{ kind: 'Machine' }] } });
  expect((await get(machines, 'patient')).metadata.deletionTimestamp).toBeUndefined();
  await patch(machines, 'patient', { metadata: { annotations: { 'cluster.x-k8s.io/remediate-machine': null } } });
  await gone(requests, 'patient');
  await core.store.delete(clusters, { namespace, name: 'hospital' });
  await gone(clusters, 'hospital');
});

it('does nothing when nothing happens', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  core.calls();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(core.calls()).toEqual([]);
});
