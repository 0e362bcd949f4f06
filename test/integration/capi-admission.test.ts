// What upstream's webhooks fill in and refuse, the embedded server fills in and refuses by itself.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { machineDeployments, machineHealthChecks, machineSets, machines } from '../../src/api/resources.ts';
import { clusterApiAdmission } from '../../src/controllers/core/admission/plugin.ts';
import { installCrds } from '../../src/embedded/install-crds.ts';
import { apiVersionOf, isInvalid, keyOf, type RemoteStore, type ResourceRef } from '../../src/kube/index.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let store: RemoteStore;

beforeAll(async () => {
  server = await startServer({ admission: [clusterApiAdmission] });
  await installCrds(server.root);
  store = await server.remote();
});
afterAll(async () => {
  const { errors } = server;
  await server.close();
  expect(errors).toEqual([]);
});

const infrastructureRef = { apiGroup: 'foo.example.dev', kind: 'FooMachineTemplate', name: 'workers' };
const machineSpec = { clusterName: 'nest', bootstrap: { dataSecretName: 'x' }, infrastructureRef };
let made = 0;

function object(resource: ResourceRef, spec: object, annotations?: Record<string, string>): KubeObject {
  const metadata = { name: `o-${made++}`, namespace: 'default', ...(annotations ? { annotations } : {}) };
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec };
}

const pool = (spec: object = {}) => ({ clusterName: 'nest', selector: {}, template: { spec: machineSpec }, ...spec });

async function refusal(resource: ResourceRef, spec: object, annotations?: Record<string, string>): Promise<string> {
  try {
    await store.create(resource, object(resource, spec, annotations));
  } catch (error) {
    expect(isInvalid(error)).toBe(true);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

describe('fills in', () => {
  it('a Machine', async () => {
    const machine = await store.create(machines, object(machines, { ...machineSpec, version: '1.35.0' }));
    expect(machine.metadata.labels).toEqual({ 'cluster.x-k8s.io/cluster-name': 'nest' });
    expect(machine.spec.version).toBe('v1.35.0');
    expect(machine.spec.deletion).toEqual({ nodeDeletionTimeoutSeconds: 10 });
  });

  it('a MachineSet', async () => {
    const set = await store.create(machineSets, object(machineSets, pool()));
    const label = { 'cluster.x-k8s.io/set-name': set.metadata.name };
    expect(set.spec).toMatchObject({ replicas: 1, selector: { matchLabels: label } });
    expect(set.spec.template.metadata.labels).toEqual(label);
  });

  it('a MachineDeployment', async () => {
    const deployment = await store.create(machineDeployments, object(machineDeployments, pool()));
    const labels = {
      'cluster.x-k8s.io/deployment-name': deployment.metadata.name,
      'cluster.x-k8s.io/cluster-name': 'nest',
    };
    expect(deployment.spec).toMatchObject({
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels } },
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    });
  });

  it('replicas within the bounds of an autoscaler, and keeps what it decided', async () => {
    const bounds = {
      'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': '2',
      'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': '5',
    };
    const deployment = await store.create(machineDeployments, object(machineDeployments, pool(), bounds));
    expect(deployment.spec.replicas).toBe(2);
    const key = keyOf(deployment);
    await store.patch(machineDeployments, key, { type: 'merge', body: { spec: { replicas: 4 } } });
    const unset = await store.patch(machineDeployments, key, { type: 'merge', body: { spec: { replicas: null } } });
    expect(unset.spec.replicas).toBe(4);
  });

  it('a MachineHealthCheck', async () => {
    const spec = { clusterName: 'nest', selector: { matchLabels: { a: 'b' } } };
    const check = await store.create(machineHealthChecks, object(machineHealthChecks, spec));
    expect(check.spec.checks).toEqual({ nodeStartupTimeoutSeconds: 600 });
  });
});

describe('refuses', () => {
  it('a machine without bootstrap data, and one that changes its cluster', async () => {
    expect(await refusal(machines, { ...machineSpec, bootstrap: {} })).toContain('configRef or dataSecretName');
    const machine = await store.create(machines, object(machines, machineSpec));
    const body = { spec: { clusterName: 'other' } };
    await expect(store.patch(machines, keyOf(machine), { type: 'merge', body })).rejects.toThrow('clusterName');
  });

  it.each([
    ['a version that is none', { template: { spec: { ...machineSpec, version: '1.13' } } }, 'semantic version'],
    ['a template of another cluster', { clusterName: 'other' }, 'must be set to the same value'],
    ['a selector that misses its own machines', { selector: { matchLabels: { a: 'b' } } }, 'must match spec.selector'],
    ['names that would repeat', { machineNaming: { template: 'machine' } }, '{{ .random }} is missing'],
    [
      'a worker tainted as control plane',
      {
        template: {
          spec: {
            ...machineSpec,
            taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule', propagation: 'Always' }],
          },
        },
      },
      'not allowed for worker Machines',
    ],
  ])('%s', async (_, spec, text) => {
    expect(await refusal(machineSets, pool(spec))).toContain(text);
    expect(await refusal(machineDeployments, pool(spec))).toContain(text);
  });

  it('a rollout that could never move, and counts that are none', async () => {
    const rollout = (rollingUpdate: object) =>
      pool({ rollout: { strategy: { type: 'RollingUpdate', rollingUpdate } } });
    expect(await refusal(machineDeployments, rollout({ maxSurge: 0, maxUnavailable: 0 }))).toContain('both be 0');
    expect(await refusal(machineDeployments, rollout({ maxSurge: 'many' }))).toContain('int or a percentage');
  });

  it('preflight checks to skip that there are not', async () => {
    const annotation = { 'machineset.cluster.x-k8s.io/skip-preflight-checks': 'KubeadmVersion' };
    expect(await refusal(machineSets, pool(), annotation)).toContain('KubernetesVersionSkew');
  });

  it('a health check of everything, or one that gives nodes no time', async () => {
    const check = (spec: object) => ({ clusterName: 'nest', selector: { matchLabels: { a: 'b' } }, ...spec });
    expect(await refusal(machineHealthChecks, check({ selector: {} }))).toContain('must not be empty');
    expect(await refusal(machineHealthChecks, check({ checks: { nodeStartupTimeoutSeconds: 5 } }))).toContain('30s');
  });
});
