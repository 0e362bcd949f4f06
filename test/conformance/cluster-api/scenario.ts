// The life of a cluster of Foo machines, told once and run against any core: ours on the embedded server, upstream's on
// a real kube-apiserver. It ends with snapshots of everything, which both have to agree on.
import type { KubeObject } from '../../../src/api/object.ts';
import {
  clusters,
  customResourceDefinitions,
  machineDeployments,
  machineHealthChecks,
  machineSets,
  machines,
} from '../../../src/api/resources.ts';
import {
  apiVersionOf,
  getCondition,
  ignoreNotFound,
  isAlreadyExists,
  isConditionTrue,
  keyOf,
  type ObjectStore,
  type ResourceRef,
} from '../../../src/kube/index.ts';
import {
  fooClusters,
  fooConfigs,
  fooConfigTemplates,
  fooControlPlanes,
  fooCrd,
  fooKinds,
  fooMachines,
  fooMachineTemplates,
  ref,
} from './foo-kinds.ts';
import { FooProviders, nodes, VERSION, type Workload } from './foo-providers.ts';
import { plain, type Snapshot, snapshot } from './snapshot.ts';

const NAME = 'nest';
const NEXT_VERSION = 'v1.35.1';
const pods: ResourceRef = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const budgets: ResourceRef = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};
const HOOKS = {
  drain: 'pre-drain.delete.hook.machine.cluster.x-k8s.io/test',
  terminate: 'pre-terminate.delete.hook.machine.cluster.x-k8s.io/test',
};

export interface Scene {
  management: ObjectStore;
  workload: Workload;
  namespace: string;
  /** How long a step may take on this core. */
  patienceMs: number;
}

/** Facts by step: snapshots of objects, or plain values. */
export type Story = Record<string, Snapshot | unknown>;

