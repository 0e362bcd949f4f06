import { afterEach, describe, expect, it } from 'vitest';
import { ConnectionError, isConflict, KubeError, WatchStreamError } from './kube-error.ts';
import { RemoteStore } from './remote-store.ts';
import type { ResourceRef } from './store.ts';
import { type Exchange, startFakeServer } from './testing/fake-server.ts';

const pods: ResourceRef = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const nodes: ResourceRef = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'n', name: 'a' } };
const key = { namespace: 'n', name: 'a' };
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function scene(
  handle: (exchange: Exchange, count: number) => void | Promise<void>,
  options: { prefix?: string; timeoutMs?: number } = {},
) {
  let count = 0;
  const server = await startFakeServer((exchange) => void handle(exchange, count++));
  const warnings: string[] = [];
  const connection = {
    ...server.connection,
    server: server.connection.server + (options.prefix ?? ''),
    headers: () => ({ authorization: 'Bearer t', 'impersonate-group': ['a', 'b'] }),
  };
  const store = new RemoteStore({ connection, timeoutMs: options.timeoutMs, onWarning: (text) => warnings.push(text) });
  ends.push(async () => {
    await store.close();
    await server.close();
  });
  return { server, store, warnings };
}

const ok = (exchange: Exchange) => exchange.json(200, pod);

