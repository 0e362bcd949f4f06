/** What every reconciler of the core works with. */
import type { KubeObject } from '../../api/object.ts';
import { clusters } from '../../api/resources.ts';
import type { Clock, Random } from '../../clock.ts';
import { type Informers, ignoreNotFound, type ObjectStore } from '../../kube/index.ts';
import type { Caches } from './caches.ts';
import type { Externals } from './externals.ts';
import { LABEL } from './names.ts';
import type { WorkloadClusters } from './workload/workload-clusters.ts';

export interface Core {
  store: ObjectStore;
  informers: Informers;
  caches: Caches;
  externals: Externals;
  workloads: WorkloadClusters;
  clock: Clock;
  random: Random;
}

export function isControlPlaneMachine(machine: KubeObject): boolean {
  return machine.metadata.labels?.[LABEL.controlPlane] !== undefined;
}

/** The Cluster that an object says it belongs to. */
export function clusterOf(core: Core, object: KubeObject, signal?: AbortSignal): Promise<KubeObject | undefined> {
  const key = { namespace: object.metadata.namespace, name: object.spec?.clusterName as string };
  return core.store.get(clusters, key, { signal }).catch(ignoreNotFound);
}

/** Runs all, also when one fails: each has something to report. The first failure is what the reconcile ends with. */
export async function runPhases(phases: (() => Promise<void> | void)[]): Promise<unknown> {
  let failure: { error: unknown } | undefined;
  for (const phase of phases) {
    try {
      await phase();
    } catch (error) {
      failure ??= { error };
    }
  }
  return failure?.error;
}
