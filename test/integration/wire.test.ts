/**
 * What goes over the wire, looked at without a Kubernetes client: protocols, encodings, shapes, framing, caching.
 * Passes on a real kube-apiserver too, except where it needs to reach into the store:
 *   SESSION_KUBECONFIG=… npx vitest run --project integration test/integration/wire.test.ts
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { loadKubeconfig } from '../../src/kube/index.ts';
import { Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const REAL = process.env.SESSION_KUBECONFIG;
const NAMESPACE = `wire-${process.pid}`;
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';
const configMap = (name: string, data?: object, labels?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});

let server: TestServer | undefined;
let http: Http;
let access: { url: string; ca: string; authorization: string };

beforeAll(async () => {
  server = REAL ? undefined : await startServer();
  const file = REAL ?? ((await server?.kubeconfig()) as string);
  const connection = await loadKubeconfig({ file });
  const headers = new Headers((await connection.headers?.()) ?? {});
  const authorization = headers.get('authorization') ?? '';
  access = { url: connection.server, ca: connection.ca ?? '', authorization };
  http = new Http(access.url, access.ca, authorization.replace('Bearer ', ''));
  await http.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  // What controllers put into a new namespace would come between.
  await vi.waitUntil(async () => (await http.get(`${MAPS}/kube-root-ca.crt`)).status === 200, { timeout: 20_000 });
});
afterAll(async () => {
  if (REAL) await http.delete(`/api/v1/namespaces/${NAMESPACE}`);
  http.close();
  expect(server?.errors ?? []).toEqual([]);
  await server?.close();
});

const version = async () => Number((await http.get(MAPS)).json.metadata.resourceVersion);

describe('protocols', () => {
  const negotiated = (offered: string[]) =>
    new Promise<string | false | null>((resolve, reject) => {
      const { hostname, port } = new URL(access.url);
      const socket = connectTls({ host: hostname, port: Number(port), ca: access.ca, ALPNProtocols: offered }, () => {
        resolve(socket.alpnProtocol);
        socket.destroy();
      });
      socket.on('error', reject);
    });

  it('offers HTTP/2 and HTTP/1.1', async () => {
    expect(await negotiated(['h2', 'http/1.1'])).toBe('h2');
    expect(await negotiated(['http/1.1'])).toBe('http/1.1');
  });

  const ask = (session: ClientHttp2Session, path: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const stream = session.request({ ':path': path, authorization: access.authorization });
      let status = 0;
      let text = '';
      stream.on('response', (headers) => {
        status = Number(headers[constants.HTTP2_HEADER_STATUS]);
      });
      stream.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      stream.on('end', () => resolve({ status, text })).on('error', reject);
      stream.end();
    });

  it('carries many requests and watches on one HTTP/2 connection', async () => {
    const session = connect(access.url, { ca: access.ca });
    const watches = Array.from({ length: 20 }, () => {
      const stream = session.request({ ':path': `${MAPS}?watch=1`, authorization: access.authorization });
      const seen = { text: '' };
      stream.setEncoding('utf8').on('data', (piece) => {
        seen.text += piece;
      });
      return { stream, seen };
    });
    await http.post(MAPS, configMap('http2'));
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(session, `${MAPS}/http2`)));
    for (const answer of answers) expect(answer.status).toBe(200);
    expect(answers[0]?.text).toBe((await http.get(`${MAPS}/http2`)).text);
    for (const { stream, seen } of watches) {
      await expect.poll(() => seen.text).toContain('"name":"http2"');
      stream.close();
    }
    session.close();
  });

  it('compresses what is worth it, for those who ask', async () => {
    await http.post(MAPS, configMap('large', { text: 'abc'.repeat(100_000) }));
    const plain = await http.get(`${MAPS}/large`);
    const zipped = await http.get(`${MAPS}/large`, { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.body.length).toBeLessThan(plain.body.length / 10);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    const small = await http.get(`${MAPS}/http2`, { headers: { 'accept-encoding': 'gzip' } });
    expect(small.headers['content-encoding']).toBeUndefined();
    await http.delete(`${MAPS}/large`);
  });

  it('takes large objects, of which writers at the same time lose none of each other', async () => {
    const text = 'x'.repeat(200_000);
    const created = await http.post(MAPS, configMap('large', { text }));
    expect(created.status).toBe(201);
    const same = { ...created.json, data: { text, more: 'yes' } };
    const puts = await Promise.all(
      [1, 2, 3].map((n) => http.put(`${MAPS}/large`, { ...same, data: { ...same.data, n: `${n}` } })),
    );
    expect(puts.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    await Promise.all(['a', 'b', 'c'].map((key) => http.patch(`${MAPS}/large`, 'merge', { data: { [key]: key } })));
    const now = (await http.get(`${MAPS}/large`)).json;
    expect(now.data).toMatchObject({ text, more: 'yes', a: 'a', b: 'b', c: 'c' });
    // As with small ones: the same again is no write, another value of the same length is one.
    const again = await http.put(`${MAPS}/large`, now);
    expect(again.json.metadata.resourceVersion).toBe(now.metadata.resourceVersion);
    const other = await http.put(`${MAPS}/large`, { ...now, data: { ...now.data, more: 'not' } });
    expect(other.json.metadata.resourceVersion).not.toBe(now.metadata.resourceVersion);
    expect((await http.get(`${MAPS}/large`)).json.data.more).toBe('not');
  });

  it('never lets a cache keep an object', async () => {
    expect((await http.get(`${MAPS}/http2`)).headers['cache-control']).toBe('no-cache, private');
  });
});

describe('shapes', () => {
  it('tables', async () => {
    const list = (await http.get(`${MAPS}?labelSelector=none`, { headers: { accept: TABLE } })).json;
    expect(list).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', rows: [] });
    expect(list.columnDefinitions.map((column: { name: string }) => column.name)).toEqual(['Name', 'Data', 'Age']);
    const one = (await http.get(`${MAPS}/http2`, { headers: { accept: TABLE } })).json;
    expect(one.rows[0].cells.slice(0, 2)).toEqual(['http2', 0]);
    expect(one.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'http2' } });
    const whole = (await http.get(`${MAPS}/http2?includeObject=Object`, { headers: { accept: TABLE } })).json;
    expect(whole.rows[0].object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    const none = (await http.get(`${MAPS}/http2?includeObject=None`, { headers: { accept: TABLE } })).json;
    expect(none.rows[0].object ?? null).toBeNull();
  });

  it('metadata only', async () => {
    const accept = (kind: string) => ({ headers: { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` } });
    const list = (await http.get(MAPS, accept('PartialObjectMetadataList'))).json;
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
    expect(list.items.every((item: object) => !('data' in item))).toBe(true);
    const one = (await http.get(`${MAPS}/http2`, accept('PartialObjectMetadata'))).json;
    expect(Object.keys(one).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
  });

  it('YAML, and JSON for reading', async () => {
    const yaml = await http.get(`${MAPS}/http2`, { headers: { accept: 'application/yaml' } });
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(parse(yaml.text)).toEqual((await http.get(`${MAPS}/http2`)).json);
    expect((await http.get(`${MAPS}/http2?pretty=true`)).text).toMatch(/^{\n {2}"kind": "ConfigMap",\n/);
  });

  it('lists as clients expect them', async () => {
    const empty = (await http.get(`${MAPS}?labelSelector=nobody`)).json;
    expect(empty).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', items: [] });
    expect(empty.metadata.resourceVersion).toMatch(/^\d+$/);
    const item = (await http.get(`${MAPS}?fieldSelector=metadata.name%3Dhttp2`)).json.items[0];
    expect(item.kind, 'items of typed lists carry no kind').toBeUndefined();
    expect(item.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});

describe('watches', () => {
  it('opens before anything happens, one line per event, ends by its timeout', async () => {
    const from = await version();
    const started = performance.now();
    const watch = await http.watch(`${MAPS}?watch=1&resourceVersion=${from}&timeoutSeconds=2`);
    expect(performance.now() - started).toBeLessThan(1500);
    expect(watch.answer.statusCode).toBe(200);
    expect(watch.answer.headers['content-type']).toBe('application/json');
    expect(watch.answer.headers['transfer-encoding']).toBe('chunked');
    const created = (await http.post(MAPS, configMap('watched', { a: '1' }))).json;
    const patched = (await http.patch(`${MAPS}/watched`, 'merge', { data: { a: '2' } })).json;
    await http.delete(`${MAPS}/watched`);
    expect(await watch.next()).toEqual({ type: 'ADDED', object: created });
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: patched });
    const deleted = await watch.next();
    expect(deleted).toMatchObject({ type: 'DELETED', object: { data: { a: '2' } } });
    expect(Number(deleted.object.metadata.resourceVersion)).toBeGreaterThan(Number(patched.metadata.resourceVersion));
    await expect(watch.next()).rejects.toThrow('ended');
    // The history is the same for someone who comes later.
    const late = await http.watch(`${MAPS}?watch=1&resourceVersion=${from}&timeoutSeconds=1`);
    const types: string[] = [];
    for await (const event of late) types.push(event.type);
    expect(types).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  it('shows through a selector what starts and stops to match', async () => {
    const watch = await http.watch(`${MAPS}?watch=1&labelSelector=shown%3Dyes&timeoutSeconds=10`);
    const label = (shown: string | null) =>
      http.patch(`${MAPS}/selected`, 'merge', { metadata: { labels: { shown } }, data: { at: String(shown) } });
    await http.post(MAPS, configMap('selected'));
    await label('yes');
    await http.patch(`${MAPS}/selected`, 'merge', { data: { more: '1' } });
    const hidden = (await label('no')).json;
    await label('yes');
    await http.delete(`${MAPS}/selected`);
    const events = [];
    for (let i = 0; i < 5; i++) events.push(await watch.next());
    watch.close();
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED']);
    // What stops to match is shown as it last matched, with the version of the change.
    expect(events[2]?.object.data).toEqual({ at: 'yes', more: '1' });
    expect(events[2]?.object.metadata.resourceVersion).toBe(hidden.metadata.resourceVersion);
  });

  it('streams a list: initial events, the bookmark that ends them, then changes', async () => {
    const query =
      'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=10';
    const watch = await http.watch(`${MAPS}?${query}`);
    const names: string[] = [];
    let event = await watch.next();
    for (; event.type === 'ADDED'; event = await watch.next()) names.push(event.object.metadata.name);
    const list = (await http.get(MAPS)).json;
    expect(names.sort()).toEqual(list.items.map((item: { metadata: { name: string } }) => item.metadata.name).sort());
    expect(event).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    });
    await http.post(MAPS, configMap('after-list'));
    expect((await watch.next()).object.metadata.name).toBe('after-list');
    watch.close();
    await http.delete(`${MAPS}/after-list`);
  });

  it('as tables: columns once; as metadata', async () => {
    const from = await version();
    await http.post(MAPS, configMap('shaped', { secret: 'x' }));
    await http.delete(`${MAPS}/shaped`);
    const path = `${MAPS}?watch=1&resourceVersion=${from}&timeoutSeconds=5`;
    const table = await http.watch(path, { headers: { accept: TABLE } });
    const [first, second] = [await table.next(), await table.next()];
    expect(first.object.columnDefinitions).toHaveLength(3);
    expect(first.object.rows[0].cells[0]).toBe('shaped');
    expect(second.object.columnDefinitions ?? []).toHaveLength(0);
    table.close();
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const partial = await http.watch(path, { headers: { accept } });
    const event = await partial.next();
    expect(event.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'shaped' } });
    expect(JSON.stringify(event)).not.toContain('secret":"x');
    partial.close();
  });

  it('one object by name, in both old and new form', async () => {
    for (const path of [
      `${MAPS}?watch=1&fieldSelector=metadata.name%3Dhttp2&timeoutSeconds=5`,
      `/api/v1/watch/namespaces/${NAMESPACE}/configmaps/http2?timeoutSeconds=5`,
    ]) {
      const watch = await http.watch(path);
      expect((await watch.next()).object.metadata.name).toBe('http2');
      watch.close();
    }
  });
});

describe('caching', () => {
  const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

  it('discovery by ETag', async () => {
    for (const path of ['/api', '/apis']) {
      const first = await http.get(path, { headers: { accept: discovery } });
      expect(first.headers['content-type']).toBe(discovery);
      expect(first.json.kind).toBe('APIGroupDiscoveryList');
      const { etag = '' } = first.headers;
      const again = await http.get(path, { headers: { accept: discovery, 'if-none-match': etag } });
      expect(again.status).toBe(304);
      expect(again.body).toHaveLength(0);
      const legacy = await http.get(path, { headers: { accept: 'application/json' } });
      expect(legacy.json.kind).toBe(path === '/api' ? 'APIVersions' : 'APIGroupList');
    }
  });

  it('OpenAPI v3 by hash', async () => {
    const index = (await http.get('/openapi/v3')).json;
    const url: string = index.paths['apis/apps/v1'].serverRelativeURL;
    expect(url).toMatch(/\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64,128}$/);
    const document = await http.get(url);
    expect(document.json.openapi).toMatch(/^3\.0/);
    expect(document.headers['cache-control']).toContain('immutable');
    const etag = document.headers.etag ?? '';
    expect((await http.get(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const stale = await http.get(url.replace(/hash=.*/, 'hash=0'));
    expect(stale.status).toBe(301);
    const target = new URL(stale.headers.location ?? '', `https://x${url}`);
    expect(target.pathname + target.search).toBe(url);
  });
});