describe('RemoteStore', () => {
  it('asks for the right paths, below a prefix too', async () => {
    const { server, store } = await scene(ok, { prefix: '/clusters/demo' });
    await store.get(pods, key);
    await store.get({ ...nodes, group: 'x.dev' }, { name: 'a' });
    await store.list(pods, { namespace: 'n', labelSelector: 'a in (b,c)', limit: 5 });
    await store.create(pods, pod, { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' });
    await store.create(pods, pod, { subresource: 'eviction' });
    await store.updateStatus(pods, pod);
    await store.apply(pods, pod, { fieldManager: 'me', force: true });
    await store.patch(pods, key, { type: 'strategic', body: {} });
    await store.delete(pods, key, { propagationPolicy: 'Foreground', dryRun: true });
    expect(server.requests.map((request) => `${request.method} ${request.url.pathname}${request.url.search}`)).toEqual([
      'GET /clusters/demo/api/v1/namespaces/n/pods/a',
      'GET /clusters/demo/apis/x.dev/v1/nodes/a',
      'GET /clusters/demo/api/v1/namespaces/n/pods?labelSelector=a+in+%28b%2Cc%29&limit=5',
      'POST /clusters/demo/api/v1/namespaces/n/pods?dryRun=All&fieldManager=me&fieldValidation=Strict',
      'POST /clusters/demo/api/v1/namespaces/n/pods/a/eviction',
      'PUT /clusters/demo/api/v1/namespaces/n/pods/a/status',
      'PATCH /clusters/demo/api/v1/namespaces/n/pods/a?fieldManager=me&force=true',
      'PATCH /clusters/demo/api/v1/namespaces/n/pods/a',
      'DELETE /clusters/demo/api/v1/namespaces/n/pods/a',
    ]);
    const [first] = server.requests;
    expect(first?.headers).toMatchObject({
      authorization: 'Bearer t',
      'impersonate-group': 'a, b',
      accept: 'application/json',
    });
    expect(server.requests[6]?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(server.requests[7]?.headers['content-type']).toBe('application/strategic-merge-patch+json');
    expect(JSON.parse(server.requests[8]?.body ?? '')).toMatchObject({ kind: 'DeleteOptions', dryRun: ['All'] });
  });

  it('turns a Status into an error, and makes one up where there is none', async () => {
    const status = { kind: 'Status', code: 409, reason: 'Conflict', message: 'changed', details: { name: 'a' } };
    const { store } = await scene((x, i) => (i === 0 ? x.json(409, status) : x.json(404, '<html>nginx</html>')));
    const conflict = await store.get(pods, key).catch((error) => error);
    expect(isConflict(conflict)).toBe(true);
    expect(conflict).toMatchObject({ code: 409, message: 'changed', details: { name: 'a' } });
    const missing = await store.get(pods, key).catch((error) => error);
    expect(missing).toBeInstanceOf(KubeError);
    expect(missing).toMatchObject({ code: 404, reason: 'NotFound', message: expect.stringContaining('nginx') });
  });

  it('comes back when the server says when', async () => {
    const { store, server } = await scene((x, i) => (i < 2 ? x.json(429, 'busy', { 'retry-after': '0' }) : ok(x)));
    await store.create(pods, pod);
    expect(server.requests).toHaveLength(3);
  });

  it('does not repeat what the server did not ask to repeat', async () => {
    const { store, server } = await scene((x, i) => (i === 0 ? x.json(500, 'oops') : x.reset()));
    await expect(store.create(pods, pod)).rejects.toMatchObject({ code: 500 });
    await expect(store.create(pods, pod)).rejects.toBeInstanceOf(ConnectionError);
    expect(server.requests).toHaveLength(2);
  });

  it('repeats reads over dead connections', async () => {
    const { store, server } = await scene((x, i) => (i < 2 ? x.reset() : ok(x)));
    expect(await store.get(pods, key)).toEqual(pod);
    expect(server.requests).toHaveLength(3);
  });

  it('says what it could not reach', async () => {
    const { store, server } = await scene(ok);
    await server.close();
    const error = await store.get(pods, key).catch((failure) => failure);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/^GET https:\/\/localhost:\d+\/api\/v1\/namespaces\/n\/pods\/a: .*ECONNREFUSED/);
  });

  it('takes one signal for many calls at once', async () => {
    const { store } = await scene(ok);
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 30 }, () => store.get(pods, key, { signal })));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('does not wait for ever', async () => {
    const { store } = await scene(() => {}, { timeoutMs: 300 });
    await expect(store.create(pods, pod)).rejects.toBeInstanceOf(ConnectionError);
  });

  it('checks the certificate of the server', async () => {
    const { server } = await scene(ok);
    const { ca: _, ...unverified } = server.connection;
    const wary = new RemoteStore({ connection: unverified });
    await expect(wary.get(pods, key)).rejects.toThrow(/self-signed|SELF_SIGNED/i);
    const careless = new RemoteStore({ connection: { ...unverified, insecure: true } });
    expect(await careless.get(pods, key)).toEqual(pod);
    const misnamed = new RemoteStore({ connection: { ...server.connection, serverName: 'other.test' } });
    await expect(misnamed.get(pods, key)).rejects.toThrow(/altnames/i);
    await Promise.all([wary.close(), careless.close(), misnamed.close()]);
  });

  it('passes warnings on', async () => {
    const { store, warnings } = await scene((x) =>
      x.json(200, pod, { warning: '299 - "old \\"v1\\" is old", 299 - "second"' }),
    );
    await store.get(pods, key);
    expect(warnings).toEqual(['old "v1" is old', 'second']);
  });

  it('reads events however the bytes arrive', async () => {
    const object = { ...pod, metadata: { ...pod.metadata, annotations: { text: 'žluť 🐦'.repeat(50) } } };
    const bytes = Buffer.from(
      `${JSON.stringify({ type: 'ADDED', object })}\n\n${JSON.stringify({ type: 'DELETED', object })}\n`,
    );
    const { store } = await scene(async (x) => {
      x.stream();
      for (let i = 0; i < bytes.length; i += 7) {
        x.response.write(bytes.subarray(i, i + 7));
        if (i % 70 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      x.response.end();
    });
    const seen = [];
    for await (const event of store.watch(pods)) seen.push(event);
    expect(seen).toEqual([
      { type: 'ADDED', object },
      { type: 'DELETED', object },
    ]);
  });

  it('closes the connection of a watch that is left', async () => {
    let isClosed = false;
    const { store } = await scene((x) => {
      x.response.on('close', () => {
        isClosed = true;
      });
      x.stream();
      x.event('ADDED', pod);
    });
    for await (const _ of store.watch(pods)) break;
    await expect.poll(() => isClosed).toBe(true);
  });

  it('throws on a watch that ends within an event', async () => {
    const { store } = await scene((x) => {
      x.stream();
      x.response.end('{"type":');
    });
    const read = async () => {
      for await (const _ of store.watch(pods)) void _;
    };
    await expect(read()).rejects.toBeInstanceOf(WatchStreamError);
  });
});
