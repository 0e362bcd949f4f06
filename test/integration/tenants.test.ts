/** Many clusters in one process: nothing of one is visible, valid or countable in another, and they come and go fast. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Http } from '../harness/http.ts';
import { kubectl } from '../harness/kubectl.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const configMap = (name: string, data?: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const crd = (type: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.tenant.example' },
  spec: {
    group: 'tenant.example',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { value: { type } } } },
      },
    ],
  },
});
const THINGS = '/apis/tenant.example/v1/namespaces/default/things';
const thing = (value: unknown) => ({ apiVersion: 'tenant.example/v1', kind: 'Thing', metadata: { name: 't' }, value });

let server: TestServer;
let red: Http;
let blue: Http;

beforeAll(async () => {
  server = await startServer();
  red = await server.http('red');
  blue = await server.http('blue');
});
afterEach(() => expect(server.errors).toEqual([]));
afterAll(() => server.close());

it('objects of one are not in another', async () => {
  expect((await red.post(MAPS, configMap('mine', { of: 'red' }))).status).toBe(201);
  expect((await blue.get(`${MAPS}/mine`)).status).toBe(404);
  expect((await blue.post(MAPS, configMap('mine', { of: 'blue' }))).status).toBe(201);
  expect((await red.get(`${MAPS}/mine`)).json.data).toEqual({ of: 'red' });
  expect((await (await server.http()).get(`${MAPS}/mine`)).status, 'nor in the root').toBe(404);
  const uids = await Promise.all(
    [red, blue].map(async (http) => (await http.get('/api/v1/namespaces/default')).json.metadata.uid),
  );
  expect(new Set(uids).size).toBe(2);
});

it('versions of one do not move with another', async () => {
  const version = async () => (await blue.get(MAPS)).json.metadata.resourceVersion;
  const before = await version();
  for (let i = 0; i < 20; i++) await red.post(MAPS, configMap(`more-${i}`));
  expect(await version()).toBe(before);
  const watch = await blue.watch(`${MAPS}?watch=1&resourceVersion=${before}&timeoutSeconds=1`);
  await red.post(MAPS, configMap('unseen'));
  const seen = [];
  for await (const event of watch) seen.push(event);
  expect(seen).toEqual([]);
});

it('credentials of one are strangers in another', async () => {
  const { adminToken } = (await server.clusters.ensure('red')).credentials;
  expect((await blue.get(MAPS, { token: adminToken })).status).toBe(401);
  // At the root's address it leads to where it belongs, and shows nothing of the root.
  const root = await server.http();
  await root.post(MAPS, configMap('of-the-root'));
  const names = (answer: { json: { items: { metadata: { name: string } }[] } }) =>
    answer.json.items.map(({ metadata }) => metadata.name);
  const atRoot = await root.get(MAPS, { token: adminToken });
  expect(names(atRoot)).toEqual(names(await red.get(MAPS)));
  expect(names(atRoot)).not.toContain('of-the-root');
  expect((await red.get(MAPS, { token: server.root.credentials.adminToken })).status, 'the root rules no tenant').toBe(
    401,
  );
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { token } = (await red.post(path, request)).json.status;
  expect((await red.get('/api', { token })).status).toBe(200);
  expect((await blue.get('/api', { token })).status).toBe(401);
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  expect((await red.post(reviews, review)).json.status.authenticated).toBe(true);
  expect((await blue.post(reviews, review)).json.status.authenticated ?? false).toBe(false);
});

it('kinds of one are unknown, or others, in another', async () => {
  await red.post(CRDS, crd('integer'));
  await expect.poll(async () => (await red.post(THINGS, thing(1))).status).toBe(201);
  expect((await blue.get(THINGS)).status).toBe(404);
  expect((await blue.get('/apis/tenant.example')).status).toBe(404);
  await blue.post(CRDS, crd('string'));
  await expect.poll(async () => (await blue.post(THINGS, thing('one'))).status).toBe(201);
  expect((await red.patch(`${THINGS}/t`, 'merge', { value: 'one' })).status).toBe(422);
  const document = '/openapi/v3/apis/tenant.example/v1';
  expect((await red.get(document)).text).toContain('"value":{"type":"integer"}');
  expect((await blue.get(document)).text).toContain('"value":{"type":"string"}');
  await red.delete(`${CRDS}/things.tenant.example`);
  await expect.poll(async () => (await red.get(THINGS)).status).toBe(404);
  expect((await blue.get(`${THINGS}/t`)).json.value).toBe('one');
});

it('kubectl explains and creates below a path', async () => {
  const k = kubectl(await server.kubeconfig('blue'), join(server.folder, 'home'));
  expect((await k('explain thing.value')).out).toContain('FIELD: value <string>');
  expect((await k('create cm from-kubectl --from-literal=a=1')).all).toBe('configmap/from-kubectl created');
  expect((await k('cluster-info')).out).toContain('/clusters/blue');
  expect((await k('get cm mine -o jsonpath={.data.of}')).out).toBe('blue');
});

it('names that could mean something else are refused', async () => {
  const odd = [
    'A',
    'a/b',
    '../a',
    '..',
    '.',
    '-a',
    'a-',
    'a..b',
    'a b',
    'ü',
    'a\0',
    'a%2fb',
    'x'.repeat(254),
    'a\n',
    '__proto__',
  ];
  for (const name of odd) {
    await expect(server.clusters.ensure(name), JSON.stringify(name)).rejects.toThrow('cannot be the name of a cluster');
    expect(server.clusters.has(name)).toBe(false);
    expect(await server.clusters.drop(name)).toBe(false);
  }
  expect(server.clusters.list()).toEqual(['blue', 'red']);
  const root = await server.http();
  for (const path of ['/clusters', '/clusters/']) expect((await root.get(path)).status, path).toBe(404);
  for (const path of ['/clusters/nobody/api', '/clusters/RED/api', '/clusters/red%00/api']) {
    expect((await root.get(path)).status, path).toBe(401);
  }
  expect(server.clusters.list(), 'asking makes none').toEqual(['blue', 'red']);
});

it('dropping one ends its watches, forgets its files and leaves the others alone', async () => {
  const green = await server.http('green');
  const survivor = await blue.watch(`${MAPS}?watch=1&timeoutSeconds=30`);
  const watches = await Promise.all(Array.from({ length: 10 }, () => green.watch(`${MAPS}?watch=1&resourceVersion=1`)));
  const ends = watches.map(async (watch) => {
    for await (const _event of watch);
  });
  expect(await server.clusters.drop('green')).toBe(true);
  await Promise.all(ends);
  expect((await green.get(MAPS)).status).toBe(401);
  expect(readdirSync(join(server.folder, 'data', 'clusters')).filter((file) => file.startsWith('green'))).toEqual([]);
  expect(await server.clusters.drop('green')).toBe(false);
  // One of the same name is another one.
  const again = await server.http('green');
  expect((await green.get(MAPS)).status, 'its old credentials').toBe(401);
  expect((await again.get(MAPS)).json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
    'kube-root-ca.crt',
  ]);
  await server.clusters.drop('green');
  await blue.post(MAPS, configMap('still-watched'));
  for await (const event of survivor) if (event.object.metadata.name === 'still-watched') break;
});

it('fifty at once: made, used and dropped', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `many-${i}`);
  const clients = await Promise.all(names.map((name) => server.http(name)));
  await Promise.all(
    clients.map(async (http, i) => {
      expect((await http.post(MAPS, configMap('own', { i: String(i) }))).status).toBe(201);
      expect((await http.get('/readyz')).text).toBe('ok');
    }),
  );
  const owns = await Promise.all(clients.map(async (http) => (await http.get(`${MAPS}/own`)).json.data.i));
  expect(owns).toEqual(names.map((_, i) => String(i)));
  for (const name of names) expect(await server.clusters.drop(name)).toBe(true);
  expect(server.clusters.list()).toEqual(['blue', 'red']);
});

it('the same one asked for by many at once is made once', async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => server.clusters.ensure('wanted')));
  expect(new Set(made).size).toBe(1);
  await server.clusters.drop('wanted');
});

it('one that sleeps keeps everything: objects, versions, history, credentials, kinds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-sleep-'));
  // Sleeping is decided every 15 s; here a second lasts a hundredth.
  const clock = { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / 100, run) };
  const own = await startServer({ folder, clock, sleepAfterMs: 50 });
  const http = await own.http('sleeper');
  await http.post(CRDS, crd('integer'));
  await expect.poll(async () => (await http.post(THINGS, thing(7))).status).toBe(201);
  const start = (await http.get(MAPS)).json.metadata.resourceVersion;
  await http.post(MAPS, configMap('kept', { a: '1' }));
  await http.patch(`${MAPS}/kept`, 'merge', { data: { a: '2' } });
  const watch = await http.watch(`${MAPS}?watch=1`);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(own.clusters.awake, 'nobody sleeps while watched').toBe(2);
  const before = (await http.get(MAPS)).json;
  watch.close();
  await expect.poll(() => own.clusters.awake, { timeout: 10_000 }).toBe(1);
  // Any request wakes it.
  expect((await http.get(MAPS)).json).toEqual(before);
  expect(own.clusters.awake).toBe(2);
  expect((await http.get(`${THINGS}/t`)).json.value).toBe(7);
  const history = await http.watch(`${MAPS}?watch=1&resourceVersion=${start}`);
  expect([(await history.next()).type, (await history.next()).type]).toEqual(['ADDED', 'MODIFIED']);
  history.close();
  expect((await http.patch(`${THINGS}/t`, 'merge', { value: 'x' })).status).toBe(422);
  expect(own.errors).toEqual([]);
  await own.close();
  rmSync(folder, { recursive: true });
});
