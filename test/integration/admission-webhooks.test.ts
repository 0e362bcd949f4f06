// Admission webhooks against a real HTTPS server: who is called, with what, and what comes of each answer.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { admission, allow, deny, patch, startWebhookServer, type WebhookServer } from '../harness/webhook-server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';
const CONFIGURATIONS = {
  validating: { path: `${GROUP}/validatingwebhookconfigurations`, kind: 'ValidatingWebhookConfiguration' },
  mutating: { path: `${GROUP}/mutatingwebhookconfigurations`, kind: 'MutatingWebhookConfiguration' },
};
const EVERY_MAP = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];

let server: TestServer;
let http: Http;
let hooks: WebhookServer;
const made: string[] = [];
let count = 0;

beforeAll(async () => {
  server = await startServer();
  http = await server.http();
  hooks = await startWebhookServer(['127.0.0.1', 'hook.default.svc', 'external.default.svc']);
  hooks.on('/allow', allow);
  hooks.on('/deny', deny({ message: 'no maps today' }));
});

afterAll(async () => {
  await hooks.close();
  await server.close();
});

afterEach(async () => {
  for (const path of made.splice(0)) await http.delete(path);
  expect(server.errors.splice(0)).toEqual([]);
});

type Type = keyof typeof CONFIGURATIONS;

/** Makes a configuration of one webhook and takes it away after the test. */
async function configure(type: Type, path: string, more: object = {}, name = `hook-${++count}`): Promise<Answer> {
  const webhook = {
    name: `${name}.example.com`,
    clientConfig: hooks.at(path),
    rules: EVERY_MAP,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    ...more,
  };
  return register(type, name, [webhook]);
}

async function register(type: Type, name: string, webhooks: object[]): Promise<Answer> {
  const { path, kind } = CONFIGURATIONS[type];
  const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks };
  const answer = await http.post(path, body);
  if (answer.status === 201) made.push(`${path}/${name}`);
  return answer;
}

function newMap(more: object = {}): { metadata: { name: string } & Record<string, unknown> } & Record<string, unknown> {
  const { metadata, ...rest } = more as { metadata?: object };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `map-${++count}`, ...metadata }, ...rest };
}

const create = (object: object = newMap(), query = '') => http.post(`${MAPS}${query}`, object);

describe('what a webhook is told', () => {
  it('of a create: the object before it is anybody, the user and the options', async () => {
    await configure('mutating', '/allow');
    const object = newMap({ data: { a: '1' } });
    expect((await create(object, '?fieldManager=me&fieldValidation=Strict')).status).toBe(201);
    const { review, headers, url } = hooks.seen.get('/allow') ?? {};
    expect(url).toBe('/allow?timeout=5s');
    expect(headers?.['content-type']).toBe('application/json');
    expect(review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
    const { uid, object: shown, ...request } = review.request;
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(shown.metadata).toMatchObject({ name: object.metadata.name, namespace: 'default' });
    expect(shown.metadata).not.toHaveProperty('uid');
    expect(shown.metadata.managedFields[0].manager).toBe('me');
    expect(request).toEqual({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: object.metadata.name,
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', fieldValidation: 'Strict' },
    });
  });

  it('of an update both objects, of a delete the old one; validating ones see who the object is', async () => {
    await configure('validating', '/allow');
    const object = newMap({ data: { a: '1' } });
    const { json: stored } = await create(object);
    expect(hooks.seen.get('/allow')?.review.request.object.metadata.uid).toBe(stored.metadata.uid);
    const path = `${MAPS}/${object.metadata.name}`;
    await http.patch(path, 'merge', { data: { a: '2' } });
    const update = hooks.seen.get('/allow')?.review.request;
    expect(update).toMatchObject({
      operation: 'UPDATE',
      object: { data: { a: '2' } },
      oldObject: { data: { a: '1' } },
      options: { kind: 'UpdateOptions' },
    });
    await http.delete(path, { body: { propagationPolicy: 'Background' } });
    expect(hooks.seen.get('/allow')?.review.request).toMatchObject({
      operation: 'DELETE',
      object: null,
      oldObject: { data: { a: '2' } },
      options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', propagationPolicy: 'Background' },
    });
  });

  it('a name that is still to be made is not told to who may change it', async () => {
    await configure('mutating', '/allow');
    const { json } = await create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'some-' } });
    expect(json.metadata.name).toMatch(/^some-.{5}$/);
    const { request } = hooks.seen.get('/allow')?.review ?? {};
    expect(request).not.toHaveProperty('name');
    expect(request.object.metadata).not.toHaveProperty('name');
  });

  it('in v1beta1 where that is all it knows', async () => {
    await configure('validating', '/allow', { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] });
    expect((await create()).status).toBe(201);
    expect(hooks.seen.get('/allow')?.review.apiVersion).toBe('admission.k8s.io/v1beta1');
  });
});

