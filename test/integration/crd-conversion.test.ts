// Several versions of a custom resource, converted by a real webhook: every verb, mixed stored versions, and failures.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { admission, conversion, patch, startWebhookServer, type WebhookServer } from '../harness/webhook-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
type Any = any;

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CRD = `${CRDS}/widgets.example.com`;
const path = (version: string, name = '') =>
  `/apis/example.com/${version}/namespaces/default/widgets${name ? `/${name}` : ''}`;

let server: TestServer;
let http: Http;
let hooks: WebhookServer;

/** v1 has `spec.address: host:port`, v2 has `spec.host` and `spec.port`. */
function convertWidget(object: Any, apiVersion: string): Any {
  // Null while fields are taken from it during an apply.
  const spec = object.spec ?? {};
  if (apiVersion.endsWith('/v2')) {
    const [host, port] = (spec.address ?? ':0').split(':');
    const { address: _, ...rest } = spec;
    return { ...object, apiVersion, spec: { ...rest, host, port: Number(port) } };
  }
  const { host, port, ...rest } = spec;
  return { ...object, apiVersion, spec: { ...rest, address: `${host ?? ''}:${port ?? 0}` } };
}

const schemaOf = (spec: object) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { note: { type: 'string' }, replicas: { type: 'integer' }, ...spec } },
      status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
    },
  },
});

function widgets(storage: 'v1' | 'v2', strategy: object): Any {
  const version = (name: string, spec: object) => ({
    name,
    served: true,
    storage: name === storage,
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    schema: schemaOf(spec),
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [
        version('v1', { address: { type: 'string' } }),
        version('v2', {
          host: { type: 'string' },
          port: { type: 'integer', maximum: 65535 },
          tier: { type: 'string', default: 'gold' },
        }),
      ],
      conversion: strategy,
    },
  };
}

const webhook = (config: object) => ({
  strategy: 'Webhook',
  webhook: { clientConfig: config, conversionReviewVersions: ['v1', 'v1beta1'] },
});

const v1 = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec,
});
const v2 = (name: string, spec: object, metadata: object = {}) => ({
  ...v1(name, spec, metadata),
  apiVersion: 'example.com/v2',
});
const stored = (name: string): Any =>
  server.root.store.get({ resource: 'example.com/widgets', namespace: 'default', name })?.object();

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (await what()) return;
  }
  throw new Error('waited in vain');
}

async function define(crd: Any): Promise<void> {
  const answer = await http.post(CRDS, crd);
  expect(answer.status, answer.text).toBe(201);
}

async function store(version: 'v1' | 'v2'): Promise<void> {
  const operations = [0, 1].map((index) => ({
    op: 'replace',
    path: `/spec/versions/${index}/storage`,
    value: (version === 'v1') === (index === 0),
  }));
  const answer = await http.patch(CRD, 'json', operations);
  expect(answer.status, answer.text).toBe(200);
}

beforeAll(async () => {
  server = await startServer();
  http = await server.http();
  hooks = await startWebhookServer();
});

afterAll(async () => {
  await hooks.close();
  await server.close();
});

beforeEach(() => hooks.on('/convert', conversion(convertWidget)));

afterEach(async () => {
  hooks.on('/convert', conversion(convertWidget));
  await http.delete(CRD);
  await until(async () => (await http.get(CRD)).status === 404);
  expect(server.errors.splice(0)).toEqual([]);
});

