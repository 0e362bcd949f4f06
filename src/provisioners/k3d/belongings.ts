/**
 * The network and the volume that k3d makes for a cluster. It cannot label them, leaves them behind when no container is left, and takes a
 * leftover for somebody else's that must stay. So a name is claimed before anything is made: from then on what is called so is ours.
 */
import { RookeryError } from '../../errors.ts';
import type { Docker } from '../../tools/docker.ts';
import type { ClusterFiles } from '../docker-cluster/cluster-files.ts';
import type { Rest } from '../docker-cluster/container-provisioner.ts';
import { imageVolumeName, networkName } from './config.ts';

const CLAIM = 'claim';

export class ClusterBelongings {
  readonly #docker: Docker;
  readonly #files: ClusterFiles;

  constructor(docker: Docker, files: ClusterFiles) {
    this.#docker = docker;
    this.#files = files;
  }

  /** Makes sure that nothing is called so, or says what somebody else has. */
  async claim(id: string, cluster: string, signal?: AbortSignal): Promise<string | undefined> {
    if (await this.#isClaimed(id)) {
      const { left } = await this.remove(id, cluster, signal);
      if (left) throw new RookeryError('docker.failed', left, { class: 'retryable' });
      return undefined;
    }
    if (await this.#docker.network(networkName(cluster), signal)) return `network ${networkName(cluster)}`;
    if (await this.#docker.hasVolume(imageVolumeName(cluster), signal)) return `volume ${imageVolumeName(cluster)}`;
    await this.adopt(id);
    return undefined;
  }

  /** They are ours, for containers of ours use them. */
  async adopt(id: string): Promise<void> {
    await this.#files.write(id, CLAIM, '');
  }

  async remove(id: string, cluster: string, signal?: AbortSignal): Promise<Rest> {
    if (!(await this.#isClaimed(id))) return { removed: [] };
    const removed: string[] = [];
    const name = networkName(cluster);
    const network = await this.#docker.network(name, signal);
    if (network) {
      // A workspace or a registry that joined it; the container itself is not ours.
      for (const guest of network.containers) await this.#docker.disconnect(network.id, guest, signal);
      if (!(await this.#docker.removeNetwork(network.id, signal)))
        return { removed, left: `network ${name} is in use` };
      removed.push(`network ${name}`);
    }
    const volume = imageVolumeName(cluster);
    if (await this.#docker.hasVolume(volume, signal)) {
      if (!(await this.#docker.removeVolume(volume, signal))) return { removed, left: `volume ${volume} is in use` };
      removed.push(`volume ${volume}`);
    }
    return { removed };
  }

  async #isClaimed(id: string): Promise<boolean> {
    return (await this.#files.read(id, CLAIM)) !== undefined;
  }
}
