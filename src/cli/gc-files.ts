/** Files below home that no object needs any more: kubeconfigs, folders of provisioners, data of tenants. */
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { clusters } from '../api/resources.ts';
import { listAll } from '../kube/index.ts';
import { clusterWays } from '../provisioners/registry.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import type { Connected } from './connect.ts';
import type { Leftover } from './gc-things.ts';

export async function leftoverFiles(connected: Connected): Promise<Leftover[]> {
  return [
    ...(await kubeconfigs(connected)),
    ...(await folders(connected)),
    // The process that has the tenants looks after them itself; see gc-things.
    ...(connected.plane ? [] : await tenants(connected)),
  ];
}

async function kubeconfigs({ home, store }: Connected): Promise<Leftover[]> {
  const { items } = await listAll(store, clusters, {});
  const known = new Set(items.map(({ metadata }) => tenantName(metadata.namespace ?? '', metadata.name ?? '')));
  const folder = dirname(home.clusterKubeconfig('x'));
  const files = (await names(folder)).filter((file) => file.endsWith('.kubeconfig'));
  return files
    .filter((file) => !known.has(basename(file, '.kubeconfig')))
    .map((file) => fileLeftover(`kubeconfig ${join(folder, file)}`, 'there is no such cluster', join(folder, file)));
}

/** Named after the object they are for. Those of clusters that still exist outside go with these. */
async function folders({ home, store }: Connected): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const way of clusterWays.filter((candidate) => candidate.fidelity !== 'simulated')) {
    const folder = home.provisioner(way.name);
    const ids = (await names(folder)).filter((name) => UID.test(name));
    if (ids.length === 0) continue;
    const { items } = await listAll(store, way.resource, {});
    const known = new Set(items.map((object) => object.metadata.uid));
    for (const id of ids.filter((name) => !known.has(name))) {
      const leftover = fileLeftover(
        `folder ${join(folder, id)}`,
        `no ${way.resource.kind} has this uid`,
        join(folder, id),
      );
      found.push({ ...leftover, way: way.name, id });
    }
  }
  return found;
}

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function tenants({ home, store }: Connected): Promise<Leftover[]> {
  const way = clusterWays.find((candidate) => candidate.fidelity === 'simulated');
  if (!way) return [];
  const { items } = await listAll(store, way.resource, {});
  const known = new Set(items.map((object) => way.outsideName(object)));
  const files = (await names(join(home.data, 'clusters'))).filter((file) => file.endsWith('.db'));
  return files
    .map((file) => basename(file, '.db'))
    .filter((tenant) => !known.has(tenant))
    .map((tenant) => ({
      of: way.name,
      what: `tenant ${tenant}`,
      why: 'no object asks for it; the running control plane may have it open: `rookery down`, then `rookery gc --yes`',
    }));
}

function fileLeftover(what: string, why: string, path: string): Leftover {
  return {
    of: 'files',
    what,
    why,
    async remove() {
      await rm(path, { recursive: true, force: true });
      return { removed: [what] };
    },
  };
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