describe('a denial', () => {
  const cases: [object | undefined, number, object][] = [
    [undefined, 400, { message: 'admission webhook "NAME" denied the request without explanation' }],
    [{ message: 'no' }, 400, { message: 'admission webhook "NAME" denied the request: no' }],
    [{ reason: 'Forbidden' }, 400, { message: 'admission webhook "NAME" denied the request: Forbidden' }],
    [
      { code: 403, reason: 'Forbidden', message: 'no', details: { causes: [{ message: 'x' }] } },
      403,
      {
        message: 'admission webhook "NAME" denied the request: no',
        reason: 'Forbidden',
        details: { causes: [{ message: 'x' }] },
      },
    ],
    [{ code: 200, status: 'Success' }, 400, { status: 'Failure', code: 400 }],
  ];
  it.each(['validating', 'mutating'] as const)('of a %s webhook is worded by its status', async (type) => {
    for (const [status, code, expected] of cases) {
      hooks.on('/denial', deny(status));
      const name = `denial-${++count}`;
      await configure(type, '/denial', {}, name);
      const object = newMap();
      const answer = await create(object);
      expect(answer.status).toBe(code);
      const worded = JSON.parse(JSON.stringify(expected).replace('NAME', `${name}.example.com`));
      expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', ...worded });
      expect((await http.get(`${MAPS}/${object.metadata.name}`)).status).toBe(404);
      await http.delete(made.pop() as string);
    }
  });

  it('keeps updates and deletes from happening', async () => {
    const object = newMap({ data: { a: '1' } });
    await create(object);
    const path = `${MAPS}/${object.metadata.name}`;
    await configure('validating', '/deny');
    expect((await http.patch(path, 'merge', { data: { a: '2' } })).json.message).toMatch(/denied the request: no maps/);
    expect((await http.delete(path)).status).toBe(400);
    expect((await http.get(path)).json.data).toEqual({ a: '1' });
  });

  it('comes with the warnings of the webhook', async () => {
    hooks.on('/warn', (review) => admission(review, { allowed: true, warnings: ['it is late', 'go to bed'] }));
    await configure('validating', '/warn');
    expect((await create()).headers.warning).toBe('299 - "it is late", 299 - "go to bed"');
  });
});

