/** Tenants that end while someone talks to them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

it('a tenant dropped under load is gone, and the next of its name is a new one', async () => {
  const uids = new Set<string>();
  for (let round = 0; round < 15; round++) {
    const tenant = await server.http('short');
    const { adminToken } = (await server.clusters.ensure('short')).credentials;
    uids.add((await tenant.get('/api/v1/namespaces/default')).json.metadata.uid);
    let going = true;
    const seen = new Map<number, number>();
    const talk = async (ask: (i: number) => Promise<{ status: number }>) => {
      for (let i = 0; going; i++) {
        const { status } = await ask(i);
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    };
    const maps = '/api/v1/namespaces/default/configmaps';
    const talking = [
      ...Array.from({ length: 4 }, () => talk(() => tenant.get(maps))),
      talk((i) => tenant.post(maps, { metadata: { name: `m-${round}-${i}` } })),
    ];
    await new Promise((resolve) => setTimeout(resolve, 10 + round));
    expect(await server.clusters.drop('short')).toBe(true);
    expect(server.clusters.has('short')).toBe(false);
    expect(existsSync(join(server.folder, 'data', 'clusters', 'short.db'))).toBe(false);
    expect(await server.clusters.get('short')).toBeUndefined();
    const again = await server.clusters.ensure('short');
    expect(again.credentials.adminToken).not.toBe(adminToken);
    expect(existsSync(join(server.folder, 'data', 'clusters', 'short.db'))).toBe(true);
    going = false;
    await Promise.all(talking);
    for (const status of seen.keys()) expect([200, 201, 401, 404, 503]).toContain(status);
  }
  expect(uids.size).toBe(15);
  expect(server.errors).toEqual([]);
}, 60_000);

it('whoever asks for a tenant while it is being dropped is told that there is none', async () => {
  await server.clusters.ensure('going');
  const dropping = server.clusters.drop('going');
  const [found, twice, made] = await Promise.all([
    server.clusters.get('going'),
    server.clusters.drop('going'),
    server.clusters.ensure('going'),
  ]);
  expect([await dropping, found, twice]).toEqual([true, undefined, false]);
  expect(await server.clusters.get('going')).toBe(made);
  expect(existsSync(join(server.folder, 'data', 'clusters', 'going.db'))).toBe(true);
});

it('metrics of the process are not for tenants', async () => {
  expect((await (await server.http()).get('/metrics')).text).toContain('rookery_clusters');
  const answer = await (await server.http('curious')).get('/metrics');
  expect([answer.status, answer.text]).toEqual([200, '']);
});

it('a store that cannot serve is 503 with a time to come back, and keeps its path to itself', async () => {
  const http = await server.http('closing');
  const cluster = await server.clusters.get('closing');
  await cluster?.store.close();
  const answer = await http.get('/api/v1/namespaces/default/configmaps/a');
  expect(answer).toMatchObject({ status: 503, json: { reason: 'ServiceUnavailable' } });
  expect(answer.text).not.toContain(server.folder);
  await server.clusters.drop('closing');
  server.errors.length = 0;
});
