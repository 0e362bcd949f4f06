// How webhooks are called: failures, time, connections, Services; and for which requests.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../harness/http.ts';
import { MAPS, webhookScene } from '../harness/webhook-scene.ts';
import { admission, allow, deny, patch } from '../harness/webhook-server.ts';

const scene = webhookScene();

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
    scene.hooks.on('/error', (_review, response) => {
      response.statusCode = 500;
      response.setHeader('content-type', 'text/plain');
      response.end('it broke\n');
    });
    scene.hooks.on('/status', (_review, response) => {
      response.statusCode = 403;
      return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'go away' };
    });
    scene.hooks.on('/text', () => '<html>');
    scene.hooks.on('/nothing-said', () => '');
    scene.hooks.on('/no-response', (review) => ({ kind: review.kind, apiVersion: review.apiVersion }));
    scene.hooks.on('/other-uid', (review) => admission(review, { allowed: true, uid: 'other' }));
    scene.hooks.on('/other-kind', (review) => ({ response: { uid: review.request.uid, allowed: true } }));
    scene.hooks.on('/patched', patch([{ op: 'add', path: '/data', value: {} }]));
    scene.hooks.on('/cut', (_review, response) => void response.socket?.destroy());
  });

  it.each(failures)('with %s is an internal error, or nothing', async (_what, path, config, message) => {
    const clientConfig = { ...scene.hooks.at(path), ...config };
    const name = scene.unique('failing');
    await scene.configure('validating', path, { clientConfig }, name);
    const answer = await scene.create();
    expect(answer.json).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(answer.json.message).toMatch(message);
    expect(answer.json.message).toMatch(`Internal error occurred: failed calling webhook "${name}.example.com": `);
    await scene.http.delete(scene.made.pop() as string);
    await scene.configure('validating', path, { clientConfig, failurePolicy: 'Ignore' });
    expect((await scene.create()).status).toBe(201);
  });

  it('ends when its time is up, and holds up nobody else', async () => {
    scene.hooks.on('/hang', () => undefined);
    await scene.configure('validating', '/hang', {
      timeoutSeconds: 4,
      objectSelector: { matchLabels: { hang: 'yes' } },
    });
    let isOver = false;
    const hanging = scene.create(scene.newMap({ metadata: { labels: { hang: 'yes' } } })).finally(() => {
      isOver = true;
    });
    for (let i = 0; i < 10; i++) expect((await scene.create()).status).toBe(201);
    expect(isOver).toBe(false);
    const answer = await hanging;
    expect(answer.json.message).toMatch(/Post "https:.*\/hang\?timeout=4s": context deadline exceeded$/);
  });
});

describe('connections', () => {
  it('are kept for the next call', async () => {
    await scene.configure('validating', '/allow');
    await scene.create();
    const before = scene.hooks.connections;
    for (let i = 0; i < 5; i++) await scene.create();
    expect(scene.hooks.connections).toBe(before);
  });

  it('that the webhook closed meanwhile are made again', async () => {
    await scene.configure('validating', '/allow');
    await scene.create();
    scene.hooks.drop();
    expect((await scene.create()).status).toBe(201);
  });
});