describe('versions', () => {
  it('pages show one state, whatever happens meanwhile', { timeout: 120_000 }, async () => {
    const count = 1000;
    const name = (i: number) => `page-${String(i).padStart(4, '0')}`;
    const each = async (total: number, run: (i: number) => Promise<unknown>) => {
      let next = 0;
      const worker = async () => {
        for (let i = next++; i < total; i = next++) await run(i);
      };
      await Promise.all(Array.from({ length: 24 }, worker));
    };
    await each(count, (i) => http.post(MAPS, configMap(name(i), { n: '0' }, { paged: 'yes' })));
    let writing = true;
    const writer = (async () => {
      for (let i = 0; writing; i++) {
        await http.post(MAPS, configMap(`${name(i % count)}-new-${i}`, { n: 'new' }, { paged: 'yes' }));
        await http.patch(`${MAPS}/${name((i * 7) % count)}`, 'merge', { data: { n: 'changed' } });
        if (i % 3 === 0) await http.delete(`${MAPS}/${name((i * 13) % count)}`);
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const first = (await http.get(`${MAPS}?limit=73`)).json;
    const all = [...first.items];
    for (let page = first; page.metadata.continue; ) {
      page = (await http.get(`${MAPS}?limit=73&continue=${encodeURIComponent(page.metadata.continue)}`)).json;
      expect(page.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      all.push(...page.items);
    }
    writing = false;
    await writer;
    const exact = `resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const then = (await http.get(`${MAPS}?${exact}`)).json;
    expect(then.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(all.map((item) => item.metadata.name)).toEqual(
      then.items.map((item: (typeof all)[0]) => item.metadata.name),
    );
    expect(all).toEqual(then.items);
    expect(first.metadata.remainingItemCount).toBe(then.items.length - 73);
    const now = (await http.get(MAPS)).json;
    expect(now.items.length).not.toBe(then.items.length);
    const removed = await http.delete(`${MAPS}?labelSelector=paged`);
    expect(removed.status).toBe(200);
    expect((await http.get(`${MAPS}?labelSelector=paged`)).json.items).toEqual([]);
  });

  it.skipIf(REAL)('what was compacted is gone: 410 for watches and lists, and a way on for pages', async () => {
    const { store } = (server as TestServer).root;
    const from = await version();
    for (let i = 0; i < 5; i++) await http.post(MAPS, configMap(`old-${i}`, {}, { old: 'yes' }));
    const page = (await http.get(`${MAPS}?limit=2&labelSelector=old`)).json;
    await http.delete(`${MAPS}/old-3`);
    await http.post(MAPS, configMap('old-9', {}, { old: 'yes' }));
    await store.compact(await version());
    const watch = await http.watch(`${MAPS}?watch=1&resourceVersion=${from}`);
    expect(watch.answer.statusCode).toBe(200);
    const { type, object } = await watch.next();
    expect({ type, object }).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
    await expect(watch.next()).rejects.toThrow('ended');
    const list = await http.get(`${MAPS}?resourceVersion=${from}&resourceVersionMatch=Exact`);
    expect(list.json).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
    const token = (text: string) => `${MAPS}?limit=2&labelSelector=old&continue=${encodeURIComponent(text)}`;
    const expired = await http.get(token(page.metadata.continue));
    expect(expired.json).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
    const rest = (await http.get(token(expired.json.metadata.continue).replace('limit=2&', ''))).json;
    expect(rest.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
      'old-2',
      'old-4',
      'old-9',
    ]);
  });

  it('a dry run leaves no trace', async () => {
    await http.post(MAPS, configMap('dry', { a: '1' }));
    const before = (await http.get(MAPS)).json;
    const watch = await http.watch(
      `${MAPS}?watch=1&resourceVersion=${before.metadata.resourceVersion}&timeoutSeconds=1`,
    );
    const created = await http.post(`${MAPS}?dryRun=All`, configMap('never'));
    expect(created.status).toBe(201);
    expect(created.json.metadata.resourceVersion, 'nothing was stored').toBeUndefined();
    const current = before.items.find((item: { metadata: { name: string } }) => item.metadata.name === 'dry').metadata
      .resourceVersion;
    const answers = [
      await http.put(`${MAPS}/dry?dryRun=All`, configMap('dry', { a: '2' })),
      await http.patch(`${MAPS}/dry?dryRun=All`, 'merge', { data: { a: '3' } }),
      await http.patch(`${MAPS}/dry?dryRun=All&fieldManager=x&force=true`, 'apply', configMap('dry', { a: '4' })),
    ];
    for (const [i, answer] of answers.entries()) {
      expect(answer.json).toMatchObject({ data: { a: String(i + 2) }, metadata: { resourceVersion: current } });
    }
    expect((await http.delete(`${MAPS}/dry?dryRun=All`)).status).toBe(200);
    expect((await http.delete(`${MAPS}?dryRun=All`)).status).toBe(200);
    expect((await http.delete(`${MAPS}/dry`, { body: { dryRun: ['All'] } })).status).toBe(200);
    const events = [];
    for await (const event of watch) events.push(event);
    expect(events).toEqual([]);
    const after = (await http.get(MAPS)).json;
    if (!REAL) expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(after.items).toEqual(before.items);
  });

  it('a write that changes nothing makes no version', async () => {
    const { metadata } = (await http.get(`${MAPS}/dry`)).json;
    const same = [
      await http.patch(`${MAPS}/dry`, 'merge', { data: { a: '1' } }),
      await http.patch(`${MAPS}/dry`, 'json', []),
      await http.put(`${MAPS}/dry`, (await http.get(`${MAPS}/dry`)).json),
    ];
    for (const answer of same) expect(answer.json.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});

describe('answers', () => {
  const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };

  it('what admission added belongs to nobody, defaults to whoever left them out', async () => {
    const { metadata, spec } = (await http.post(`${PODS}?fieldManager=me`, pod)).json;
    expect(spec.tolerations).toHaveLength(2);
    expect(spec.volumes).toHaveLength(1);
    expect(metadata.managedFields).toHaveLength(1);
    const owned = metadata.managedFields[0].fieldsV1['f:spec'];
    expect(Object.keys(owned).sort()).toEqual([
      'f:containers',
      'f:dnsPolicy',
      'f:enableServiceLinks',
      'f:restartPolicy',
      'f:schedulerName',
      'f:securityContext',
      'f:terminationGracePeriodSeconds',
    ]);
    const made = { metadata: { name: `${NAMESPACE}-other` } };
    const namespace = (await http.post('/api/v1/namespaces?fieldManager=me&dryRun=All', made)).json;
    expect(namespace.spec.finalizers).toEqual(['kubernetes']);
    expect(namespace.metadata.managedFields[0].fieldsV1).not.toHaveProperty('f:spec');
  });

  it('some kinds are shown as they end, of others only the name', async () => {
    const gone = (await http.delete(`${PODS}/p`)).json;
    expect(gone).toMatchObject({ kind: 'Pod', metadata: { name: 'p', deletionGracePeriodSeconds: 0, generation: 2 } });
    const services = `/api/v1/namespaces/${NAMESPACE}/services`;
    await http.post(services, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
    expect((await http.delete(`${services}/s`)).json).toMatchObject({ kind: 'Service', spec: { type: 'ClusterIP' } });
    const { metadata } = (await http.post(MAPS, configMap('c'))).json;
    const details = { name: 'c', kind: 'configmaps', uid: metadata.uid };
    expect((await http.delete(`${MAPS}/c`)).json).toEqual({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
    });
  });

  it('a pod is bound by either road, and never a Binding is stored', async () => {
    const binding = { target: { kind: 'Node', name: 'n' } };
    const bindings = `/api/v1/namespaces/${NAMESPACE}/bindings`;
    expect((await http.post(bindings, { metadata: { name: 'nosuch' }, ...binding })).status).toBe(404);
    expect((await http.post(`${PODS}/p/binding`, { metadata: { name: 'q' }, ...binding })).status).toBe(400);
    await http.post(PODS, pod);
    expect((await http.post(bindings, { metadata: { name: 'p' }, ...binding })).status).toBe(201);
    expect((await http.get(`${PODS}/p`)).json.spec.nodeName).toBe('n');
    expect((await http.post(`${PODS}/p/binding`, { metadata: { name: 'p' }, ...binding })).status).toBe(409);
    await http.delete(`${PODS}/p?gracePeriodSeconds=0`);
  });

  it('an applied configuration says what it is', async () => {
    const apply = (name: string, body: object) => http.patch(`${MAPS}/${name}?fieldManager=me`, 'apply', body);
    const message = async (name: string, body: object) => (await apply(name, body)).json.message;
    expect(await message('a', { kind: 'ConfigMap' })).toBe('invalid object type: /, Kind=ConfigMap');
    expect(await message('a', { apiVersion: 'v1', kind: 'Secret' })).toBe('invalid object type: /v1, Kind=Secret');
    expect(await message('a', { apiVersion: 'v1', kind: 'ConfigMap' })).toContain('name must be provided');
  });
});

describe('headers', () => {
  it('warnings', async () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'warned' },
      spec: {
        replica: 1,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i', "quo'ted": 1 }] } },
      },
    };
    const answer = await http.post(`${DEPLOYMENTS}?fieldValidation=Warn&dryRun=All`, deployment);
    expect(answer.status).toBe(201);
    expect(answer.headers.warning).toBe(
      '299 - "unknown field \\"spec.replica\\"", 299 - "unknown field \\"spec.template.spec.containers[0].quo\'ted\\""',
    );
    const silent = await http.post(`${DEPLOYMENTS}?fieldValidation=Ignore&dryRun=All`, deployment);
    expect(silent.headers.warning).toBeUndefined();
    const strict = await http.post(`${DEPLOYMENTS}?fieldValidation=Strict&dryRun=All`, deployment);
    expect(strict.status).toBe(400);
    const doubled = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two"},"data":{"a":"1","a":"2"}}';
    const twice = await http.post(`${MAPS}?fieldValidation=Strict&dryRun=All`, doubled);
    expect(twice.json).toMatchObject({ code: 400 });
    expect(twice.json.message).toContain('duplicate field "data.a"');
  });

  it('HEAD is for paths, not for objects', async () => {
    expect((await http.send('HEAD', '/readyz')).status).toBe(200);
    expect((await http.send('HEAD', `${MAPS}/dry`)).status).toBe(405);
  });

  it('says how to authenticate', async () => {
    const answer = await http.get(MAPS, { token: 'wrong' });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized', code: 401 });
  });
});
