// Admission webhooks against a real HTTPS server: what they are told, and what comes of each answer.
import { describe, expect, it } from 'vitest';
import { EVERY_MAP, MAPS, webhookScene } from '../harness/webhook-scene.ts';
import { admission, deny, patch } from '../harness/webhook-server.ts';

const scene = webhookScene();

describe('what a webhook is told', () => {
  it('of a create: the object before it is anybody, the user and the options', async () => {
    await scene.configure('mutating', '/allow');
    const object = scene.newMap({ data: { a: '1' } });
    expect((await scene.create(object, '?fieldManager=me&fieldValidation=Strict')).status).toBe(201);
    const { review, headers, url } = scene.hooks.seen.get('/allow') ?? {};
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
    await scene.configure('validating', '/allow');
    const object = scene.newMap({ data: { a: '1' } });
    const { json: stored } = await scene.create(object);
    expect(scene.hooks.seen.get('/allow')?.review.request.object.metadata.uid).toBe(stored.metadata.uid);
    const path = `${MAPS}/${object.metadata.name}`;
    await scene.http.patch(path, 'merge', { data: { a: '2' } });
    const update = scene.hooks.seen.get('/allow')?.review.request;
    expect(update).toMatchObject({
      operation: 'UPDATE',
      object: { data: { a: '2' } },
      oldObject: { data: { a: '1' } },
      options: { kind: 'UpdateOptions' },
    });
    await scene.http.delete(path, { body: { propagationPolicy: 'Background' } });
    expect(scene.hooks.seen.get('/allow')?.review.request).toMatchObject({
      operation: 'DELETE',
      object: null,
      oldObject: { data: { a: '2' } },
      options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', propagationPolicy: 'Background' },
    });
  });

  it('a name that is still to be made is not told to who may change it', async () => {
    await scene.configure('mutating', '/allow');
    const { json } = await scene.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'some-' } });
    expect(json.metadata.name).toMatch(/^some-.{5}$/);
    const { request } = scene.hooks.seen.get('/allow')?.review ?? {};
    expect(request).not.toHaveProperty('name');
    expect(request.object.metadata).not.toHaveProperty('name');
  });

  it('in v1beta1 where that is all it knows', async () => {
    await scene.configure('validating', '/allow', { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] });
    expect((await scene.create()).status).toBe(201);
    expect(scene.hooks.seen.get('/allow')?.review.apiVersion).toBe('admission.k8s.io/v1beta1');
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
      scene.hooks.on('/denial', deny(status));
      const name = scene.unique('denial');
      await scene.configure(type, '/denial', {}, name);
      const object = scene.newMap();
      const answer = await scene.create(object);
      expect(answer.status).toBe(code);
      const worded = JSON.parse(JSON.stringify(expected).replace('NAME', `${name}.example.com`));
      expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', ...worded });
      expect((await scene.http.get(`${MAPS}/${object.metadata.name}`)).status).toBe(404);
      await scene.http.delete(scene.made.pop() as string);
    }
  });

  it('keeps updates and deletes from happening', async () => {
    const object = scene.newMap({ data: { a: '1' } });
    await scene.create(object);
    const path = `${MAPS}/${object.metadata.name}`;
    await scene.configure('validating', '/deny');
    expect((await scene.http.patch(path, 'merge', { data: { a: '2' } })).json.message).toMatch(
      /denied the request: no maps/,
    );
    expect((await scene.http.delete(path)).status).toBe(400);
    expect((await scene.http.get(path)).json.data).toEqual({ a: '1' });
  });

  it('comes with the warnings of the webhook', async () => {
    scene.hooks.on('/warn', (review) => admission(review, { allowed: true, warnings: ['it is late', 'go to bed'] }));
    await scene.configure('validating', '/warn');
    expect((await scene.create()).headers.warning).toBe('299 - "it is late", 299 - "go to bed"');
  });
});