describe('a webhook is found by its Service', () => {
  const services = '/api/v1/namespaces/default/services';
  const refusal = async () => (await scene.create()).json.message.replace(/^.*timeout=5s": /, '');
  const newService = (name: string, spec: object) =>
    scene.http.post(services, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
  /** Past validation: endpoints may not be on the loopback address, which is the only one this test can count on. */
  const put = (resource: string, object: object) => {
    const { name } = (object as { metadata: { name: string } }).metadata;
    const key = { resource, namespace: 'default', name };
    return scene.server.root.store.write((tx) => tx.put(key, object as never));
  };

  it('through its ready endpoints, under its own name', async () => {
    const service = { namespace: 'default', name: 'hook', path: '/allow', port: 8443 };
    await scene.configure('validating', '', { clientConfig: { service, caBundle: scene.hooks.caBundle } });
    const answer = await scene.create();
    expect(answer.json.message).toMatch(
      /failed to call webhook: Post "https:\/\/hook.default.svc:8443\/allow\?timeout=5s": service "hook" not found$/,
    );
    await newService('hook', { ports: [{ name: 'https', port: 443 }] });
    expect(await refusal()).toBe('no service port 8443 found for service "hook"');
    await scene.http.patch(`${services}/hook`, 'json', [{ op: 'replace', path: '/spec/ports/0/port', value: 8443 }]);
    expect(await refusal()).toBe('no endpoints available for service "hook"');
    const slice = (ready?: boolean) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'hook-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port: scene.hooks.port }],
      endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready } }],
    });
    await put('discovery.k8s.io/endpointslices', slice(false));
    expect(await refusal()).toBe('no endpoints available for service "hook"');
    await put('discovery.k8s.io/endpointslices', slice());
    expect((await scene.create()).status).toBe(201);
    expect(scene.hooks.seen.get('/allow')?.headers.host).toBe('hook.default.svc:8443');
  });

  it('whose certificate has to name it', async () => {
    await newService('other', { ports: [{ port: 443 }] });
    const subsets = [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: scene.hooks.port }] }];
    const metadata = { name: 'other', namespace: 'default' };
    await put('/endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets });
    const service = { namespace: 'default', name: 'other', path: '/allow' };
    await scene.configure('validating', '', { clientConfig: { service, caBundle: scene.hooks.caBundle } });
    expect(await refusal()).toBe(
      'tls: failed to verify certificate: x509: certificate is valid for hook.default.svc, external.default.svc, not other.default.svc',
    );
  });

  it('also where that is only a name for somewhere else', async () => {
    await newService('external', { type: 'ExternalName', externalName: 'localhost' });
    const service = { namespace: 'default', name: 'external', path: '/allow', port: scene.hooks.port };
    await scene.configure('validating', '', { clientConfig: { service, caBundle: scene.hooks.caBundle } });
    expect((await scene.create()).status).toBe(201);
  });
});