export async function installFooKinds(store: ObjectStore): Promise<void> {
  for (const kind of fooKinds) {
    await store.create(customResourceDefinitions, fooCrd(kind)).catch((error) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

export class Scenario {
  readonly story: Story = {};
  readonly providers: FooProviders;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.providers = new FooProviders(scene.management, scene.workload);
  }

  /** Everything applied at once; waits until two workers run and the cluster is available. */
  async create(): Promise<void> {
    for (const object of objects(this.#scene.namespace)) await this.#store.create(...object);
    await this.#until('the cluster to be available with two workers', async () => {
      const cluster = await this.#get(clusters, NAME);
      const deployment = await this.#get(machineDeployments, 'workers');
      const check = await this.#get(machineHealthChecks, 'workers');
      const isUp = isConditionTrue(cluster, 'Available') && deployment.status?.availableReplicas === 2;
      return isUp && check.status?.currentHealthy === 2;
    });
    await this.#settled('created', async () => {
      const [worker] = await this.#workers();
      const [set] = await this.#sets();
      const node = worker && (await this.#scene.workload.api.get(nodes, { name: worker.status?.nodeRef?.name }));
      return {
        Cluster: await this.#get(clusters, NAME),
        FooCluster: await this.#get(fooClusters, NAME),
        FooControlPlane: await this.#get(fooControlPlanes, NAME),
        FooMachineTemplate: await this.#get(fooMachineTemplates, 'workers'),
        FooConfigTemplate: await this.#get(fooConfigTemplates, 'workers'),
        MachineDeployment: await this.#get(machineDeployments, 'workers'),
        MachineSet: set,
        'control plane Machine': await this.#get(machines, `${NAME}-0`),
        'control plane FooMachine': await this.#get(fooMachines, `${NAME}-0`),
        Machine: worker,
        FooMachine: worker && (await this.#get(fooMachines, worker.metadata.name ?? '')),
        FooConfig: worker && (await this.#get(fooConfigs, worker.metadata.name ?? '')),
        MachineHealthCheck: await this.#get(machineHealthChecks, 'workers'),
        Node: node,
      };
    });
    const [worker] = await this.#workers();
    const node = await this.#scene.workload.api.get(nodes, { name: worker?.status?.nodeRef?.name });
    this.story['taints of a node'] = node.spec?.taints ?? [];
  }

  /** Labels of the template reach what is there, without a rollout. */
  async relabel(): Promise<void> {
    const label = 'node.cluster.x-k8s.io/pool';
    await this.#patch(machineDeployments, 'workers', {
      spec: { template: { metadata: { labels: { [label]: 'blue' } }, spec: { minReadySeconds: 1 } } },
    });
    const names = (await this.#workers()).map((machine) => machine.metadata.name);
    await this.#until('the label to reach the nodes', async () => {
      const [worker] = await this.#workers();
      const node = await this.#scene.workload.api.get(nodes, { name: worker?.status?.nodeRef?.name });
      const config = await this.#get(fooConfigs, worker?.metadata.name ?? '');
      return node.metadata.labels?.[label] === 'blue' && config.metadata.labels?.[label] === 'blue';
    });
    await this.#patch(machineDeployments, 'workers', {
      spec: { template: { metadata: { labels: { [label]: null } } } },
    });
    await this.#until('the label to be taken away again', async () => {
      const [worker] = await this.#workers();
      const node = await this.#scene.workload.api.get(nodes, { name: worker?.status?.nodeRef?.name });
      const config = await this.#get(fooConfigs, worker?.metadata.name ?? '');
      return node.metadata.labels?.[label] === undefined && config.metadata.labels?.[label] === undefined;
    });
    const now = (await this.#workers()).map((machine) => machine.metadata.name);
    this.story['machines that survive a label'] = now.filter((name) => names.includes(name)).length;
    this.story['minReadySeconds of a machine'] = (await this.#workers())[0]?.spec.minReadySeconds;
  }

  async rollOut(): Promise<void> {
    await this.#patch(fooControlPlanes, NAME, { spec: { version: NEXT_VERSION } });
    await this.#until('the control plane to have the version', async () => {
      return (await this.#get(fooControlPlanes, NAME)).status?.version === NEXT_VERSION;
    });
    await this.#patch(machineDeployments, 'workers', { spec: { template: { spec: { version: NEXT_VERSION } } } });
    await this.#until('two machines of the new version, and no old set', async () => {
      const { status } = await this.#get(machineDeployments, 'workers');
      const workers = await this.#workers();
      const isNew = workers.length === 2 && workers.every(({ spec }) => spec.version === NEXT_VERSION);
      return (
        isNew && (await this.#sets()).length === 1 && status?.upToDateReplicas === 2 && status.availableReplicas === 2
      );
    });
    await this.#settled('rolled out', async () => ({
      MachineDeployment: await this.#get(machineDeployments, 'workers'),
      MachineSet: (await this.#sets())[0],
      Machine: (await this.#workers())[0],
    }));
  }

  /** Hooks hold, a budget holds, and each says so. */
  async drain(): Promise<void> {
    const { api } = this.#scene.workload;
    const [victim] = await this.#workers();
    const name = victim?.metadata.name as string;
    const nodeName = victim?.status?.nodeRef?.name as string;
    const labels = { app: 'guarded' };
    const metadata = { name: 'guarded', namespace: 'default' };
    await api.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, labels },
      spec: { nodeName, containers: [{ name: 'c', image: 'nginx' }], tolerations: [{ operator: 'Exists' }] },
    });
    await api.create(budgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    await this.#until('the budget to know its pod', async () => {
      return (await api.get(budgets, keyOf({ metadata } as KubeObject))).status?.currentHealthy === 1;
    });
    await this.#patch(machines, name, { metadata: { annotations: { [HOOKS.drain]: '', [HOOKS.terminate]: '' } } });
    await this.#store.delete(machines, this.#key(name));
    const reached = (reason: string) =>
      this.#until(`the machine to reach ${reason}`, async () => {
        return getCondition(await this.#get(machines, name), 'Deleting')?.reason === reason;
      });
    await reached('WaitingForPreDrainHook');
    this.story['cordoned while the pre-drain hook holds'] = Boolean(
      (await api.get(nodes, { name: nodeName })).spec?.unschedulable,
    );
    await this.#patch(machines, name, { metadata: { annotations: { [HOOKS.drain]: null } } });
    await reached('DrainingNode');
    await this.#until('the drain to name the budget', async () => {
      return getCondition(await this.#get(machines, name), 'Deleting')?.message.includes('disruption budget') ?? false;
    });
    this.story['cordoned while draining'] = (await api.get(nodes, { name: nodeName })).spec?.unschedulable;
    await this.#settled('draining', async () => ({ Machine: await this.#get(machines, name) }));
    await api.delete(budgets, { name: 'guarded', namespace: 'default' });
    await reached('WaitingForPreTerminateHook');
    this.story['pods of the drained node'] = (
      await api.list(pods, { fieldSelector: `spec.nodeName=${nodeName}` })
    ).items.length;
    this.story['FooMachine while the pre-terminate hook holds'] = (await this.#find(fooMachines, name)) !== undefined;
    await this.#patch(machines, name, { metadata: { annotations: { [HOOKS.terminate]: null } } });
    await this.#until('machine and node to be gone, and a new one to be there', async () => {
      const gone =
        !(await this.#find(machines, name)) && !(await api.get(nodes, { name: nodeName }).catch(ignoreNotFound));
      return gone && (await this.#get(machineDeployments, 'workers')).status?.availableReplicas === 2;
    });
  }

  /** A node that fails is found by the health check, and its machine replaced. */
  async remediate(): Promise<void> {
    const { api } = this.#scene.workload;
    const [victim] = await this.#workers();
    const name = victim?.metadata.name as string;
    const nodeName = victim?.status?.nodeRef?.name as string;
    const node = await api.get(nodes, { name: nodeName });
    const time = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, '');
    const conditions = (node.status?.conditions ?? []).map((condition: { type: string }) =>
      condition.type === 'Ready'
        ? { ...condition, status: 'False', reason: 'Broken', message: 'on purpose', lastTransitionTime: time }
        : condition,
    );
    await api.patch(
      nodes,
      { name: nodeName },
      { type: 'merge', body: { status: { conditions } } },
      { subresource: 'status' },
    );
    await this.#until('the machine to be found unhealthy and deleted', async () => {
      const machine = await this.#find(machines, name);
      return machine === undefined || machine.metadata.deletionTimestamp !== undefined;
    });
    const machine = await this.#find(machines, name);
    if (machine) {
      this.story['health of a broken machine'] = [
        getCondition(machine, 'HealthCheckSucceeded')?.reason,
        getCondition(machine, 'OwnerRemediated')?.reason,
      ];
    }
    await this.#until('another machine to take its place', async () => {
      const { status } = await this.#get(machineDeployments, 'workers');
      const workers = await this.#workers();
      const check = await this.#get(machineHealthChecks, 'workers');
      const isWell = status?.availableReplicas === 2 && check.status?.currentHealthy === 2;
      return isWell && workers.length === 2 && workers.every((worker) => worker.metadata.name !== name);
    });
    await this.#settled('remediated', async () => ({
      MachineHealthCheck: await this.#get(machineHealthChecks, 'workers'),
    }));
  }

  /** Nothing moves while a cluster is paused. */
  async pause(): Promise<void> {
    await this.#patch(clusters, NAME, { spec: { paused: true } });
    await this.#until('everything to say that it is paused', async () => {
      const all = [
        await this.#get(clusters, NAME),
        await this.#get(machineDeployments, 'workers'),
        ...(await this.#workers()),
      ];
      return all.every((object) => isConditionTrue(object, 'Paused'));
    });
    await this.#patch(machineDeployments, 'workers', { spec: { replicas: 3 } });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    this.story['machines while paused'] = (await this.#workers()).length;
    await this.#patch(clusters, NAME, { spec: { paused: false } });
    await this.#until('the third machine', async () => {
      return (await this.#get(machineDeployments, 'workers')).status?.availableReplicas === 3;
    });
  }

  /** In Cluster API's order, with nothing left. */
  async delete(): Promise<void> {
    this.providers.deletions.length = 0;
    await this.#store.delete(clusters, this.#key(NAME));
    await this.#until('the cluster to be gone', async () => !(await this.#find(clusters, NAME)));
    const kinds = this.providers.deletions.map((line) => plain(line).split(' ')[0] as string);
    const workers = this.providers.deletions.filter((line) => line.startsWith('FooMachine workers-'));
    const at = (line: string) => this.providers.deletions.indexOf(line);
    this.story['order of deletion'] = {
      workers: workers.length,
      'workers before control plane': workers.every((line) => at(line) < at(`FooControlPlane ${NAME}`)),
      'machines before their control plane': at(`FooMachine ${NAME}-0`) < at(`FooControlPlane ${NAME}`),
      last: kinds.at(-1),
    };
    const left: string[] = [];
    for (const resource of [
      machines,
      machineSets,
      machineDeployments,
      fooMachines,
      fooConfigs,
      fooClusters,
      fooControlPlanes,
    ]) {
      const { items } = await this.#store.list(resource, { namespace: this.#scene.namespace });
      left.push(...items.map((item) => `${resource.kind} ${item.metadata.name}`));
    }
    this.story['left behind'] = left;
  }

  get #store(): ObjectStore {
    return this.#scene.management;
  }

  #key(name: string) {
    return { namespace: this.#scene.namespace, name };
  }

  #get(resource: ResourceRef, name: string): Promise<KubeObject> {
    return this.#store.get(resource, this.#key(name));
  }

  #find(resource: ResourceRef, name: string): Promise<KubeObject | undefined> {
    return this.#get(resource, name).catch(ignoreNotFound);
  }

  async #list(resource: ResourceRef, labelSelector: string): Promise<KubeObject[]> {
    const { items } = await this.#store.list(resource, { namespace: this.#scene.namespace, labelSelector });
    return items.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  }

  #workers(): Promise<KubeObject[]> {
    return this.#list(machines, 'cluster.x-k8s.io/deployment-name=workers');
  }

  #sets(): Promise<KubeObject[]> {
    return this.#list(machineSets, 'cluster.x-k8s.io/deployment-name=workers');
  }

  #patch(resource: ResourceRef, name: string, body: Record<string, unknown>): Promise<KubeObject> {
    return this.#store.patch(resource, this.#key(name), { type: 'merge', body });
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + this.#scene.patienceMs;
    let problem: unknown;
    for (;;) {
      try {
        problem = undefined;
        if (await holds()) return;
      } catch (error) {
        problem = error;
      }
      if (Date.now() > end) throw new Error(`waited in vain for ${what}\n${problem ?? ''}\n${await this.#state()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Notes the snapshots once they do not change any more. */
  async #settled(step: string, take: () => Promise<Record<string, KubeObject | undefined>>): Promise<void> {
    const end = Date.now() + this.#scene.patienceMs;
    let last = '';
    for (;;) {
      const taken = Object.entries(await take()).map(([name, object]) => [
        `${step}: ${name}`,
        object && snapshot(object),
      ]);
      const text = JSON.stringify(taken);
      if (text === last || Date.now() > end) {
        Object.assign(this.story, Object.fromEntries(taken));
        return;
      }
      last = text;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  /** For the error: what everybody says. */
  async #state(): Promise<string> {
    const lines: string[] = [];
    for (const resource of [clusters, machineDeployments, machineSets, machines, machineHealthChecks, fooMachines]) {
      const { items } = await this.#store.list(resource, { namespace: this.#scene.namespace });
      for (const { metadata, status } of items) {
        const conditions = (status?.conditions ?? []).map(
          (c: { type: string; status: string; reason: string; message: string }) =>
            `    ${c.type}=${c.status} ${c.reason} ${c.message}`,
        );
        lines.push(
          `${resource.kind} ${metadata.name} ${status?.phase ?? ''} ${metadata.deletionTimestamp ?? ''}`,
          ...conditions,
        );
      }
    }
    return lines.join('\n');
  }
}

/** With every default spelt out: the bare bed has no webhooks. */
function objects(namespace: string): [ResourceRef, KubeObject][] {
  const made = (resource: ResourceRef, name: string, spec: object, labels?: object): [ResourceRef, KubeObject] => [
    resource,
    {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name, namespace, ...(labels ? { labels: labels as Record<string, string> } : {}) },
      spec,
    },
  ];
  const pool = { 'cluster.x-k8s.io/deployment-name': 'workers', 'cluster.x-k8s.io/cluster-name': NAME };
  return [
    made(fooMachineTemplates, 'workers', {
      template: {
        metadata: { labels: { size: 'small' }, annotations: { made: 'by-template' } },
        spec: { flavor: 'small' },
      },
    }),
    made(fooConfigTemplates, 'workers', { template: { spec: {} } }),
    made(fooControlPlanes, NAME, { version: VERSION, replicas: 1 }),
    made(fooClusters, NAME, {}),
    made(clusters, NAME, {
      infrastructureRef: ref(fooClusters, NAME),
      controlPlaneRef: ref(fooControlPlanes, NAME),
    }),
    made(
      machineDeployments,
      'workers',
      {
        clusterName: NAME,
        replicas: 2,
        selector: { matchLabels: pool },
        rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
        template: {
          metadata: { labels: { ...pool, 'node-role.kubernetes.io/worker': '' }, annotations: { note: 'hello' } },
          spec: {
            clusterName: NAME,
            version: VERSION,
            bootstrap: { configRef: ref(fooConfigTemplates, 'workers') },
            infrastructureRef: ref(fooMachineTemplates, 'workers'),
            deletion: { nodeDeletionTimeoutSeconds: 10 },
          },
        },
      },
      { 'cluster.x-k8s.io/cluster-name': NAME },
    ),
    made(
      machineHealthChecks,
      'workers',
      {
        clusterName: NAME,
        selector: { matchLabels: { 'cluster.x-k8s.io/deployment-name': 'workers' } },
        checks: {
          nodeStartupTimeoutSeconds: 600,
          unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 5 }],
        },
        remediation: { triggerIf: { unhealthyLessThanOrEqualTo: '100%' } },
      },
      { 'cluster.x-k8s.io/cluster-name': NAME },
    ),
  ];
}
