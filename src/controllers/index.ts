/** Every reconciler of Rookery, added to one manager. */
import type { Manager, ObjectStore } from '../kube/index.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { coreControllers } from './core/index.ts';
import { provisionedClusterController } from './provisioned-cluster.ts';

export interface ControllerParts {
  store: ObjectStore;
  /** Called when the first object of a way is seen; absent where all of them are left to somebody else. */
  // biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
  open?(way: ClusterWay): Promise<Provisioner<any>>;
  /** False where upstream's core drives the providers. Default true. */
  hasCore?: boolean;
}

export function addControllers(manager: Manager, { store, open, hasCore = true }: ControllerParts): void {
  if (hasCore) coreControllers(manager, { store });
  if (!open) return;
  for (const way of clusterWays) {
    manager.addController(provisionedClusterController(store, manager.informers, way, () => open(way)));
  }
}
