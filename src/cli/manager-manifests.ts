/** `rookery manager manifests`: what to install for the manager, as YAML or as a repository for clusterctl. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { clusterctlRepository } from '../manager/clusterctl-repository.ts';
import { crdManifests, managerManifests } from '../manager/manifests.ts';
import type { GlobalOptions } from './connect.ts';
import { rookeryVersion } from './version.ts';

export interface ManifestsOptions extends GlobalOptions {
  only?: 'crds';
  namespace: string;
  image?: string;
  withCore?: boolean;
  clusterctl?: string;
}

export async function printManifests(options: ManifestsOptions): Promise<void> {
  const parts = { namespace: options.namespace, image: options.image, withCore: options.withCore === true };
  if (options.clusterctl) return await writeRepository(resolve(options.clusterctl), parts);
  const objects = options.only === 'crds' ? crdManifests(parts) : managerManifests(parts);
  if (options.output === 'json') {
    process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2)}\n`);
    return;
  }
  process.stdout.write(await yaml(objects));
}

async function writeRepository(
  folder: string,
  parts: { namespace: string; image?: string; withCore: boolean },
): Promise<void> {
  for (const [path, objects] of clusterctlRepository(rookeryVersion(), parts)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, await yaml(objects));
    process.stdout.write(`${file}\n`);
  }
}

async function yaml(objects: object[]): Promise<string> {
  const { stringify } = await import('yaml');
  return objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join('---\n');
}