describe('a patch', () => {
  it('changes the object, which is held to its type and defaulted after it', async () => {
    hooks.on(
      '/patch',
      patch([
        { op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 'side:1', nonsense: 1 } },
        { op: 'add', path: '/metadata/labels', value: { patched: 'yes' } },
      ]),
    );
    await configure('mutating', '/patch', {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${++count}` },
      spec: { containers: [{ name: 'main', image: 'main:1' }] },
    };
    const { json } = await http.post('/api/v1/namespaces/default/pods', pod);
    expect(json.metadata.labels).toEqual({ patched: 'yes' });
    const sidecar = json.spec.containers[1];
    expect(sidecar).toMatchObject({ name: 'sidecar', imagePullPolicy: 'IfNotPresent' });
    expect(sidecar).not.toHaveProperty('nonsense');
    // The second round gave the new container what the first gave the old one.
    expect(sidecar.volumeMounts[0].mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
    expect(json.spec.volumes).toHaveLength(1);
  });

  it('belongs to nobody, on create as on update', async () => {
    hooks.on('/patch', patch([{ op: 'add', path: '/data/added', value: 'yes' }]));
    const object = newMap({ data: { a: '1' } });
    await create(object);
    await configure('mutating', '/patch');
    const { json } = await http.patch(`${MAPS}/${object.metadata.name}?fieldManager=me`, 'merge', { data: { b: '2' } });
    expect(json.data).toEqual({ a: '1', b: '2', added: 'yes' });
    const mine = json.metadata.managedFields.find((entry: { manager: string }) => entry.manager === 'me');
    expect(mine.fieldsV1).toEqual({ 'f:data': { 'f:b': {} } });
  });

  it('is seen by those who come after, in the order of the names of the configurations', async () => {
    for (const [name, value] of [
      ['b-second', '2'],
      ['a-first', '1'],
    ] as const) {
      hooks.on(`/${name}`, (review) => {
        const order = `${review.request.object.data.order ?? ''}${value}`;
        return patch([{ op: 'add', path: '/data/order', value: order }])(review, undefined as never);
      });
      await configure('mutating', `/${name}`, {}, name);
    }
    expect((await create(newMap({ data: { a: '' } }))).json.data.order).toBe('12');
  });

  const bad: [string, object, RegExp][] = [
    [
      'no base64 JSON',
      { patch: Buffer.from('{').toString('base64'), patchType: 'JSONPatch' },
      /received undecodable patch in webhook response/,
    ],
    ['no list', { patch: Buffer.from('{}').toString('base64'), patchType: 'JSONPatch' }, /undecodable patch/],
    [
      'another type',
      { patch: Buffer.from('[{}]').toString('base64'), patchType: 'Merge' },
      /unsupported patch type "Merge"/,
    ],
    ['no type', { patch: 'W10=' }, /webhook returned response.patch but not response.patchType/],
    ['a type alone', { patchType: 'JSONPatch' }, /webhook returned response.patchType but not response.patch/],
  ];
  it.each(bad)('that is %s fails the call', async (_what, response, message) => {
    hooks.on('/bad', (review) => admission(review, { allowed: true, ...response }));
    await configure('mutating', '/bad');
    const answer = await create();
    expect(answer.status).toBe(500);
    expect(answer.json.message).toMatch(message);
    expect(answer.json.message).toMatch(/^Internal error occurred: failed calling webhook "/);
  });

  it('that does not fit fails the request, whatever the policy says', async () => {
    hooks.on('/bad', patch([{ op: 'add', path: '/spec/x/y', value: 1 }]));
    await configure('mutating', '/bad', { failurePolicy: 'Ignore' });
    const answer = await create();
    expect(answer.status).toBe(500);
    expect(answer.json.message).toBe(
      'Internal error occurred: add operation does not apply: doc is missing path: "/spec/x/y": missing value',
    );
  });

  it('of the wrong type fails the request', async () => {
    hooks.on('/bad', patch([{ op: 'add', path: '/data', value: { a: 1 } }]));
    await configure('mutating', '/bad');
    expect((await create()).json).toMatchObject({ code: 500, reason: 'InternalError' });
  });

  it('cannot touch what is deleted', async () => {
    hooks.on('/bad', patch([{ op: 'add', path: '/data', value: {} }]));
    const object = newMap();
    await create(object);
    await configure('mutating', '/bad', { rules: [{ ...EVERY_MAP[0], operations: ['DELETE'] }] });
    const { json } = await http.delete(`${MAPS}/${object.metadata.name}`);
    expect(json.message).toMatch(/attempted to modify the object, which is not supported for this operation$/);
  });

  it('of managedFields that makes no sense is not taken', async () => {
    hooks.on('/bad', patch([{ op: 'replace', path: '/metadata/managedFields/0/fieldsType', value: 'V9' }]));
    await configure('mutating', '/bad');
    const answer = await create(newMap({ data: { a: '1' } }));
    expect(answer.headers.warning).toMatch(/managedFields was in an invalid state after admission/);
    expect(answer.json.metadata.managedFields[0].fieldsType).toBe('FieldsV1');
  });
});

describe('reinvocation', () => {
  const counting = (path: string, key: string) =>
    hooks.on(path, (review) => {
      const value = String(Number(review.request.object.data?.[key] ?? 0) + 1);
      return patch([{ op: 'add', path: `/data/${key}`, value }])(review, undefined as never);
    });

  it('is for those who ask for it, when something changed after them, and once', async () => {
    counting('/one', 'one');
    counting('/two', 'two');
    counting('/three', 'three');
    await configure('mutating', '/one', { reinvocationPolicy: 'IfNeeded' }, 'a-one');
    await configure('mutating', '/two', { reinvocationPolicy: 'Never' }, 'b-two');
    await configure('mutating', '/three', { reinvocationPolicy: 'IfNeeded' }, 'c-three');
    const { json } = await create(newMap({ data: { x: '' } }));
    // In the second round the first changes it again, so the last looks again, too.
    expect(json.data).toEqual({ x: '', one: '2', two: '1', three: '2' });
  });

  it('does not happen when nothing changed', async () => {
    const before = hooks.calls('/allow');
    await configure('mutating', '/allow', { reinvocationPolicy: 'IfNeeded' });
    await create();
    expect(hooks.calls('/allow')).toBe(before + 1);
  });

  it('never calls who was not called before', async () => {
    hooks.on('/label', patch([{ op: 'add', path: '/metadata/labels', value: { late: 'yes' } }]));
    const before = hooks.calls('/allow');
    const late = { objectSelector: { matchLabels: { late: 'yes' } }, reinvocationPolicy: 'IfNeeded' };
    await configure('mutating', '/allow', late, 'a-late');
    await configure('mutating', '/label', {}, 'b-label');
    expect((await create()).json.metadata.labels).toEqual({ late: 'yes' });
    expect(hooks.calls('/allow')).toBe(before);
  });
});

describe('dry run', () => {
  it('reaches webhooks without side effects and stores nothing', async () => {
    await configure('validating', '/allow', { sideEffects: 'NoneOnDryRun' });
    const object = newMap();
    expect((await create(object, '?dryRun=All')).status).toBe(201);
    expect(hooks.seen.get('/allow')?.review.request).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
    expect((await http.get(`${MAPS}/${object.metadata.name}`)).status).toBe(404);
  });

  it('is refused where a webhook may have some', async () => {
    // Only configurations from before v1 can say so: written past validation.
    const webhooks = [
      {
        name: 'some.example.com',
        clientConfig: hooks.at('/allow'),
        rules: EVERY_MAP,
        sideEffects: 'Some',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
      },
    ];
    const key = {
      resource: 'admissionregistration.k8s.io/validatingwebhookconfigurations',
      namespace: '',
      name: 'some',
    };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const kind = 'ValidatingWebhookConfiguration';
    await server.root.store.write((tx) => tx.put(key, { apiVersion, kind, metadata: { name: 'some' }, webhooks }));
    const answer = await create(newMap(), '?dryRun=All');
    expect(answer.json).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'admission webhook "some.example.com" does not support dry run',
    });
    expect((await create()).status).toBe(201);
    await server.root.store.write((tx) => tx.delete(key));
  });
});

describe('a call that fails', () => {
  const failures: [string, string, object, RegExp][] = [
    [
      'nobody listens',
      '',
      { url: 'https://127.0.0.1:1/x' },
      /failed to call webhook: Post "https:\/\/127.0.0.1:1\/x\?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused$/,
    ],
    ['no such host', '', { url: 'https://nowhere.invalid/x' }, /dial tcp: lookup nowhere.invalid: no such host$/],
    ['no such path', '/nothing', {}, /failed to call webhook: the server could not find the requested resource$/],
    ['an error', '/error', {}, /an error on the server \("it broke"\) has prevented the request from succeeding$/],
    ['a Status', '/status', {}, /failed to call webhook: go away$/],
    ['no JSON', '/text', {}, /failed to call webhook: couldn't get version\/kind; json parse error: /],
    ['nothing', '/nothing-said', {}, /0-length response with status code: 200 and content type: application\/json$/],
    ['no response', '/no-response', {}, /received invalid webhook response: webhook response was absent$/],
    [
      'another uid',
      '/other-uid',
      {},
      /received invalid webhook response: expected response.uid="[-0-9a-f]{36}", got "other"$/,
    ],
    [
      'another kind',
      '/other-kind',
      {},
      /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
    ],
    ['a patch', '/patched', {}, /validating webhook may not return response.patch$/],
    [
      'a CA nobody knows',
      '/allow',
      { caBundle: undefined },
      /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    ],
    [
      'a broken CA',
      '/allow',
      { caBundle: 'bm9uZQ==' },
      /could not get REST client: unable to load root certificates: unable to parse bytes as PEM block$/,
    ],
    ['a cut connection', '/cut', {}, /failed to call webhook: Post "https:\/\/127.0.0.1:\d+\/cut\?timeout=5s": EOF$/],
  ];

  beforeAll(() => {
    hooks.on('/error', (_review, response) => {
      response.statusCode = 500;
      response.setHeader('content-type', 'text/plain');
      response.end('it broke\n');
    });
    hooks.on('/status', (_review, response) => {
      response.statusCode = 403;
      return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'go away' };
    });
    hooks.on('/text', () => '<html>');
    hooks.on('/nothing-said', () => '');
    hooks.on('/no-response', (review) => ({ kind: review.kind, apiVersion: review.apiVersion }));
    hooks.on('/other-uid', (review) => admission(review, { allowed: true, uid: 'other' }));
    hooks.on('/other-kind', (review) => ({ response: { uid: review.request.uid, allowed: true } }));
    hooks.on('/patched', patch([{ op: 'add', path: '/data', value: {} }]));
    hooks.on('/cut', (_review, response) => void response.socket?.destroy());
  });

  it.each(failures)('with %s is an internal error, or nothing', async (_what, path, config, message) => {
    const clientConfig = { ...hooks.at(path), ...config };
    const name = `failing-${++count}`;
    await configure('validating', path, { clientConfig }, name);
    const answer = await create();
    expect(answer.json).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(answer.json.message).toMatch(message);
    expect(answer.json.message).toMatch(`Internal error occurred: failed calling webhook "${name}.example.com": `);
    await http.delete(made.pop() as string);
    await configure('validating', path, { clientConfig, failurePolicy: 'Ignore' });
    expect((await create()).status).toBe(201);
  });

  it('ends when its time is up, and holds up nobody else', async () => {
    hooks.on('/hang', () => undefined);
    await configure('validating', '/hang', {
      timeoutSeconds: 4,
      objectSelector: { matchLabels: { hang: 'yes' } },
    });
    let isOver = false;
    const hanging = create(newMap({ metadata: { labels: { hang: 'yes' } } })).finally(() => {
      isOver = true;
    });
    for (let i = 0; i < 10; i++) expect((await create()).status).toBe(201);
    expect(isOver).toBe(false);
    const answer = await hanging;
    expect(answer.json.message).toMatch(/Post "https:.*\/hang\?timeout=4s": context deadline exceeded$/);
  });
});

describe('connections', () => {
  it('are kept for the next call', async () => {
    await configure('validating', '/allow');
    await create();
    const before = hooks.connections;
    for (let i = 0; i < 5; i++) await create();
    expect(hooks.connections).toBe(before);
  });

  it('that the webhook closed meanwhile are made again', async () => {
    await configure('validating', '/allow');
    await create();
    hooks.drop();
    expect((await create()).status).toBe(201);
  });
});

describe('a webhook is found by its Service', () => {
  const services = '/api/v1/namespaces/default/services';
  const refusal = async () => (await create()).json.message.replace(/^.*timeout=5s": /, '');
  const newService = (name: string, spec: object) =>
    http.post(services, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
  /** Past validation: endpoints may not be on the loopback address, which is the only one this test can count on. */
  const put = (resource: string, object: object) => {
    const { name } = (object as { metadata: { name: string } }).metadata;
    const key = { resource, namespace: 'default', name };
    return server.root.store.write((tx) => tx.put(key, object as never));
  };

  it('through its ready endpoints, under its own name', async () => {
    const service = { namespace: 'default', name: 'hook', path: '/allow', port: 8443 };
    await configure('validating', '', { clientConfig: { service, caBundle: hooks.caBundle } });
    const answer = await create();
    expect(answer.json.message).toMatch(
      /failed to call webhook: Post "https:\/\/hook.default.svc:8443\/allow\?timeout=5s": service "hook" not found$/,
    );
    await newService('hook', { ports: [{ name: 'https', port: 443 }] });
    expect(await refusal()).toBe('no service port 8443 found for service "hook"');
    await http.patch(`${services}/hook`, 'json', [{ op: 'replace', path: '/spec/ports/0/port', value: 8443 }]);
    expect(await refusal()).toBe('no endpoints available for service "hook"');
    const slice = (ready?: boolean) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'hook-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port: hooks.port }],
      endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready } }],
    });
    await put('discovery.k8s.io/endpointslices', slice(false));
    expect(await refusal()).toBe('no endpoints available for service "hook"');
    await put('discovery.k8s.io/endpointslices', slice());
    expect((await create()).status).toBe(201);
    expect(hooks.seen.get('/allow')?.headers.host).toBe('hook.default.svc:8443');
  });

  it('whose certificate has to name it', async () => {
    await newService('other', { ports: [{ port: 443 }] });
    const subsets = [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: hooks.port }] }];
    const metadata = { name: 'other', namespace: 'default' };
    await put('/endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets });
    const service = { namespace: 'default', name: 'other', path: '/allow' };
    await configure('validating', '', { clientConfig: { service, caBundle: hooks.caBundle } });
    expect(await refusal()).toBe(
      'tls: failed to verify certificate: x509: certificate is valid for hook.default.svc, external.default.svc, not other.default.svc',
    );
  });

  it('also where that is only a name for somewhere else', async () => {
    await newService('external', { type: 'ExternalName', externalName: 'localhost' });
    const service = { namespace: 'default', name: 'external', path: '/allow', port: hooks.port };
    await configure('validating', '', { clientConfig: { service, caBundle: hooks.caBundle } });
    expect((await create()).status).toBe(201);
  });
});

describe('requests that are about a part of an object', () => {
  const every = [
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] },
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] },
  ];
  const pods = '/api/v1/namespaces/default/pods';
  const newPod = async () => {
    const name = `pod-${++count}`;
    const spec = { containers: [{ name: 'main', image: 'main:1' }] };
    expect((await http.post(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })).status).toBe(201);
    return name;
  };
  /** What the webhook was told of a request, and that it was told once. */
  const told = async (path: string, ask: () => Promise<Answer>) => {
    const before = hooks.calls(path);
    const answer = await ask();
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(hooks.calls(path) - before).toBe(1);
    return hooks.seen.get(path)?.review.request;
  };

  it('are seen in the form they have, once', async () => {
    const name = await newPod();
    hooks.on('/parts', allow);
    await configure('validating', '/parts', { rules: every.slice(0, 1), objectSelector: {} });
    const body = (kind: string, apiVersion: string, rest: object) => ({
      apiVersion,
      kind,
      metadata: { name },
      ...rest,
    });
    const binding = body('Binding', 'v1', { target: { kind: 'Node', name: 'node-1' } });
    expect(await told('/parts', () => http.post(`${pods}/${name}/binding`, binding))).toMatchObject({
      operation: 'CREATE',
      kind: { group: '', version: 'v1', kind: 'Binding' },
      resource: { resource: 'pods' },
      subResource: 'binding',
      name,
      object: { target: { name: 'node-1' } },
    });
    const status = { status: { phase: 'Running' } };
    expect(await told('/parts', () => http.patch(`${pods}/${name}/status`, 'merge', status))).toMatchObject({
      operation: 'UPDATE',
      kind: { kind: 'Pod' },
      subResource: 'status',
      object: { status: { phase: 'Running' } },
    });
    const eviction = body('Eviction', 'policy/v1', {});
    expect(await told('/parts', () => http.post(`${pods}/${name}/eviction`, eviction))).toMatchObject({
      operation: 'CREATE',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      subResource: 'eviction',
    });
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const account = '/api/v1/namespaces/default/serviceaccounts/default/token';
    expect(await told('/parts', () => http.post(account, token))).toMatchObject({
      kind: { group: 'authentication.k8s.io', kind: 'TokenRequest' },
      subResource: 'token',
    });
  });

  it('of scale: a webhook sees and changes the Scale', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const metadata = { name: `scaled-${++count}` };
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
    await http.post(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    hooks.on('/scale', patch([{ op: 'replace', path: '/spec/replicas', value: 3 }]));
    await configure('mutating', '/scale', { rules: every.slice(0, 1) });
    const path = `${deployments}/${metadata.name}`;
    const request = await told('/scale', () => http.patch(`${path}/scale`, 'merge', { spec: { replicas: 9 } }));
    expect(request).toMatchObject({
      operation: 'UPDATE',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      subResource: 'scale',
      object: { spec: { replicas: 9 } },
      oldObject: { spec: { replicas: 1 } },
    });
    expect((await http.get(path)).json.spec.replicas).toBe(3);
  });

  it('of connections: a webhook may refuse them', async () => {
    const name = await newPod();
    hooks.on('/attach', deny({ message: 'attaching is not allowed' }));
    const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/attach'] }];
    await configure('validating', '/attach', { rules });
    const answer = await http.post(`${pods}/${name}/attach?container=main&stdin=true`, undefined);
    expect(answer.json.message).toMatch(/denied the request: attaching is not allowed$/);
    expect(hooks.seen.get('/attach')?.review.request).toMatchObject({
      operation: 'CONNECT',
      kind: { group: '', version: 'v1', kind: 'PodAttachOptions' },
      subResource: 'attach',
      object: { kind: 'PodAttachOptions', apiVersion: 'v1', container: 'main', stdin: true },
      oldObject: null,
      options: null,
    });
    expect((await http.post(`${pods}/${name}/exec?command=sh`, undefined)).json.message).not.toMatch(/denied/);
  });

  it('reviews are requests like others, configurations of webhooks are not', async () => {
    hooks.on('/every', deny({ message: 'nothing at all' }));
    await configure('validating', '/every', { rules: every.slice(1) });
    const apiVersion = 'authorization.k8s.io/v1';
    const review = { apiVersion, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: { verb: 'get' } } };
    const answer = await http.post(`/apis/${apiVersion}/selfsubjectaccessreviews`, review);
    expect(answer.json.message).toMatch(/denied the request: nothing at all$/);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'refused' } };
    expect((await http.post('/api/v1/namespaces', namespace)).status).toBe(400);
    expect(hooks.seen.get('/every')?.review.request).toMatchObject({ name: 'refused', namespace: 'refused' });
    expect((await http.patch(made[0] as string, 'merge', { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await http.delete(made[0] as string)).status).toBe(200);
    expect((await create()).status).toBe(201);
  });
});

it('every attempt of an update is shown, and only what was shown last is stored', async () => {
  const object = newMap({ data: { n: '0' } });
  await create(object);
  const path = `${MAPS}/${object.metadata.name}`;
  hooks.on('/count', (review, response) => {
    const { data } = review.request.object;
    return patch([{ op: 'add', path: '/data/seen', value: Object.keys(data).sort().join() }])(review, response);
  });
  await configure('mutating', '/count', { objectSelector: {} });
  await Promise.all(['a', 'b', 'c', 'd'].map((key) => http.patch(path, 'merge', { data: { [key]: '1' } })));
  expect((await http.get(path)).json.data).toMatchObject({ a: '1', b: '1', c: '1', d: '1', seen: 'a,b,c,d,n,seen' });
});
