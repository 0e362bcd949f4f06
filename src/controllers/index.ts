/** Every reconciler of Rookery, added to one manager. */
import { keyText, type Manager, type ObjectKey, type ObjectStore } from '../kube/index.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { type CoreMode, coreControllers } from './core/index.ts';
import { provisionedClusterController } from './provisioned-cluster.ts';
import { type WorkspaceParts, workspaceControllers } from './workspace/index.ts';

export interface ControllerParts {
  store: ObjectStore;
  /** What may be done with this machine. */
  host: HostPolicy;
  /** Called when the first object of a way is seen; absent where all of them are left to somebody else. */
  // biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
  open?(way: ClusterWay): Promise<Provisioner<any>>;
  /** Whether our Cluster API core drives the providers. Default `auto`: not where upstream's is installed. */
  core?: CoreMode;
  /** Tells of clusters that something happened to outside of the API. */
  onTrouble?(way: ClusterWay, tell: (key: ObjectKey) => void): void;
  /** What workspaces are made with; absent where they are left to somebody else. */
  workspaces?: Omit<WorkspaceParts, 'host'>;
}

export function addControllers(manager: Manager, parts: ControllerParts): void {
  const { store, host, open, core, workspaces, onTrouble } = parts;
  const { informers } = manager;
  coreControllers(manager, { store, host, mode: core });
  for (const each of workspaces ? workspaceControllers(store, informers, { ...workspaces, host }) : []) {
    manager.addController(each);
  }
  if (!open) return;
  for (const way of clusterWays) {
    const options = provisionedClusterController({ store, informers, way, host, open: () => open(way) });
    const { queue } = manager.addController(options);
    onTrouble?.(way, (key) => queue.add(keyText(key)));
  }
}
