/**
 * kind puts all clusters of an engine on one network called `kind` and never removes it. We do, when it was our doing: it was not
 * there before we made a cluster, it still is the same one, and nobody is on it. Somebody else's network stays.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Docker } from '../../tools/docker.ts';

const NETWORK = 'kind';

export class SharedNetwork {
  readonly #docker: Docker;
  readonly #file: string;

  constructor(docker: Docker, file: string) {
    this.#docker = docker;
    this.#file = file;
  }

  /** Before a cluster is made: if there is no network now, the one that comes will be ours. */
  async beforeCreate(signal?: AbortSignal): Promise<void> {
    if (await this.#docker.network(NETWORK, signal)) return this.afterCreate(signal);
    await this.#write({});
  }

  /** Remembers which one came. */
  async afterCreate(signal?: AbortSignal): Promise<void> {
    const record = await this.#read();
    if (!record || record.id) return;
    const network = await this.#docker.network(NETWORK, signal);
    if (network) await this.#write({ id: network.id });
  }

  /** What was removed. */
  async remove(signal?: AbortSignal): Promise<string[]> {
    const record = await this.#read();
    if (!record) return [];
    const network = await this.#docker.network(NETWORK, signal);
    if (network && (!record.id || record.id === network.id)) {
      if (network.containers.length > 0) return [];
      if (!(await this.#docker.removeNetwork(network.id, signal))) return [];
    }
    await rm(this.#file, { force: true });
    return network ? [`network ${NETWORK}`] : [];
  }

  async #read(): Promise<{ id?: string } | undefined> {
    try {
      return JSON.parse(await readFile(this.#file, 'utf8')) as { id?: string };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #write(record: { id?: string }): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    await writeFile(this.#file, JSON.stringify(record), { mode: 0o600 });
  }
}
