/** The files of clusters in one folder: their stores, and what is kept beside those. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The cluster at `/`; all others live below `/clusters/<name>`. */
export const ROOT = '';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/** Of one store. */
const COMPANIONS = ['-wal', '-shm', '-journal', '-unclosed'];

export function isClusterName(name: string): boolean {
  return name === ROOT || (NAME.test(name) && !name.includes('..'));
}

export class ClusterFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  store(name: string): string {
    return name === ROOT ? join(this.folder, 'root.db') : join(this.folder, 'clusters', `${name}.db`);
  }

  /** Names of all clusters but the root, sorted. */
  list(): string[] {
    return readdirSync(join(this.folder, 'clusters'))
      .filter((file) => file.endsWith('.db'))
      .map((file) => file.slice(0, -3))
      .sort();
  }

  snapshots(name: string): string {
    return join(this.folder, 'snapshots', name);
  }

  snapshot(name: string, label: string): string {
    if (name === ROOT || !isClusterName(name) || !NAME.test(label)) {
      throw new Error(`${label} of ${name} names no snapshot`);
    }
    return join(this.snapshots(name), `${label}.db`);
  }

  /** What an open store held whose file was deleted. */
  rescued(name: string): string {
    return join(this.folder, 'rescued', `${name === ROOT ? 'root' : name}.db`);
  }

  /** A log that is left without its store would be replayed into the next one of that name. */
  async removeCompanions(name: string): Promise<void> {
    await Promise.all(COMPANIONS.map((suffix) => rm(this.store(name) + suffix, { force: true })));
  }

  /** Moves a closed store away, with its log. */
  async setAside(name: string, now: number): Promise<void> {
    const file = this.store(name);
    const aside = join(this.#replaced(name), `${now}.db`);
    for (const suffix of [...COMPANIONS, '']) {
      if (!existsSync(file + suffix)) continue;
      await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
      await rename(file + suffix, aside + suffix);
    }
    const rescued = this.rescued(name);
    if (!existsSync(rescued)) return;
    await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
    await rename(rescued, `${aside}.rescued`);
  }

  /** The store goes last: it is what says that there is something to remove. */
  async remove(name: string): Promise<void> {
    const others = [this.snapshots(name), this.#replaced(name), this.rescued(name)];
    await Promise.all(others.map((path) => rm(path, { recursive: true, force: true })));
    await this.removeCompanions(name);
    await rm(this.store(name), { force: true });
  }

  #replaced(name: string): string {
    return join(this.folder, 'replaced', name);
  }
}