describe('a kind stored in v1 and converted by a webhook', () => {
  beforeEach(() => define(widgets('v1', webhook(hooks.at('/convert')))));

  it('is written and read in any version', async () => {
    const created = await http.post(path('v2'), v2('a', { host: 'h', port: 1 }));
    expect(created.status, created.text).toBe(201);
    expect(created.json).toMatchObject({ apiVersion: 'example.com/v2', spec: { host: 'h', port: 1 } });
    expect(stored('a')).toMatchObject({ apiVersion: 'example.com/v1', spec: { address: 'h:1' } });
    expect((await http.get(path('v1', 'a'))).json.spec).toEqual({ address: 'h:1' });
    // What v2 has a default for and v1 no field is there again whenever v2 is read.
    expect((await http.get(path('v2', 'a'))).json.spec).toEqual({ host: 'h', port: 1, tier: 'gold' });
    const { review } = hooks.seen.get('/convert') ?? {};
    expect(review).toMatchObject({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      request: {
        desiredAPIVersion: 'example.com/v2',
        objects: [{ apiVersion: 'example.com/v1', spec: { address: 'h:1' } }],
      },
    });
  });

  it('is changed in any version', async () => {
    await http.post(path('v1'), v1('a', { address: 'h:1' }));
    const patched = await http.patch(path('v2', 'a'), 'merge', { spec: { port: 2 } });
    expect(patched.json.spec).toMatchObject({ host: 'h', port: 2 });
    expect(stored('a').spec).toEqual({ address: 'h:2' });
    const put = await http.put(path('v2', 'a'), { ...patched.json, spec: { host: 'x', port: 3 } });
    expect(put.status, put.text).toBe(200);
    expect((await http.get(path('v1', 'a'))).json.spec).toEqual({ address: 'x:3' });
    const jsonPatch = [
      { op: 'test', path: '/spec/port', value: 3 },
      { op: 'replace', path: '/spec/host', value: 'y' },
    ];
    expect((await http.patch(path('v2', 'a'), 'json', jsonPatch)).json.spec.host).toBe('y');
    await http.patch(path('v2', 'a/status'), 'merge', { status: { phase: 'Up' } });
    expect(stored('a')).toMatchObject({ spec: { address: 'y:3' }, status: { phase: 'Up' } });
    // Validation is that of the version sent.
    expect((await http.patch(path('v2', 'a'), 'merge', { spec: { port: 70000 } })).status).toBe(422);
    // Changing nothing is no change.
    const version = stored('a').metadata.resourceVersion;
    await http.patch(path('v2', 'a'), 'merge', { spec: { port: 3 } });
    expect(stored('a').metadata.resourceVersion).toBe(version);
  });

  it('is applied by managers of different versions', async () => {
    const first = await http.patch(
      `${path('v1', 'a')}?fieldManager=one`,
      'apply',
      v1('a', { address: 'h:1', note: 'n' }),
    );
    expect(first.status, first.text).toBe(201);
    const conflict = await http.patch(`${path('v2', 'a')}?fieldManager=two`, 'apply', v2('a', { port: 2 }));
    expect(conflict.status, conflict.text).toBe(409);
    expect(conflict.json.message).toMatch(/conflict with "one": \.spec\.address$/);
    const forced = await http.patch(`${path('v2', 'a')}?fieldManager=two&force=true`, 'apply', v2('a', { port: 2 }));
    expect(forced.status, forced.text).toBe(200);
    expect(stored('a').spec).toEqual({ address: 'h:2', note: 'n' });
    const owners = Object.fromEntries(
      forced.json.metadata.managedFields.map((entry: Any) => [entry.manager, entry.fieldsV1['f:spec']]),
    );
    expect(owners).toMatchObject({ one: { 'f:note': {} }, two: { 'f:port': {} } });
    expect(owners.one).not.toHaveProperty('f:address');
    // What an applier no longer mentions goes, also seen from the other version.
    const without = await http.patch(`${path('v1', 'a')}?fieldManager=one`, 'apply', v1('a', {}));
    expect(without.status, without.text).toBe(200);
    expect(stored('a').spec).toEqual({ address: 'h:2' });
  });

  it('is deleted in any version, finalizers and all', async () => {
    await http.post(path('v1'), v1('a', { address: 'h:1' }, { finalizers: ['example.com/wait'] }));
    const deleted = await http.delete(path('v2', 'a'));
    expect(deleted.json).toMatchObject({ apiVersion: 'example.com/v2', spec: { host: 'h' } });
    expect(deleted.json.metadata.deletionTimestamp).toBeDefined();
    expect(stored('a')).toMatchObject({ apiVersion: 'example.com/v1', spec: { address: 'h:1' } });
    await http.patch(path('v2', 'a'), 'merge', { metadata: { finalizers: null } });
    expect(stored('a')).toBeUndefined();
  });

  it('is listed with few calls, and none the second time', async () => {
    for (let i = 0; i < 120; i++)
      await http.post(path('v1'), v1(`w-${i}`, { address: `h:${i}` }, { labels: { n: `${i % 2}` } }));
    const before = hooks.calls('/convert');
    const { json } = await http.get(path('v2'));
    expect(json.items).toHaveLength(120);
    expect(json.items.every((item: Any) => item.apiVersion === 'example.com/v2' && item.spec.host === 'h')).toBe(true);
    expect(hooks.calls('/convert') - before).toBe(2);
    expect((await http.get(`${path('v2')}?labelSelector=n%3D1&limit=10`)).json.items).toHaveLength(10);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect((await http.get(path('v2'), { headers: { accept } })).json.rows).toHaveLength(120);
    expect(hooks.calls('/convert') - before).toBe(2);
    expect((await http.get(path('v1'))).json.items[0].spec).toHaveProperty('address');
    expect(hooks.calls('/convert') - before).toBe(2);
  });

  it('is watched in any version, in order', async () => {
    await http.post(path('v1'), v1('a', { address: 'h:0' }));
    // Answers come back out of order; changes must not.
    let turn = 0;
    const slowly = conversion(convertWidget);
    hooks.on('/convert', async (review, response) => {
      await new Promise((resolve) => setTimeout(resolve, turn++ % 2 === 0 ? 60 : 1));
      return slowly(review, response);
    });
    const watch = await http.watch(`${path('v2')}?watch=true`);
    expect(await watch.next()).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: 'example.com/v2', spec: { port: 0 } },
    });
    for (let port = 1; port <= 6; port++)
      await http.patch(path('v1', 'a'), 'merge', { spec: { address: `h:${port}` } });
    await http.delete(path('v1', 'a'));
    const seen: Any[] = [];
    while (seen.at(-1)?.type !== 'DELETED') seen.push(await watch.next());
    watch.close();
    expect(seen.map(({ type, object }) => `${type} ${object.apiVersion} ${object.spec.port}`)).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((port) => `MODIFIED example.com/v2 ${port}`),
      'DELETED example.com/v2 6',
    ]);
    const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
  });

  it('is watched without a bookmark that passes what still waits for the webhook', async () => {
    await http.post(path('v1'), v1('a', { address: 'h:0' }));
    const since = stored('a').metadata.resourceVersion;
    const slowly = conversion(convertWidget);
    hooks.on('/convert', async (review, response) => {
      await new Promise((resolve) => setTimeout(resolve, 2500));
      return slowly(review, response);
    });
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${since}`;
    const watch = await http.watch(`${path('v2')}?${query}`);
    await http.patch(path('v1', 'a'), 'merge', { spec: { note: 'unseen' } });
    const seen: Any[] = [];
    for await (const event of watch) seen.push(event);
    expect(seen.map(({ type }) => type)).not.toContain('BOOKMARK');
    expect(seen).toEqual([]);
  });

  it('may change labels and annotations, and no other metadata', async () => {
    hooks.on(
      '/convert',
      conversion((object, apiVersion) => {
        const converted = convertWidget(object, apiVersion);
        const { labels: _, ...metadata } = converted.metadata;
        return { ...converted, metadata: { ...metadata, labels: { seen: 'v2' }, finalizers: ['example.com/mine'] } };
      }),
    );
    await http.post(path('v1'), v1('a', { address: 'h:1' }, { labels: { a: 'b' }, annotations: { c: 'd' } }));
    const { metadata } = (await http.get(path('v2', 'a'))).json;
    expect(metadata.labels).toEqual({ seen: 'v2' });
    expect(metadata.annotations).toEqual({ c: 'd' });
    expect(metadata).not.toHaveProperty('finalizers');
  });

  const wrong: [string, (object: Any, apiVersion: string) => Any, string][] = [
    [
      'another name',
      (o, v) => ({ ...o, apiVersion: v, metadata: { ...o.metadata, name: 'b' } }),
      'returned invalid object: must have the same name: a != b',
    ],
    [
      'another version',
      (o) => ({ ...o, apiVersion: 'example.com/v9' }),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v9)',
    ],
    [
      'another kind',
      (o, v) => ({ ...o, apiVersion: v, kind: 'Gadget' }),
      'returned invalid object at index 0: invalid kind (expected Widget, received Gadget)',
    ],
    [
      'no metadata',
      (o, v) => ({ ...o, apiVersion: v, metadata: undefined }),
      'returned invalid metadata: missing metadata in converted object',
    ],
    [
      'labels that are none',
      (o, v) => ({ ...o, apiVersion: v, metadata: { ...o.metadata, labels: { a: 1 } } }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is number in converted object',
    ],
  ];
  it.each(wrong)('is not read when the answer has %s', async (_what, convert, message) => {
    await http.post(path('v1'), v1('a', { address: 'h:1' }));
    hooks.on('/convert', conversion(convert));
    const { json } = await http.get(path('v2', 'a'));
    expect(json).toMatchObject({ code: 500, message: `conversion webhook for example.com/v1, Kind=Widget ${message}` });
  });

  it('says why it cannot be converted, and is there in the stored version', async () => {
    await http.post(path('v1'), v1('a', { address: 'h:1' }));
    const failed = 'conversion webhook for example.com/v1, Kind=Widget';
    const refuse = (response: object) =>
      hooks.on('/convert', ({ apiVersion, request }) => ({
        kind: 'ConversionReview',
        apiVersion,
        response: { uid: request.uid, ...response },
      }));
    const answers: [object, string][] = [
      [{ result: { status: 'Failed', message: 'not today' } }, `${failed} failed: not today`],
      [{ result: { status: 'Failed' } }, `${failed} failed: response.result.status was 'Failed', not 'Success'`],
      [{ result: { status: 'Success' } }, `${failed} returned 0 objects, expected 1`],
      [{ uid: 'x', result: { status: 'Success' } }, `${failed} failed: expected response.uid=`],
    ];
    for (const [response, message] of answers) {
      refuse(response);
      const answer = await http.get(path('v2', 'a'));
      expect(answer.status).toBe(500);
      expect(answer.json.message).toContain(message);
      expect((await http.get(path('v2'))).json.message).toContain(message);
    }
    expect((await http.post(path('v2'), v2('b', {}))).json.message).toMatch(/for example.com\/v2, Kind=Widget failed/);
    expect(stored('b')).toBeUndefined();
    expect((await http.get(path('v1', 'a'))).status).toBe(200);
    expect((await http.patch(path('v1', 'a'), 'merge', { spec: { note: 'x' } })).status).toBe(200);
    const watch = await http.watch(`${path('v2')}?watch=true&resourceVersion=${stored('a').metadata.resourceVersion}`);
    await http.patch(path('v1', 'a'), 'merge', { spec: { note: 'y' } });
    const { type, object } = await watch.next();
    expect(type).toBe('ERROR');
    expect(object.message).toContain('conversion webhook for example.com/v1, Kind=Widget failed');
    watch.close();
    const url = 'https://127.0.0.1:1/convert';
    await http.patch(CRD, 'json', [{ op: 'replace', path: '/spec/conversion/webhook/clientConfig/url', value: url }]);
    expect((await http.get(path('v2', 'a'))).json.message).toBe(
      `${failed} failed: Post "${url}?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
  });

  it('is shown to admission webhooks in the version they ask for', async () => {
    const [name, group] = ['widgets', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'];
    hooks.on('/note', (review, response) => {
      expect(review.request.kind.version).toBe('v1');
      expect(review.request.requestKind.version).toBe('v2');
      if (review.request.object === null) return admission(review, { allowed: true });
      const { address } = review.request.object.spec;
      return patch([{ op: 'add', path: '/spec/note', value: `at ${address}` }])(review, response);
    });
    const rules = [{ operations: ['*'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['widgets'] }];
    const hook = {
      name: 'a.b.c',
      rules,
      clientConfig: hooks.at('/note'),
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name },
    };
    expect((await http.post(group, { ...body, webhooks: [hook] })).status).toBe(201);
    const created = await http.post(path('v2'), v2('a', { host: 'h', port: 1 }));
    expect(created.json.spec, created.text).toMatchObject({ host: 'h', port: 1, note: 'at h:1' });
    expect(stored('a').spec).toEqual({ address: 'h:1', note: 'at h:1' });
    expect((await http.delete(path('v2', 'a'))).status).toBe(200);
    await http.delete(`${group}/${name}`);
  });

  it('is scaled as a Scale, whatever version a webhook asks for', async () => {
    await http.post(path('v2'), v2('a', { host: 'h', port: 1, replicas: 1 }));
    hooks.on('/scale', patch([{ op: 'replace', path: '/spec/replicas', value: 3 }]));
    const group = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const rules = [
      { operations: ['*'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['widgets/scale'] },
    ];
    const clientConfig = hooks.at('/scale');
    const hook = { name: 'a.b.c', rules, clientConfig, sideEffects: 'None', admissionReviewVersions: ['v1'] };
    const metadata = { name: 'scales' };
    await http.post(group, { apiVersion, kind: 'MutatingWebhookConfiguration', metadata, webhooks: [hook] });
    const scaled = await http.patch(path('v2', 'a/scale'), 'merge', { spec: { replicas: 9 } });
    expect(scaled.json, scaled.text).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    expect(stored('a').spec).toEqual({ address: 'h:1', replicas: 3 });
    await http.delete(`${group}/scales`);
  });
});

