/** Puts the CRDs of our kinds into the root cluster, and brings older ones up to date. */
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../api/object.ts';
import { customResourceDefinitions } from '../api/resources.ts';
import { type Cluster, LOOPBACK, type Resource } from '../apiserver/index.ts';

/** Generated from the schemas (`make generate`): loading the schema library would double the start-up time. */
const GENERATED = new URL('../api/generated/crds.json', import.meta.url);
const MARK = 'crds';

export async function installCrds(cluster: Cluster): Promise<void> {
  const text = readFileSync(GENERATED, 'utf8');
  const { group, version, plural } = customResourceDefinitions;
  const resource = cluster.registry.find(group, version, plural) as Resource;
  const { digest, crds } = JSON.parse(text) as { digest: string; crds: KubeObject[] };
  if (cluster.store.meta.get(MARK) === digest) return;
  const options = { identity: LOOPBACK, fieldManager: 'rookery' };
  for (const crd of crds) {
    const patch = { type: 'apply' as const, body: crd, force: true };
    await cluster.operations.patch(resource, '', crd.metadata.name as string, patch, options);
  }
  cluster.store.meta.set(MARK, digest);
}
