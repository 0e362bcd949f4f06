/**
 * Our Cluster API core: Cluster, Machine, MachineSet, MachineDeployment and MachineHealthCheck by contract v1beta2, for
 * any provider, ours or foreign. What it does and what it leaves out is in docs/cluster-api.md.
 */
import type { KubeObject } from '../../api/object.ts';
import { clusters } from '../../api/resources.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../../clock.ts';
import {
  type Controller,
  type ControllerOptions,
  type Informer,
  ignoreNotFound,
  keyOf,
  keyText,
  type Manager,
  type ObjectStore,
} from '../../kube/index.ts';
import { placeOfCluster } from '../../provisioners/cluster-place.ts';
import type { HostPolicy } from '../../provisioners/host-policy.ts';
import { type Logger, silentLogger } from '../../telemetry/log.ts';
import { machinesOfNode, makeCaches, ofCluster } from './caches.ts';
import { clusterController } from './cluster/cluster-controller.ts';
import type { Core } from './core.ts';
import { type CoreMode, CoreSwitch } from './core-switch.ts';
import { Externals, selfReferenceText } from './externals.ts';
import { machineController } from './machine/machine-controller.ts';
import { machineDeploymentController } from './machine-deployment/machine-deployment-controller.ts';
import { checksOf, machineHealthCheckController } from './machine-health-check/machine-health-check-controller.ts';
import { machineSetController } from './machine-set/machine-set-controller.ts';
import { kindText, ProviderKinds } from './provider-kinds.ts';
import { WorkloadClusters } from './workload/workload-clusters.ts';

export type { CoreMode } from './core-switch.ts';

export interface CoreOptions {
  store: ObjectStore;
  host: HostPolicy;
  /** `auto`: not where upstream's core is installed. */
  mode?: CoreMode;
  clock?: Clock;
  random?: Random;
  log?: Logger;
}

export function coreControllers(manager: Manager, options: CoreOptions): void {
  const { store, host, mode = 'auto', clock = systemClock, random = systemRandom, log = silentLogger } = options;
  if (mode === 'off') return;
  const { informers } = manager;
  const parts = { store, clock, random, log };
  const kinds = new ProviderKinds(parts);
  const power = new CoreSwitch({ ...parts, mode, kinds });
  const workloads = new WorkloadClusters({
    ...parts,
    placeOf: async (key) =>
      await placeOfCluster({ store, policy: host }, await store.get(clusters, key).catch(ignoreNotFound)),
  });
  const caches = makeCaches(informers);
  const externals = new Externals(store, informers, kinds);
  const core: Core = { ...parts, informers, caches, externals, workloads };
  for (const runnable of [kinds, power, workloads]) manager.add(runnable);
  const add = (controller: ControllerOptions) => manager.addController(guarded(controller, power, kinds));
  const cluster = add(clusterController(core));
  const machine = add(machineController(core));
  const machineSet = add(machineSetController(core));
  const machineHealthCheck = add(machineHealthCheckController(core));
  const all: [Controller, Informer][] = [
    [cluster, caches.clusters],
    [machine, caches.machines],
    [machineSet, caches.machineSets],
    [add(machineDeploymentController(core)), caches.machineDeployments],
    [machineHealthCheck, caches.machineHealthChecks],
  ];

  const enqueue = (controller: Controller, objects: KubeObject[]) => {
    for (const object of objects) controller.queue.add(keyText(keyOf(object)));
  };
  power.onChange(() => {
    if (!power.isOn) workloads.forgetAll();
    else for (const [controller, cache] of all) enqueue(controller, cache.list());
  });
  externals.onChange((object) => {
    const text = selfReferenceText(object);
    for (const [controller, cache] of all) enqueue(controller, cache.byIndex('reference', text));
    // Sets that wait for a control plane to be stable.
    for (const referrer of caches.clusters.byIndex('reference', text)) {
      enqueue(machineSet, ofCluster(caches.machineSets, referrer).filter(isScaling));
    }
  });
  kinds.onChange((kind, _, initial) => {
    if (initial) return;
    for (const [controller, cache] of all) enqueue(controller, cache.byIndex('kind', kindText(kind)));
  });
  workloads.listen({
    connection(key) {
      cluster.queue.add(keyText(key));
      const object = caches.clusters.get(key);
      if (!object) return;
      enqueue(machine, ofCluster(caches.machines, object));
      enqueue(machineHealthCheck, ofCluster(caches.machineHealthChecks, object));
    },
    node(key, node) {
      for (const found of machinesOfNode(caches, key, node)) {
        enqueue(machine, [found]);
        enqueue(machineHealthCheck, checksOf(core, found));
      }
    },
    secret({ namespace, name }) {
      if (name.endsWith('-ca')) cluster.queue.add(keyText({ namespace, name: name.slice(0, -3) }));
    },
  });
}

function isScaling({ spec, status }: KubeObject): boolean {
  return spec?.replicas !== status?.replicas;
}

/** Does nothing while somebody else's core is at work. */
function guarded(controller: ControllerOptions, power: CoreSwitch, kinds: ProviderKinds): ControllerOptions {
  return {
    ...controller,
    async reconcile(key, context) {
      await Promise.all([power.whenKnown(context.signal), kinds.whenSynced(context.signal)]);
      return power.isOn ? controller.reconcile(key, context) : undefined;
    },
  };
}