describe('requests that are about a part of an object', () => {
  const every = [
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] },
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] },
  ];
  const pods = '/api/v1/namespaces/default/pods';
  const newPod = async () => {
    const name = scene.unique('pod');
    const spec = { containers: [{ name: 'main', image: 'main:1' }] };
    expect((await scene.http.post(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })).status).toBe(201);
    return name;
  };
  /** What the webhook was told of a request, and that it was told once. */
  const told = async (path: string, ask: () => Promise<Answer>) => {
    const before = scene.hooks.calls(path);
    const answer = await ask();
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(scene.hooks.calls(path) - before).toBe(1);
    return scene.hooks.seen.get(path)?.review.request;
  };

  it('are seen in the form they have, once', async () => {
    const name = await newPod();
    scene.hooks.on('/parts', allow);
    await scene.configure('validating', '/parts', { rules: every.slice(0, 1), objectSelector: {} });
    const body = (kind: string, apiVersion: string, rest: object) => ({
      apiVersion,
      kind,
      metadata: { name },
      ...rest,
    });
    const binding = body('Binding', 'v1', { target: { kind: 'Node', name: 'node-1' } });
    expect(await told('/parts', () => scene.http.post(`${pods}/${name}/binding`, binding))).toMatchObject({
      operation: 'CREATE',
      kind: { group: '', version: 'v1', kind: 'Binding' },
      resource: { resource: 'pods' },
      subResource: 'binding',
      name,
      object: { target: { name: 'node-1' } },
    });
    const status = { status: { phase: 'Running' } };
    expect(await told('/parts', () => scene.http.patch(`${pods}/${name}/status`, 'merge', status))).toMatchObject({
      operation: 'UPDATE',
      kind: { kind: 'Pod' },
      subResource: 'status',
      object: { status: { phase: 'Running' } },
    });
    const eviction = body('Eviction', 'policy/v1', {});
    expect(await told('/parts', () => scene.http.post(`${pods}/${name}/eviction`, eviction))).toMatchObject({
      operation: 'CREATE',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      subResource: 'eviction',
    });
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const account = '/api/v1/namespaces/default/serviceaccounts/default/token';
    expect(await told('/parts', () => scene.http.post(account, token))).toMatchObject({
      kind: { group: 'authentication.k8s.io', kind: 'TokenRequest' },
      subResource: 'token',
    });
  });

  it('of scale: a webhook sees and changes the Scale', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const metadata = { name: scene.unique('scaled') };
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
    await scene.http.post(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    scene.hooks.on('/scale', patch([{ op: 'replace', path: '/spec/replicas', value: 3 }]));
    await scene.configure('mutating', '/scale', { rules: every.slice(0, 1) });
    const path = `${deployments}/${metadata.name}`;
    const request = await told('/scale', () => scene.http.patch(`${path}/scale`, 'merge', { spec: { replicas: 9 } }));
    expect(request).toMatchObject({
      operation: 'UPDATE',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      subResource: 'scale',
      object: { spec: { replicas: 9 } },
      oldObject: { spec: { replicas: 1 } },
    });
    expect((await scene.http.get(path)).json.spec.replicas).toBe(3);
  });

  it('of connections: a webhook may refuse them', async () => {
    const name = await newPod();
    scene.hooks.on('/attach', deny({ message: 'attaching is not allowed' }));
    const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/attach'] }];
    await scene.configure('validating', '/attach', { rules });
    const answer = await scene.http.post(`${pods}/${name}/attach?container=main&stdin=true`, undefined);
    expect(answer.json.message).toMatch(/denied the request: attaching is not allowed$/);
    expect(scene.hooks.seen.get('/attach')?.review.request).toMatchObject({
      operation: 'CONNECT',
      kind: { group: '', version: 'v1', kind: 'PodAttachOptions' },
      subResource: 'attach',
      object: { kind: 'PodAttachOptions', apiVersion: 'v1', container: 'main', stdin: true },
      oldObject: null,
      options: null,
    });
    expect((await scene.http.post(`${pods}/${name}/exec?command=sh`, undefined)).json.message).not.toMatch(/denied/);
  });

  it('reviews are requests like others, configurations of webhooks are not', async () => {
    scene.hooks.on('/every', deny({ message: 'nothing at all' }));
    await scene.configure('validating', '/every', { rules: every.slice(1) });
    const apiVersion = 'authorization.k8s.io/v1';
    const review = { apiVersion, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: { verb: 'get' } } };
    const answer = await scene.http.post(`/apis/${apiVersion}/selfsubjectaccessreviews`, review);
    expect(answer.json.message).toMatch(/denied the request: nothing at all$/);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'refused' } };
    expect((await scene.http.post('/api/v1/namespaces', namespace)).status).toBe(400);
    expect(scene.hooks.seen.get('/every')?.review.request).toMatchObject({ name: 'refused', namespace: 'refused' });
    expect(
      (await scene.http.patch(scene.made[0] as string, 'merge', { metadata: { labels: { a: 'b' } } })).status,
    ).toBe(200);
    expect((await scene.http.delete(scene.made[0] as string)).status).toBe(200);
    expect((await scene.create()).status).toBe(201);
  });
});

it('every attempt of an update is shown, and only what was shown last is stored', async () => {
  const object = scene.newMap({ data: { n: '0' } });
  await scene.create(object);
  const path = `${MAPS}/${object.metadata.name}`;
  scene.hooks.on('/count', (review, response) => {
    const { data } = review.request.object;
    return patch([{ op: 'add', path: '/data/seen', value: Object.keys(data).sort().join() }])(review, response);
  });
  await scene.configure('mutating', '/count', { objectSelector: {} });
  await Promise.all(['a', 'b', 'c', 'd'].map((key) => scene.http.patch(path, 'merge', { data: { [key]: '1' } })));
  expect((await scene.http.get(path)).json.data).toMatchObject({
    a: '1',
    b: '1',
    c: '1',
    d: '1',
    seen: 'a,b,c,d,n,seen',
  });
});
