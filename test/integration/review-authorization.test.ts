/** Rights that end where they should: what a user may do in one place gives nothing in another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ask, Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const as = (user: string, ...groups: string[]): Ask => ({
  headers: { 'impersonate-user': user, ...(groups.length ? { 'impersonate-group': groups } : {}) },
});

let server: TestServer;
let admin: Http;

beforeAll(async () => {
  server = await startServer();
  admin = await server.http('red');
  for (const name of ['mine', 'theirs']) await made('/api/v1/namespaces', { metadata: { name } });
});
afterAll(() => server.close());

async function made(path: string, object: object): Promise<void> {
  const answer = await admin.post(path, object);
  expect(answer.status, answer.text).toBe(201);
}

/** Gives `user` these rules in namespace `mine`. */
async function grant(user: string, rules: object[], namespace = 'mine'): Promise<void> {
  const name = `for-${user}`;
  await made(`${RBAC}/namespaces/${namespace}/roles`, { metadata: { name }, rules });
  await made(`${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    roleRef: { kind: 'Role', name, apiGroup: 'rbac.authorization.k8s.io' },
  });
}

describe('a field selector does not lead into another namespace', () => {
  const SECRETS = '/api/v1/namespaces/mine/secrets';
  const ELSEWHERE = 'fieldSelector=metadata.namespace%3Dtheirs';

  beforeAll(async () => {
    await grant('reader', [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch', 'deletecollection'] }]);
    await made('/api/v1/namespaces/theirs/secrets', { metadata: { name: 'hidden' }, stringData: { a: 'b' } });
    await made(SECRETS, { metadata: { name: 'own' }, stringData: { a: 'b' } });
  });

  it('when listing', async () => {
    const answer = await admin.get(`${SECRETS}?${ELSEWHERE}`, as('reader'));
    expect(answer.status).toBe(200);
    expect(answer.json.items).toEqual([]);
    const both = await admin.get(`${SECRETS}?${ELSEWHERE},metadata.name%3Dhidden`, as('reader'));
    expect(both.json.items).toEqual([]);
    const own = await admin.get(`${SECRETS}?fieldSelector=metadata.namespace%3Dmine`, as('reader'));
    expect(own.json.items).toHaveLength(1);
  });

  it('when watching', async () => {
    const watch = await admin.watch(`${SECRETS}?watch=1&timeoutSeconds=1&${ELSEWHERE}`, as('reader'));
    const seen = [];
    for await (const event of watch) seen.push(event);
    expect(seen).toEqual([]);
  });

  it('when deleting', async () => {
    expect((await admin.delete(`${SECRETS}?${ELSEWHERE}`, as('reader'))).status).toBe(200);
    expect((await admin.get('/api/v1/namespaces/theirs/secrets/hidden')).status).toBe(200);
  });
});

describe('making an object needs the right to create, whatever the verb', () => {
  const MAPS = '/api/v1/namespaces/mine/configmaps';
  const LEASES = '/apis/coordination.k8s.io/v1/namespaces/mine/leases';

  beforeAll(() =>
    grant('changer', [
      {
        apiGroups: ['', 'coordination.k8s.io'],
        resources: ['configmaps', 'leases'],
        verbs: ['get', 'update', 'patch'],
      },
    ]),
  );

  it('by server-side apply', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: 'b' } };
    const answer = await admin.patch(`${MAPS}/applied?fieldManager=t`, 'apply', body, as('changer'));
    expect(answer.status, answer.text).toBe(403);
    expect(answer.json.message).toContain('cannot create resource "configmaps"');
    expect((await admin.patch(`${MAPS}/applied?fieldManager=t`, 'apply', body)).status).toBe(201);
    const change = { ...body, data: { a: 'c' } };
    expect((await admin.patch(`${MAPS}/applied?fieldManager=t`, 'apply', change, as('changer'))).status).toBe(200);
  });

  it('by PUT', async () => {
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'put' }, spec: {} };
    const answer = await admin.put(`${LEASES}/put`, body, as('changer'));
    expect(answer.status, answer.text).toBe(403);
    expect((await admin.put(`${LEASES}/put`, body)).status).toBe(201);
  });
});

describe('a right to named objects', () => {
  const MAPS = '/api/v1/namespaces/mine/configmaps';
  beforeAll(() =>
    grant('named', [
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['one'],
        verbs: ['list', 'watch', 'deletecollection'],
      },
    ]),
  );

  it('lists and watches them by name, and nothing else', async () => {
    const one = 'fieldSelector=metadata.name%3Done';
    expect((await admin.get(`${MAPS}?${one}`, as('named'))).status).toBe(200);
    const watch = await admin.watch(`${MAPS}?watch=1&timeoutSeconds=1&${one}`, as('named'));
    expect(watch.answer.statusCode).toBe(200);
    watch.close();
    expect((await admin.get(MAPS, as('named'))).status).toBe(403);
    expect((await admin.get(`${MAPS}?fieldSelector=metadata.name%3Dtwo`, as('named'))).status).toBe(403);
    expect((await admin.get(`${MAPS}?fieldSelector=metadata.name!%3Done`, as('named'))).status).toBe(403);
  });
});

it('other verbs and subresources need their own right', async () => {
  await grant('deleter', [
    {
      apiGroups: ['', 'apps'],
      resources: ['pods', 'deployments', 'serviceaccounts'],
      verbs: ['get', 'update', 'patch', 'delete', 'create'],
    },
  ]);
  const base = '/api/v1/namespaces/mine';
  const refused = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer;
    expect(status, text).toBe(403);
  };
  await refused(admin.delete(`${base}/pods`, as('deleter')));
  await refused(admin.post(`${base}/pods/x/eviction`, {}, as('deleter')));
  await refused(admin.post(`${base}/pods/x/binding`, {}, as('deleter')));
  await refused(admin.patch(`${base}/pods/x/status`, 'merge', {}, as('deleter')));
  await refused(admin.post(`${base}/serviceaccounts/default/token`, {}, as('deleter')));
  await refused(admin.patch(`/apis/apps/v1/namespaces/mine/deployments/x/scale`, 'merge', {}, as('deleter')));
  await refused(admin.post(`/api/v1/namespaces/theirs/serviceaccounts/default/token`, {}, as('deleter')));
  // Whether there is such a tenant is told to its users only.
  for (const path of [`${base}/pods`, '/', '/metrics'])
    expect((await admin.get(path, { token: null })).status).toBe(401);
});

it('what is below a subresource is nothing', async () => {
  const path = '/apis/apps/v1/namespaces/kube-system/deployments/none/scale/deeper';
  const answer = await admin.get(path);
  expect([answer.status, answer.json.message]).toEqual([404, 'the server could not find the requested resource']);
});

describe('bodies of verbs that store nothing are checked like any other', () => {
  const ACCOUNT = '/api/v1/namespaces/mine/serviceaccounts/default/token';
  const bodies = [
    { spec: null },
    { spec: 7 },
    { metadata: null, spec: {} },
    { metadata: 'x' },
    { spec: { expirationSeconds: 'long' } },
    { spec: { expirationSeconds: '600' } },
    { spec: { audiences: 'one' } },
    { spec: { audiences: [{}] } },
    { spec: { boundObjectRef: 'x' } },
    { spec: { boundObjectRef: { kind: 'Pod', name: {} } } },
    { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 7, name: 'x' } } },
  ];
  it.each(bodies.map((b) => [JSON.stringify(b), b]))('token %s', async (_text, body) => {
    const answer = await admin.post(ACCOUNT, body);
    expect([201, 400, 404, 422], answer.text).toContain(answer.status);
    if (answer.status === 201) {
      const { token } = answer.json.status;
      expect((await admin.get('/api', { token })).status).toBe(200);
    }
  });
  const reviews = [
    'subjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'localsubjectaccessreviews',
    'tokenreviews',
    'selfsubjectreviews',
  ];
  const broken = [
    { spec: null },
    { spec: 7 },
    { spec: { user: {}, groups: 'system:masters', resourceAttributes: { verb: 'get', resource: 'pods' } } },
    { metadata: null, spec: {} },
    { spec: { resourceAttributes: 'x' } },
    { spec: { nonResourceAttributes: null, resourceAttributes: null } },
    { spec: { token: {} } },
    { spec: { token: 'x', audiences: 'y' } },
    {
      spec: {
        resourceAttributes: { verb: 'get', resource: 'pods', labelSelector: 7, fieldSelector: { requirements: 7 } },
      },
    },
  ];
  it.each(reviews)('%s', async (plural) => {
    for (const body of broken) {
      const group = plural === 'tokenreviews' || plural === 'selfsubjectreviews' ? 'authentication' : 'authorization';
      const place = plural.startsWith('local') ? 'namespaces/mine/' : '';
      const answer = await admin.post(`/apis/${group}.k8s.io/v1/${place}${plural}`, body);
      expect([201, 400, 422], `${JSON.stringify(body)} ${answer.text}`).toContain(answer.status);
    }
  });
  it('eviction, binding, scale', async () => {
    await made('/api/v1/namespaces/mine/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    for (const body of [
      { deleteOptions: 7 },
      { deleteOptions: null, metadata: null },
      { deleteOptions: { gracePeriodSeconds: 'x' } },
      { deleteOptions: { preconditions: 'x' } },
      { target: null },
      { target: 7 },
      { target: { name: {} } },
      { metadata: 'x' },
    ]) {
      for (const sub of ['eviction', 'binding']) {
        const answer = await admin.post(`/api/v1/namespaces/mine/pods/p/${sub}?dryRun=All`, body);
        expect([201, 400, 404, 422], `${sub} ${JSON.stringify(body)} ${answer.text}`).toContain(answer.status);
      }
    }
    await made('/apis/apps/v1/namespaces/mine/deployments', {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    for (const body of [
      { spec: null },
      { spec: 7 },
      { spec: { replicas: '3' } },
      { metadata: null },
      { spec: { replicas: null } },
      { spec: { replicas: 1e12 } },
    ]) {
      const answer = await admin.put('/apis/apps/v1/namespaces/mine/deployments/d/scale', body);
      expect([200, 400, 422], `scale ${JSON.stringify(body)} ${answer.text}`).toContain(answer.status);
    }
    for (const body of [
      { gracePeriodSeconds: 'x' },
      { preconditions: 7 },
      { propagationPolicy: 7 },
      { dryRun: 'All' },
      { dryRun: 7 },
      { preconditions: { uid: 7 } },
    ]) {
      const answer = await admin.send('DELETE', '/api/v1/namespaces/mine/pods/p?dryRun=All', { body });
      expect([200, 400, 409, 422], `delete ${JSON.stringify(body)} ${answer.text}`).toContain(answer.status);
    }
    expect((await admin.get('/api/v1/namespaces/mine/pods/p')).json.metadata.deletionTimestamp).toBeUndefined();
  });
  it('leaves no failure of ours', () => expect(server.errors).toEqual([]));
});