describe('objects stored in different versions', () => {
  it.each([
    ['by a webhook', true],
    ['by their names', false],
  ])('are listed in one, converted %s, until each is written again', async (_how, byWebhook) => {
    await define(widgets('v1', byWebhook ? webhook(hooks.at('/convert')) : { strategy: 'None' }));
    await http.post(path('v1'), v1('old', { address: 'h:1', note: 'n' }));
    const since = stored('old').metadata.resourceVersion;
    await store('v2');
    expect((await http.get(CRD)).json.status.storedVersions).toEqual(['v1', 'v2']);
    await http.post(path('v1'), v1('new', { address: 'h:2', note: 'n' }));
    expect([stored('old').apiVersion, stored('new').apiVersion]).toEqual(['example.com/v1', 'example.com/v2']);
    for (const version of ['v1', 'v2']) {
      const { json } = await http.get(path(version));
      expect(json.items.map((item: Any) => item.apiVersion)).toEqual(Array(2).fill(`example.com/${version}`));
      expect((await http.get(path(version, 'old'))).json.apiVersion).toBe(`example.com/${version}`);
      const watch = await http.watch(`${path(version)}?watch=true&resourceVersion=${since}`);
      expect((await watch.next()).object.apiVersion).toBe(`example.com/${version}`);
      watch.close();
    }
    const { json } = await http.get(path('v2', 'old'));
    expect(json.spec).toEqual(
      byWebhook ? { host: 'h', port: 1, note: 'n', tier: 'gold' } : { note: 'n', tier: 'gold' },
    );
    // Written once more as it is, it is migrated.
    expect((await http.put(path('v2', 'old'), json)).status).toBe(200);
    expect(stored('old').apiVersion).toBe('example.com/v2');
    const gone = await http.patch(CRD, 'json', [{ op: 'remove', path: '/spec/versions/0' }]);
    expect(gone.json.message).toMatch(/v1 was previously a storage version, and must remain in spec.versions/);
    await http.patch(`${CRD}/status`, 'merge', { status: { storedVersions: ['v2'] } });
    expect((await http.patch(CRD, 'json', [{ op: 'remove', path: '/spec/versions/0' }])).status).toBe(200);
    expect((await http.get(path('v2'))).json.items).toHaveLength(2);
    expect((await http.get(path('v1'))).status).toBe(404);
  });
});
