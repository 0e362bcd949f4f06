/** The folder of each cluster: runs of the tool, kubeconfig, and what else its provisioner keeps. Gone when the cluster is. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { BackgroundRun } from '../../tools/background-run.ts';
import type { Processes } from '../../tools/processes.ts';

const KUBECONFIG = 'kubeconfig';

export class ClusterFiles {
  readonly #folder: string;
  readonly #processes: Processes;
  readonly #clock: Clock;

  constructor(folder: string, processes: Processes, clock: Clock) {
    this.#folder = folder;
    this.#processes = processes;
    this.#clock = clock;
  }

  path(id: string, ...names: string[]): string {
    return join(this.#folder, id, ...names);
  }

  run(id: string, name = 'run'): BackgroundRun {
    return new BackgroundRun(this.path(id, name), this.#processes, this.#clock);
  }

  async read(id: string, name: string): Promise<string | undefined> {
    try {
      return await readFile(this.path(id, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(id: string, name: string, text: string): Promise<void> {
    await mkdir(this.path(id), { recursive: true, mode: 0o700 });
    await writeFile(this.path(id, name), text, { mode: 0o600 });
  }

  /** A folder for the tool alone. */
  async folder(id: string, name: string): Promise<string> {
    const path = this.path(id, name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  async drop(id: string, ...names: string[]): Promise<void> {
    for (const name of names) await rm(this.path(id, name), { recursive: true, force: true });
  }

  /** The one for use from this machine; undefined while it is not written, or only half. */
  async kubeconfig(id: string): Promise<string | undefined> {
    const text = await this.read(id, KUBECONFIG);
    return text?.includes('client-key-data') ? text : undefined;
  }

  async writeKubeconfig(id: string, text: string): Promise<void> {
    await this.write(id, KUBECONFIG, text);
  }

  async clear(id: string): Promise<void> {
    await rm(this.path(id), { recursive: true, force: true });
  }
}
