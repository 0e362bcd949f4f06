/**
 * Our Cluster API core: Cluster, Machine, MachineSet, MachineDeployment and MachineHealthCheck by contract v1beta2, for
 * any provider, ours or foreign. What it does and what it leaves out is in docs/cluster-api.md.
 */
import type { KubeObject } from '../../api/object.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../../clock.ts';
import {
  type Controller,
  type ControllerOptions,
  type Informer,
  keyOf,
  keyText,
  type Manager,
  type ObjectStore,
} from '../../kube/index.ts';
import { type Logger, silentLogger } from '../../telemetry/log.ts';
import { machinesOfNode, makeCaches } from './caches.ts';
import { clusterController } from './cluster/cluster-controller.ts';
import type { Core } from './core.ts';
import { type CoreMode, CoreSwitch } from './core-switch.ts';
import { Externals, selfReferenceText } from './externals.ts';
import { kindText, ProviderKinds } from './provider-kinds.ts';
import { WorkloadClusters } from './workload/workload-clusters.ts';

export type { CoreMode } from './core-switch.ts';

export interface CoreOptions {
  store: ObjectStore;
  /** `auto`: not where upstream's core is installed. */
  mode?: CoreMode;
  clock?: Clock;
  random?: Random;
  log?: Logger;
}

export function coreControllers(manager: Manager, options: CoreOptions): void {
  const { store, mode = 'auto', clock = systemClock, random = systemRandom, log = silentLogger } = options;
  if (mode === 'off') return;
  const { informers } = manager;
  const parts = { store, clock, random, log };
  const kinds = new ProviderKinds(parts);
  const power = new CoreSwitch({ ...parts, mode, kinds });
  const workloads = new WorkloadClusters(parts);
  const caches = makeCaches(informers);
  const externals = new Externals(store, informers, kinds);
  const core: Core = { ...parts, informers, caches, externals, workloads };
  for (const runnable of [kinds, power, workloads]) manager.add(runnable);
  const add = (controller: ControllerOptions) => manager.addController(guarded(controller, power, kinds));
  const all: [Controller, Informer][] = [[add(clusterController(core)), caches.clusters]];
  const [cluster] = all.map(([controller]) => controller) as [Controller];

  const enqueue = (controller: Controller, objects: KubeObject[]) => {
    for (const object of objects) controller.queue.add(keyText(keyOf(object)));
  };
  power.onChange(() => {
    if (power.isOn) for (const [controller, cache] of all) enqueue(controller, cache.list());
  });
  externals.onChange((object) => {
    const text = selfReferenceText(object);
    for (const [controller, cache] of all) enqueue(controller, cache.byIndex('reference', text));
  });
  kinds.onChange((kind, _, initial) => {
    if (initial) return;
    for (const [controller, cache] of all) enqueue(controller, cache.byIndex('kind', kindText(kind)));
  });
  workloads.listen({
    connection: (key) => cluster.queue.add(keyText(key)),
    node: (key, node) => void machinesOfNode(caches, key, node),
  });
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
