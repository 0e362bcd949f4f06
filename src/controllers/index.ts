/** Every reconciler of Rookery, added to one manager. */
import type { KindCluster } from '../api/infrastructure/kind-cluster.ts';
import type { Manager, ObjectStore } from '../kube/index.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import type { Tenants } from '../provisioners/virtual/tenants.ts';
import { clusterController } from './cluster.ts';
import { kindClusterController } from './kind-cluster.ts';
import { virtualClusterController } from './virtual-cluster.ts';

export interface ControllerParts {
  store: ObjectStore;
  /** Tenants of the embedded server; absent where there is none (in a Kubernetes cluster). */
  tenants?: Tenants;
  /** Makes clusters with kind; absent where its objects are left to somebody else. */
  kind?: Provisioner<KindCluster['spec']>;
}

export function addControllers(manager: Manager, parts: ControllerParts): void {
  manager.addController(clusterController(parts.store, manager.informers));
  if (parts.tenants) manager.addController(virtualClusterController(parts.store, parts.tenants));
  if (parts.kind) manager.addController(kindClusterController(parts.store, manager.informers, parts.kind));
}
