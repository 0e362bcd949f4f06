// Our own CRDs are put without the checks that everyone else's go through: here they go through them.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { customResourceDefinitions } from '../../src/api/resources.ts';
import { type Cluster, LOOPBACK, type Resource } from '../../src/apiserver/index.ts';
import { installCrds } from '../../src/embedded/install-crds.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const generated = new URL('../../src/api/generated/crds.json', import.meta.url);
const { crds } = JSON.parse(readFileSync(generated, 'utf8')) as { crds: KubeObject[] };
const options = { identity: LOOPBACK, fieldManager: 'test' };
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

function resourceIn({ registry }: Cluster): Resource {
  const { group, version, plural } = customResourceDefinitions;
  return registry.find(group, version, plural) as Resource;
}

/** All CRDs of a cluster once their status is written, without what differs from one to the next. */
async function settled(cluster: Cluster): Promise<unknown[]> {
  const all = () => cluster.operations.listAll(resourceIn(cluster));
  const isEstablished = (crd: KubeObject) => JSON.stringify(crd.status).includes('Established');
  await expect.poll(() => all().every(isEstablished)).toBe(true);
  return all().map(({ metadata, ...rest }) => {
    const { uid, creationTimestamp, resourceVersion, managedFields, ...kept } = metadata;
    return JSON.parse(JSON.stringify({ metadata: kept, ...rest }).replace(/"lastTransitionTime":"[^"]*"/g, '"":""'));
  });
}

it('are what they would be if someone had created them', async () => {
  const theirs = await server.clusters.ensure('by-hand');
  for (const crd of crds) await theirs.operations.create(resourceIn(theirs), '', structuredClone(crd), options);
  const ours = await server.clusters.ensure('installed');
  await installCrds(ours);
  const installed = await settled(ours);
  expect(installed).toHaveLength(crds.length);
  expect(installed).toEqual(await settled(theirs));
});

it('are brought up to date where older ones are; labels of others stay', async () => {
  const cluster = await server.clusters.ensure('older');
  const [newest] = structuredClone(crds) as [KubeObject];
  const older = structuredClone(newest) as KubeObject & { spec: { names: { shortNames: string[] } } };
  older.spec.names.shortNames = ['old', 'older'];
  older.metadata.labels = { mine: 'kept' };
  await cluster.operations.create(resourceIn(cluster), '', older, options);
  await installCrds(cluster);
  const { metadata, spec } = cluster.operations.get(resourceIn(cluster), '', newest.metadata.name as string);
  expect(spec).toMatchObject(newest.spec as object);
  expect((spec as typeof older.spec).names.shortNames).not.toContain('older');
  expect(metadata.labels).toEqual({ ...newest.metadata.labels, mine: 'kept' });
  expect(metadata.generation).toBe(2);
});