describe('a patch', () => {
  it('changes the object, which is held to its type and defaulted after it', async () => {
    scene.hooks.on(
      '/patch',
      patch([
        { op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 'side:1', nonsense: 1 } },
        { op: 'add', path: '/metadata/labels', value: { patched: 'yes' } },
      ]),
    );
    await scene.configure('mutating', '/patch', {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: scene.unique('pod') },
      spec: { containers: [{ name: 'main', image: 'main:1' }] },
    };
    const { json } = await scene.http.post('/api/v1/namespaces/default/pods', pod);
    expect(json.metadata.labels).toEqual({ patched: 'yes' });
    const sidecar = json.spec.containers[1];
    expect(sidecar).toMatchObject({ name: 'sidecar', imagePullPolicy: 'IfNotPresent' });
    expect(sidecar).not.toHaveProperty('nonsense');
    // The second round gave the new container what the first gave the old one.
    expect(sidecar.volumeMounts[0].mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
    expect(json.spec.volumes).toHaveLength(1);
  });

  it('belongs to nobody, on create as on update', async () => {
    scene.hooks.on('/patch', patch([{ op: 'add', path: '/data/added', value: 'yes' }]));
    const object = scene.newMap({ data: { a: '1' } });
    await scene.create(object);
    await scene.configure('mutating', '/patch');
    const { json } = await scene.http.patch(`${MAPS}/${object.metadata.name}?fieldManager=me`, 'merge', {
      data: { b: '2' },
    });
    expect(json.data).toEqual({ a: '1', b: '2', added: 'yes' });
    const mine = json.metadata.managedFields.find((entry: { manager: string }) => entry.manager === 'me');
    expect(mine.fieldsV1).toEqual({ 'f:data': { 'f:b': {} } });
  });

  it('is seen by those who come after, in the order of the names of the configurations', async () => {
    for (const [name, value] of [
      ['b-second', '2'],
      ['a-first', '1'],
    ] as const) {
      scene.hooks.on(`/${name}`, (review) => {
        const order = `${review.request.object.data.order ?? ''}${value}`;
        return patch([{ op: 'add', path: '/data/order', value: order }])(review, undefined as never);
      });
      await scene.configure('mutating', `/${name}`, {}, name);
    }
    expect((await scene.create(scene.newMap({ data: { a: '' } }))).json.data.order).toBe('12');
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
    scene.hooks.on('/bad', (review) => admission(review, { allowed: true, ...response }));
    await scene.configure('mutating', '/bad');
    const answer = await scene.create();
    expect(answer.status).toBe(500);
    expect(answer.json.message).toMatch(message);
    expect(answer.json.message).toMatch(/^Internal error occurred: failed calling webhook "/);
  });

  it('that does not fit fails the request, whatever the policy says', async () => {
    scene.hooks.on('/bad', patch([{ op: 'add', path: '/spec/x/y', value: 1 }]));
    await scene.configure('mutating', '/bad', { failurePolicy: 'Ignore' });
    const answer = await scene.create();
    expect(answer.status).toBe(500);
    expect(answer.json.message).toBe(
      'Internal error occurred: add operation does not apply: doc is missing path: "/spec/x/y": missing value',
    );
  });

  it('of the wrong type fails the request', async () => {
    scene.hooks.on('/bad', patch([{ op: 'add', path: '/data', value: { a: 1 } }]));
    await scene.configure('mutating', '/bad');
    expect((await scene.create()).json).toMatchObject({ code: 500, reason: 'InternalError' });
  });

  it('cannot touch what is deleted', async () => {
    scene.hooks.on('/bad', patch([{ op: 'add', path: '/data', value: {} }]));
    const object = scene.newMap();
    await scene.create(object);
    await scene.configure('mutating', '/bad', { rules: [{ ...EVERY_MAP[0], operations: ['DELETE'] }] });
    const { json } = await scene.http.delete(`${MAPS}/${object.metadata.name}`);
    expect(json.message).toMatch(/attempted to modify the object, which is not supported for this operation$/);
  });

  it('of managedFields that makes no sense is not taken', async () => {
    scene.hooks.on('/bad', patch([{ op: 'replace', path: '/metadata/managedFields/0/fieldsType', value: 'V9' }]));
    await scene.configure('mutating', '/bad');
    const answer = await scene.create(scene.newMap({ data: { a: '1' } }));
    expect(answer.headers.warning).toMatch(/managedFields was in an invalid state after admission/);
    expect(answer.json.metadata.managedFields[0].fieldsType).toBe('FieldsV1');
  });
});

describe('reinvocation', () => {
  const counting = (path: string, key: string) =>
    scene.hooks.on(path, (review) => {
      const value = String(Number(review.request.object.data?.[key] ?? 0) + 1);
      return patch([{ op: 'add', path: `/data/${key}`, value }])(review, undefined as never);
    });

  it('is for those who ask for it, when something changed after them, and once', async () => {
    counting('/one', 'one');
    counting('/two', 'two');
    counting('/three', 'three');
    await scene.configure('mutating', '/one', { reinvocationPolicy: 'IfNeeded' }, 'a-one');
    await scene.configure('mutating', '/two', { reinvocationPolicy: 'Never' }, 'b-two');
    await scene.configure('mutating', '/three', { reinvocationPolicy: 'IfNeeded' }, 'c-three');
    const { json } = await scene.create(scene.newMap({ data: { x: '' } }));
    // In the second round the first changes it again, so the last looks again, too.
    expect(json.data).toEqual({ x: '', one: '2', two: '1', three: '2' });
  });

  it('does not happen when nothing changed', async () => {
    const before = scene.hooks.calls('/allow');
    await scene.configure('mutating', '/allow', { reinvocationPolicy: 'IfNeeded' });
    await scene.create();
    expect(scene.hooks.calls('/allow')).toBe(before + 1);
  });

  it('never calls who was not called before', async () => {
    scene.hooks.on('/label', patch([{ op: 'add', path: '/metadata/labels', value: { late: 'yes' } }]));
    const before = scene.hooks.calls('/allow');
    const late = { objectSelector: { matchLabels: { late: 'yes' } }, reinvocationPolicy: 'IfNeeded' };
    await scene.configure('mutating', '/allow', late, 'a-late');
    await scene.configure('mutating', '/label', {}, 'b-label');
    expect((await scene.create()).json.metadata.labels).toEqual({ late: 'yes' });
    expect(scene.hooks.calls('/allow')).toBe(before);
  });
});

describe('dry run', () => {
  it('reaches webhooks without side effects and stores nothing', async () => {
    await scene.configure('validating', '/allow', { sideEffects: 'NoneOnDryRun' });
    const object = scene.newMap();
    expect((await scene.create(object, '?dryRun=All')).status).toBe(201);
    expect(scene.hooks.seen.get('/allow')?.review.request).toMatchObject({
      dryRun: true,
      options: { dryRun: ['All'] },
    });
    expect((await scene.http.get(`${MAPS}/${object.metadata.name}`)).status).toBe(404);
  });

  it('is refused where a webhook may have some', async () => {
    // Only configurations from before v1 can say so: written past validation.
    const webhooks = [
      {
        name: 'some.example.com',
        clientConfig: scene.hooks.at('/allow'),
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
    await scene.server.root.store.write((tx) =>
      tx.put(key, { apiVersion, kind, metadata: { name: 'some' }, webhooks }),
    );
    const answer = await scene.create(scene.newMap(), '?dryRun=All');
    expect(answer.json).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'admission webhook "some.example.com" does not support dry run',
    });
    expect((await scene.create()).status).toBe(201);
    await scene.server.root.store.write((tx) => tx.delete(key));
  });
});
