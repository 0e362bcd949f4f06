/** Puts the CRDs of our kinds into the root cluster, and brings older ones up to date. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../api/object.ts';
import { customResourceDefinitions } from '../api/resources.ts';
import { type Cluster, LOOPBACK, putMissing, type Resource } from '../apiserver/index.ts';

/** Generated from the schemas (`make generate`): loading the schema library would double the start-up time. */
const GENERATED = new URL('../api/generated/crds.json', import.meta.url);
const MARK = 'crds';

/** New ones are put as they are: checking their schemas and rules was a third of a first start. */
export async function installCrds(cluster: Cluster): Promise<void> {
  const text = readFileSync(GENERATED, 'utf8');
  const digest = createHash('sha256').update(text).digest('hex');
  if (cluster.store.meta.get(MARK) === digest) return;
  const { crds } = JSON.parse(text) as { crds: KubeObject[] };
  for (const crd of crds) crd.metadata.generation = 1;
  for (const crd of await putMissing(cluster, crds)) await bringUpToDate(cluster, crd);
  cluster.store.meta.set(MARK, digest);
}

/** The spec is ours alone; labels are also others'. */
async function bringUpToDate({ registry, operations }: Cluster, { metadata, spec }: KubeObject): Promise<void> {
  const { group, version, plural } = customResourceDefinitions;
  const resource = registry.find(group, version, plural) as Resource;
  const name = metadata.name as string;
  const live = operations.get(resource, '', name);
  const labels = { ...live.metadata.labels, ...metadata.labels };
  const wanted = { ...live, metadata: { ...live.metadata, labels }, spec };
  await operations.update(resource, '', name, wanted, { identity: LOOPBACK, fieldManager: 'rookery' });
}
