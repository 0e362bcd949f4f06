// The provider set of the Foo kinds, scripted: does what the contract asks of each, at once and by the book. Its
// machines are nodes of a real workload cluster.
import type { KubeObject } from '../../../src/api/object.ts';
import { clusters, machines, secrets } from '../../../src/api/resources.ts';
import { systemClock } from '../../../src/clock.ts';
import {
  apiVersionOf,
  ensureFinalizer,
  ignoreNotFound,
  isAlreadyExists,
  isDeleting,
  isPaused,
  keyOf,
  Manager,
  type ObjectStore,
  ownerReference,
  PatchHelper,
  type Reconciler,
  type ResourceRef,
  removeFinalizer,
  setCondition,
} from '../../../src/kube/index.ts';
import { fooClusters, fooConfigs, fooControlPlanes, fooMachines, ref } from './foo-kinds.ts';

const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';
export const nodes: ResourceRef = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const VERSION = 'v1.35.0';

export interface Workload {
  api: ObjectStore;
  kubeconfig: string;
  endpoint: { host: string; port: number };
}

export class FooProviders {
  /** What was deleted, in order. */
  readonly deletions: string[] = [];
  readonly #store: ObjectStore;
  readonly #workload: Workload;
  readonly #manager: Manager;

  constructor(store: ObjectStore, workload: Workload) {
    this.#store = store;
    this.#workload = workload;
    this.#manager = new Manager({ store });
    const owned = (resource: ResourceRef) => (object: KubeObject) => {
      const references = [
        object.spec?.infrastructureRef,
        object.spec?.controlPlaneRef,
        object.spec?.bootstrap?.configRef,
      ];
      return references
        .filter((reference) => reference?.kind === resource.kind)
        .map((reference) => ({ namespace: object.metadata.namespace, name: reference.name }));
    };
    const add = (resource: ResourceRef, work: (object: KubeObject, signal: AbortSignal) => Promise<void>) =>
      this.#manager.addController({
        name: resource.plural,
        resource,
        watches: [
          { resource: clusters, map: owned(resource) },
          { resource: machines, map: owned(resource) },
        ],
        reconcile: this.#reconciler(resource, work),
      });
    add(fooClusters, (object, signal) => this.#cluster(object, signal));
    add(fooControlPlanes, (object, signal) => this.#controlPlane(object, signal));
    add(fooConfigs, (object, signal) => this.#config(object, signal));
    add(fooMachines, (object, signal) => this.#machine(object, signal));
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#manager.run(signal);
  }

  /** Owner first, then finalizer; pause respected; deletion noted. */
  #reconciler(resource: ResourceRef, work: (object: KubeObject, signal: AbortSignal) => Promise<void>): Reconciler {
    const finalizer = `${resource.kind.toLowerCase()}.foo.example.dev`;
    return async (key, { signal }) => {
      const found = await this.#store.get(resource, key, { signal }).catch(ignoreNotFound);
      if (!found) return;
      const owner = found.metadata.ownerReferences?.some(({ kind }) => ['Cluster', 'Machine'].includes(kind));
      const cluster = await this.#clusterOf(found, signal);
      if (isDeleting(found)) {
        if (isPaused(found, cluster)) return;
        if (resource === fooControlPlanes && !(await this.#hasNoMachines(found, signal))) return { requeueAfter: 50 };
        const gone = await removeFinalizer(this.#store, resource, found, finalizer, signal);
        if (!gone) this.deletions.push(`${resource.kind} ${found.metadata.name}`);
        return;
      }
      if (!owner || !cluster || isPaused(found, cluster)) return;
      await work(await ensureFinalizer(this.#store, resource, found, finalizer, signal), signal);
      return;
    };
  }

  #clusterOf(object: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
    const name = object.metadata.labels?.[CLUSTER_LABEL];
    if (!name) return Promise.resolve(undefined);
    const { namespace } = object.metadata;
    return this.#store.get(clusters, { namespace, name }, { signal }).catch(ignoreNotFound);
  }

  async #report(
    resource: ResourceRef,
    object: KubeObject,
    change: { spec?: object; status: Record<string, unknown> },
    signal: AbortSignal,
  ) {
    const helper = new PatchHelper(this.#store, resource, object);
    const draft = helper.draft();
    draft.spec = { ...draft.spec, ...change.spec };
    draft.status = { ...draft.status, ...change.status };
    await helper.patch(draft, signal);
  }

  /** Ready only once the way to the cluster is known: a core that dials at once succeeds at once. */
  async #cluster(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, labels } = object.metadata;
    const name = `${labels?.[CLUSTER_LABEL]}-kubeconfig`;
    if (!(await this.#store.get(secrets, { namespace, name }, { signal }).catch(ignoreNotFound))) {
      throw new Error('the control plane has not written a kubeconfig yet');
    }
    const failureDomains = [{ name: 'east', controlPlane: true }, { name: 'west' }];
    const status = { initialization: { provisioned: true }, failureDomains };
    await this.#report(
      fooClusters,
      object,
      { spec: { controlPlaneEndpoint: this.#workload.endpoint }, status },
      signal,
    );
  }

  async #controlPlane(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', labels } = object.metadata;
    const cluster = labels?.[CLUSTER_LABEL] as string;
    await this.#create(
      secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'cluster.x-k8s.io/secret',
        metadata: {
          name: `${cluster}-kubeconfig`,
          namespace,
          labels: { [CLUSTER_LABEL]: cluster },
          ownerReferences: [ownerReference(object, { controller: true })],
        },
        data: { value: Buffer.from(this.#workload.kubeconfig).toString('base64') },
      },
      signal,
    );
    await this.#controlPlaneMachine(object, cluster, signal);
    const machine = await this.#store.get(machines, { namespace, name: `${name}-0` }, { signal });
    const helper = new PatchHelper(this.#store, machines, machine);
    const draft = helper.draft();
    // Whether a control plane machine is up to date only its control plane can say.
    setCondition(draft, { type: 'UpToDate', status: 'True', reason: 'UpToDate' }, systemClock);
    await helper.patch(draft, signal);
    const version = object.spec.version;
    const isUp = machine.spec.providerID !== undefined;
    const status = {
      ...(isUp ? { initialization: { controlPlaneInitialized: true } } : {}),
      replicas: 1,
      readyReplicas: isUp ? 1 : 0,
      availableReplicas: isUp ? 1 : 0,
      upToDateReplicas: 1,
      version,
      versions: [{ version, replicas: 1 }],
    };
    await this.#report(fooControlPlanes, object, { status }, signal);
    if (!isUp) throw new Error('the first machine is not up yet');
  }

  /** Parts first, then the machine, as control planes do it. */
  async #controlPlaneMachine(object: KubeObject, cluster: string, signal: AbortSignal): Promise<void> {
    const { namespace, name: owner = '' } = object.metadata;
    const name = `${owner}-0`;
    const labels = {
      [CLUSTER_LABEL]: cluster,
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': owner,
    };
    for (const resource of [fooMachines, fooConfigs]) {
      const metadata = { name, namespace, labels, ownerReferences: [ownerReference(object)] };
      const part = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec: {} };
      await this.#create(resource, part, signal);
    }
    await this.#create(
      machines,
      {
        apiVersion: apiVersionOf(machines),
        kind: 'Machine',
        metadata: {
          name,
          namespace,
          labels,
          ownerReferences: [ownerReference(object, { controller: true, blockOwnerDeletion: true })],
        },
        spec: {
          clusterName: cluster,
          version: object.spec.version,
          bootstrap: { configRef: ref(fooConfigs, name) },
          infrastructureRef: ref(fooMachines, name),
          deletion: { nodeDeletionTimeoutSeconds: 10 },
        },
      },
      signal,
    );
  }

  async #hasNoMachines(object: KubeObject, signal: AbortSignal): Promise<boolean> {
    const { namespace, name } = object.metadata;
    const labelSelector = `cluster.x-k8s.io/control-plane-name=${name}`;
    const { items } = await this.#store.list(machines, { namespace, labelSelector, signal });
    for (const machine of items) {
      if (!isDeleting(machine)) await this.#store.delete(machines, keyOf(machine), { signal }).catch(ignoreNotFound);
    }
    return items.length === 0;
  }

  async #config(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', labels } = object.metadata;
    const data = { value: Buffer.from('#!/bin/true').toString('base64') };
    const ownerReferences = [ownerReference(object, { controller: true })];
    const metadata = { name, namespace, ownerReferences, labels: { [CLUSTER_LABEL]: labels?.[CLUSTER_LABEL] ?? '' } };
    const secret = { apiVersion: 'v1', kind: 'Secret', type: 'cluster.x-k8s.io/secret', metadata, data };
    await this.#create(secrets, secret, signal);
    const status = { dataSecretName: name, initialization: { dataSecretCreated: true } };
    await this.#report(fooConfigs, object, { status }, signal);
  }

  async #machine(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, name = '' } = object.metadata;
    const machine = await this.#store.get(machines, { namespace, name }, { signal }).catch(ignoreNotFound);
    if (!machine?.spec.bootstrap.dataSecretName || isDeleting(machine)) return;
    const providerID = `foo://${name}`;
    if (object.spec?.providerID === undefined) await this.#join(name, providerID, machine, signal);
    const addresses = [{ type: 'InternalIP', address: '192.0.2.7' }];
    const status = { initialization: { provisioned: true }, addresses, interruptible: true };
    await this.#report(fooMachines, object, { spec: { providerID }, status }, signal);
  }

  /** The kubelet's part: a node that says it is not to be used yet. */
  async #join(name: string, providerID: string, machine: KubeObject, signal: AbortSignal): Promise<void> {
    const node: KubeObject = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name }, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
      spec: { providerID, taints: [{ key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' }] },
      status: { nodeInfo: nodeInfo(machine.spec.version) },
    };
    try {
      await this.#workload.api.create(nodes, node, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #create(resource: ResourceRef, object: KubeObject, signal: AbortSignal): Promise<void> {
    try {
      await this.#store.create(resource, object, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function nodeInfo(kubeletVersion: string) {
  const unset = { machineID: '', systemUUID: '', bootID: '', kernelVersion: '', osImage: '' };
  return {
    ...unset,
    containerRuntimeVersion: '',
    kubeletVersion,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  };
}
