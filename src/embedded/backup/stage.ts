/**
 * Copies of everything that a backup holds, made by the process that has the stores open: each store as of one moment, all of them within the time it
 * takes to copy them. They lie in the home, as private as what they were copied from, until they are packed.
 */
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clusters, isStoreTrouble, ROOT } from '../../apiserver/index.ts';
import { RookeryError } from '../../errors.ts';
import type { Home } from '../home.ts';
import { TenantRecords } from '../tenant-records.ts';

export interface Manifest {
  /** RFC 3339. */
  createdAt: string;
  version: string;
  /** Tenants whose stores are in it. */
  clusters: string[];
  /** Tenants whose stores could not be copied, and why. */
  skipped: { cluster: string; why: string }[];
}

export const MANIFEST = 'manifest.json';
/** Beside the stores: without them nothing sealed can be read, and clients do not trust the server. */
const KEYS = ['keys.json', 'pki/ca.pem', 'pki/server.pem', 'links.key'];
/** What provisioners know of their clusters is small; what they fetched or run is not. */
const RECORD_BYTES_MAX = 2 ** 20;
const TRIES = 3;

export async function stage(
  home: Home,
  clusters: Clusters,
  to: string,
  facts: Pick<Manifest, 'createdAt' | 'version'>,
) {
  for (let tries = 1; ; tries++) {
    await rm(to, { recursive: true, force: true });
    await mkdir(to, { recursive: true, mode: 0o700 });
    const before = await readFile(home.keyring, 'utf8');
    const manifest = await copyStores(home, clusters, to, facts);
    for (const name of KEYS) await copyIfThere(join(home.path, name), join(to, name));
    await copyRecords(home.path, to);
    await writeFile(join(to, MANIFEST), JSON.stringify(manifest), { mode: 0o600 });
    // Master keys that were exchanged meanwhile may fit some of the stores only.
    if (before === (await readFile(join(to, 'keys.json'), 'utf8'))) return manifest;
    if (tries === TRIES) {
      throw new RookeryError('backup.keys-changing', 'the master keys are being exchanged', { class: 'retryable' });
    }
  }
}

async function copyStores(home: Home, clusters: Clusters, to: string, facts: Pick<Manifest, 'createdAt' | 'version'>) {
  const manifest: Manifest = { ...facts, clusters: [], skipped: [] };
  await clusters.copy(ROOT, join(to, 'data/root.db'));
  const lost = new TenantRecords(home.provisioner('virtual')).names().filter((name) => !clusters.list().includes(name));
  for (const name of [...clusters.list(), ...lost]) {
    try {
      if (await clusters.copy(name, join(to, `data/clusters/${name}.db`))) manifest.clusters.push(name);
    } catch (error) {
      if (!isStoreTrouble(error)) throw error;
      manifest.skipped.push({ cluster: name, why: error.message });
    }
  }
  // Kept once and never changed.
  await cp(join(home.data, 'snapshots'), join(to, 'data/snapshots'), {
    recursive: true,
    filter: (path) => !path.endsWith('.new'),
  }).catch(ignoreMissing);
  return manifest;
}

async function copyRecords(from: string, to: string): Promise<void> {
  const filter = async (path: string) => {
    const found = await stat(path).catch(() => undefined);
    return found !== undefined && (found.isDirectory() || (found.isFile() && found.size <= RECORD_BYTES_MAX));
  };
  await cp(join(from, 'provisioners'), join(to, 'provisioners'), { recursive: true, filter }).catch(ignoreMissing);
}

async function copyIfThere(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await cp(from, to).catch(ignoreMissing);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Files below a folder, with `/` between the parts of their paths. */
export async function filesBelow(folder: string, path = ''): Promise<string[]> {
  const found = await readdir(join(folder, path), { withFileTypes: true });
  const lists = found.map((entry) => {
    const name = path ? `${path}/${entry.name}` : entry.name;
    return entry.isDirectory() ? filesBelow(folder, name) : entry.isFile() ? [name] : [];
  });
  return (await Promise.all(lists)).flat().sort();
}
