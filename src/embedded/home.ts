/** The names of things below Rookery's home folder. */
import { join } from 'node:path';

export class Home {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Master keys of everything sealed at rest. */
  get keyring(): string {
    return join(this.path, 'keys.json');
  }

  /** A rotation of keys that is under way. */
  get rotation(): string {
    return join(this.path, 'rotation.json');
  }

  /** Databases of the root cluster and all others. */
  get data(): string {
    return join(this.path, 'data');
  }

  /** A tenant's store out of a backup, ready to take the place of the one there is. */
  restoredStore(tenant: string): string {
    return join(this.data, 'restored', `${tenant}.db`);
  }

  /** Copies that wait to be packed into a backup. */
  staged(request: string): string {
    return join(this.path, 'staging', request);
  }

  /** A backup that is being unpacked, until its parts take the place of the home's. */
  get restoring(): string {
    return join(this.path, 'restoring');
  }

  /** Says how far a restore of the whole home has got. */
  get restoreNote(): string {
    return join(this.path, 'restore.json');
  }

  pki(name: string): string {
    return join(this.path, 'pki', name);
  }

  /** Written by a running control plane: how to find and stop it. */
  get state(): string {
    return join(this.path, 'state.json');
  }

  /** Takes up room that is given up when the disk is full. */
  get reserve(): string {
    return join(this.path, 'reserve');
  }

  get log(): string {
    return join(this.path, 'rookery.log');
  }

  /** The control plane's own API. */
  get kubeconfig(): string {
    return join(this.path, 'kubeconfig');
  }

  /** What a provisioner keeps about the clusters it makes. */
  provisioner(name: string): string {
    return join(this.path, 'provisioners', name);
  }

  /** Programs that `rookery tools install` fetched; `src/tools/find-tool.ts` looks there too. */
  get tools(): string {
    return join(this.path, 'tools');
  }

  /** What a workload keeps about the workspaces it runs. */
  workspaces(workload: string): string {
    return join(this.path, 'workspaces', workload);
  }

  /** Keys of the links into workspaces. */
  get linkKey(): string {
    return join(this.path, 'links.key');
  }

  clusterKubeconfig(name: string): string {
    return join(this.path, 'clusters', `${name}.kubeconfig`);
  }
}
