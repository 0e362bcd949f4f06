/** What a broken or hostile client may send: the answer is always a correct Status, and nothing stored is lost. */
import { describe, expect, it } from 'vitest';
import type { Http } from '../harness/http.ts';
import { configMap, expectStatus, MAPS, unharmedServer } from '../harness/unharmed.ts';

const scene = unharmedServer();

describe('bodies', () => {
  const bodies: Record<string, string | Buffer> = {
    empty: '',
    'cut off': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"',
    'two documents': '{"kind":"ConfigMap"}{"kind":"ConfigMap"}',
    'a string': '"x"',
    'an array': '[]',
    null: 'null',
    'a number': '1e999',
    'not json': 'hello: [',
    'wrong metadata': '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
    'null metadata': '{"apiVersion":"v1","kind":"ConfigMap","metadata":null}',
    'a number for a name': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":7}}',
    'a string for data': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":"x"}',
    'numbers in data': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}',
    'another kind': '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}',
    'another version': '{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"x"}}',
    'invalid UTF-8': Buffer.concat([
      Buffer.from('{"metadata":{"name":"'),
      Buffer.from([0xff, 0xfe, 0xc0]),
      Buffer.from('"}}'),
    ]),
    'deep arrays': `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    'deep objects': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    'bad base64': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"binaryData":{"a":"***"}}',
  };
  for (const [what, body] of Object.entries(bodies)) {
    it(`JSON: ${what}`, async () => {
      const answer = await scene.http.post(MAPS, body);
      expect([400, 422], answer.text).toContain(answer.status);
      expectStatus(answer, answer.status);
    });
  }

  it('YAML that is none, bombs, and too deep', async () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij'].map((name, i) => `${name}: &${name} [${`*${'abcdefghij'[i]},`.repeat(9)}]`).join('\n')}`;
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const mapping = Array.from({ length: 1500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n');
    for (const body of [
      'a: [',
      '\tx: 1',
      bomb,
      deep,
      mapping,
      '--- 1\n--- 2',
      'a: *nobody',
      '!!js/function x',
      '%YAML 9.9',
    ]) {
      const answer = await scene.http.post(MAPS, body, { contentType: 'application/yaml' });
      expectStatus(answer, 400, 'BadRequest');
      expectStatus(await scene.http.patch(`${MAPS}/keep?fieldManager=x`, 'apply', body), 400, 'BadRequest');
    }
  });

  it('protobuf: every prefix and many flips of a real message', async () => {
    const field = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
    const text = (number: number, value: string) => field(number, Buffer.from(value));
    const object = Buffer.concat([field(1, text(1, 'pb')), field(2, Buffer.concat([text(1, 'k'), text(2, 'v')]))]);
    const type = Buffer.concat([text(1, 'v1'), text(2, 'ConfigMap')]);
    const message = Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, object)]);
    const send = (body: Buffer) =>
      scene.http.post(`${MAPS}?dryRun=All`, body, { contentType: 'application/vnd.kubernetes.protobuf' });
    expect((await send(message)).status).toBe(201);
    for (let length = 0; length < message.length; length++) {
      const answer = await send(message.subarray(0, length));
      if (answer.status !== 201) expectStatus(answer, answer.status);
      expect(answer.status, `prefix ${length}`).toBeLessThan(500);
    }
    for (let at = 0; at < message.length; at++) {
      for (const bit of [0, 3, 7]) {
        const broken = Buffer.from(message);
        broken[at] = (broken[at] as number) ^ (1 << bit);
        const answer = await send(broken);
        expect(answer.status, `byte ${at} bit ${bit}: ${answer.text}`).toBeLessThan(500);
      }
    }
  });

  it('too much: 413, and the connection goes on', async () => {
    const big = configMap('big', { a: 'x'.repeat(10 * 1024 * 1024) });
    expectStatus(await scene.http.post(MAPS, big), 413, 'RequestEntityTooLarge');
    expectStatus(await scene.http.patch(`${MAPS}/keep`, 'merge', big), 413, 'RequestEntityTooLarge');
    expectStatus(await scene.http.delete(`${MAPS}/keep`, { body: big }), 413, 'RequestEntityTooLarge');
    // Within the limit of a request, beyond that of a ConfigMap.
    const answer = await scene.http.post(MAPS, configMap('big', { a: 'x'.repeat(2 * 1024 * 1024) }));
    expectStatus(answer, 422, 'Invalid', /Too long: may not be more than 1048576 bytes/);
  });

  it('keys that mean something to JavaScript are only keys', async () => {
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proto","labels":{"constructor":"a","toString":"b"}},"data":{"__proto__":"p","constructor":"c","hasOwnProperty":"h"}}';
    expect((await scene.http.post(MAPS, body)).status).toBe(201);
    const text = (await scene.http.get(`${MAPS}/proto`)).text;
    expect(text).toContain('"__proto__":"p"');
    for (const key of ['constructor', 'hasOwnProperty']) expect(text).toContain(`"${key}":`);
    expect((await scene.http.patch(`${MAPS}/proto`, 'merge', '{"data":{"__proto__":"q","toString":"t"}}')).status).toBe(
      200,
    );
    expect(
      (
        await scene.http.patch(
          `${MAPS}/proto`,
          'strategic',
          '{"data":{"__proto__":"r"},"metadata":{"labels":{"__proto__":null}}}',
        )
      ).status,
    ).toBe(200);
    expect(
      (await scene.http.patch(`${MAPS}/proto`, 'json', '[{"op":"add","path":"/data/__proto__","value":"s"}]')).status,
    ).toBe(200);
    expect((await scene.http.get(`${MAPS}/proto`)).text).toContain('"__proto__":"s"');
    const applied = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proto"},"data":{"__proto__":"t"}}';
    expect((await scene.http.patch(`${MAPS}/proto?fieldManager=m&force=true`, 'apply', applied)).status).toBe(200);
    const end = await scene.http.get(`${MAPS}/proto`);
    expect(end.text).toContain('"__proto__":"t"');
    expect(end.text).toContain('"toString":"t"');
    expect((await scene.http.get(`${MAPS}?labelSelector=constructor%3Da`)).json.items).toHaveLength(1);
    expect((await scene.http.get(`${MAPS}?labelSelector=valueOf`)).json.items).toHaveLength(0);
    expect(({} as Record<string, unknown>).p).toBeUndefined();
  });

  it('bindings whose names are no names', async () => {
    for (const name of [[], [{}], ['a', 'b'], {}, 7, true]) {
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { name: 'n' } };
      expectStatus(await scene.http.post('/api/v1/namespaces/default/bindings', binding), 400, 'BadRequest');
    }
  });

  it('definitions of kinds without what they need', async () => {
    const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    const specs = [undefined, null, {}, { names: null }, { names: {}, versions: [null] }, { versions: [{}] }];
    for (const spec of specs) {
      const answer = await scene.http.post(CRDS, { ...crd, metadata: { name: 'as.b.example' }, spec });
      expect([400, 422], `${JSON.stringify(spec)} ${answer.text}`).toContain(answer.status);
    }
  });

  it('patches that do not fit', async () => {
    const name = `${MAPS}/keep`;
    const bad: [Parameters<Http['patch']>[1], string, number][] = [
      ['json', '{}', 400],
      ['json', '[{"op":"explode","path":"/a"}]', 422],
      ['json', '[{"op":"add"}]', 422],
      ['json', '[{"op":"replace","path":"/no/where","value":1}]', 422],
      ['json', '[{"op":"remove","path":"/metadata/name"}]', 400],
      ['json', '[{"op":"copy","from":"/data","path":"/data/a/b/c"}]', 422],
      ['json', `[${'{"op":"add","path":"/data/x","value":"x"},'.repeat(20_000)}{"op":"remove","path":"/data/x"}]`, 413],
      ['merge', '[]', 400],
      ['merge', '{"data":7}', 422],
      ['json', '[{"op":"replace","path":"/data","value":7}]', 422],
      ['strategic', '{"data":7}', 422],
      ['merge', '{"metadata":{"name":"other"}}', 400],
      // Upstream calls these its own fault, so do we.
      ['apply', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keep"},"data":7}', 500],
      ['strategic', '{"data":{"$patch":"nonsense"}}', 500],
      ['strategic', '[1]', 400],
      ['apply', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keep","managedFields":[{}]}}', 400],
    ];
    for (const [type, body, code] of bad) {
      const answer = await scene.http.patch(type === 'apply' ? `${name}?fieldManager=x` : name, type, body);
      expect(answer.status, `${type} ${body.slice(0, 80)}: ${answer.text.slice(0, 300)}`).toBe(code);
      expectStatus(answer, code);
    }
  });
});

describe('negotiation', () => {
  it('415 for bodies of a type nobody reads', async () => {
    for (const contentType of [
      'text/plain',
      'application/xml',
      'multipart/form-data',
      'x',
      'application/json-patch+json',
    ]) {
      const answer = await scene.http.post(MAPS, configMap('typed'), { contentType });
      expectStatus(answer, 415, 'UnsupportedMediaType', /application\/json/);
    }
    for (const contentType of ['application/json', 'text/plain', '']) {
      expectStatus(await scene.http.patch(`${MAPS}/keep`, 'merge', {}, { contentType }), 415, 'UnsupportedMediaType');
    }
    expect(await scene.exists('typed')).toBe(false);
  });

  it('406 for answers nobody writes, before anything is written', async () => {
    const headers = { accept: 'application/xml' };
    expectStatus(await scene.http.get(MAPS, { headers }), 406, 'NotAcceptable');
    expectStatus(await scene.http.get(`${MAPS}?watch=1`, { headers }), 406, 'NotAcceptable');
    expectStatus(await scene.http.post(MAPS, configMap('unseen'), { headers }), 406, 'NotAcceptable');
    expect(await scene.exists('unseen')).toBe(false);
    expectStatus(await scene.http.patch(`${MAPS}/keep`, 'merge', { data: { a: '2' } }, { headers }), 406);
    expectStatus(await scene.http.put(`${MAPS}/keep`, configMap('keep', { a: '2' }), { headers }), 406);
    expectStatus(await scene.http.delete(`${MAPS}/keep`, { headers }), 406);
    expectStatus(await scene.http.delete(MAPS, { headers }), 406);
    const odd = ['application/json;as=Table;g=meta.k8s.io;v=v9', 'application/json;as=Nonsense', ';;;', 'text/*'];
    // The last is strange, but so is upstream: its router does not know half a wildcard.
    for (const accept of [...odd, 'application/*']) {
      expectStatus(await scene.http.get(MAPS, { headers: { accept } }), 406);
    }
    for (const accept of ['*/*', 'text/html, */*;q=0.1', ',,application/json', ' ']) {
      expect((await scene.http.get(MAPS, { headers: { accept } })).status, accept).toBe(200);
    }
  });

  it('405 where a method means nothing', async () => {
    for (const method of ['OPTIONS', 'PROPFIND', 'TRACE'])
      expectStatus(await scene.http.send(method, MAPS), 405, 'MethodNotAllowed');
    expectStatus(await scene.http.post('/version', {}), 405);
    expectStatus(await scene.http.put(MAPS, configMap('x')), 405);
    expectStatus(await scene.http.patch(MAPS, 'merge', {}), 405);
    expectStatus(await scene.http.post(`${MAPS}/keep`, configMap('keep')), 405);
    expectStatus(await scene.http.delete('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'), 405);
  });
});

describe('paths', () => {
  it('tricks name nothing', async () => {
    await scene.server.clusters.ensure('a');
    const paths = [
      '/api/v1/../v1/namespaces',
      '/api/v1/%2e%2e/v1/namespaces',
      '/api/v1/namespaces/default/configmaps/../secrets',
      '/api/v1/namespaces/default/configmaps/%2e%2e/secrets',
      '/api//v1/namespaces',
      '//api/v1/namespaces',
      '/./api/v1/namespaces',
      '/clusters//api',
      '/api/v1/namespaces/default/configmaps/keep/../keep',
      '/api/v1/namespaces/default/configmaps/a%2Fb',
      '/api/v1/namespaces/default/configmaps/%00',
      '/api/v1/namespaces/default/configmaps/%zz',
      '/api/v1/namespaces/default/configmaps/%ff%fe',
      '/apis/../../etc/passwd',
      '/constructor',
      '/__proto__',
      '/api/__proto__',
      '/api/v1/__proto__',
      '/api/v1/constructor',
      '/apis/constructor/v1/x',
      '/apis/apps/__proto__/deployments',
      '/api/v1/namespaces/default/pods/x/__proto__',
      '/openapi/v3/__proto__',
      `/${'a'.repeat(8000)}`,
      `/api/v1/namespaces/${'x/'.repeat(3000)}`,
    ];
    for (const path of paths) {
      const answer = await scene.http.get(path);
      expect(answer.status, `${path.slice(0, 100)} ${answer.text.slice(0, 200)}`).toBe(404);
      // Beside the API there are pages, and their absence.
      if (answer.headers['content-type'] === 'application/json') expectStatus(answer, 404, 'NotFound');
      else expect(answer.text).toBe('404 page not found\n');
    }
    // Names of no tenant, and of none that could be.
    for (const name of ['..', '%2e%2e%2f%2e%2e%2froot', '..%5c..%5croot', 'A', 'nobody', '__proto__', 'constructor']) {
      expectStatus(await scene.http.get(`/clusters/${name}/api/v1/namespaces`), 401, 'Unauthorized');
    }
    await scene.server.clusters.drop('a');
  });

  it('names at the edge', async () => {
    const create = (metadata: object) => scene.http.post(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    for (const name of ['-a', 'a-', 'A', 'a_b', '.a', 'a..b', 'a/b', 'a b', 'ü', 'x'.repeat(254), '%2e', '..', '.']) {
      expectStatus(await create({ name }), 422, 'Invalid', /metadata.name/);
    }
    expectStatus(await create({}), 422, 'Invalid', /name or generateName is required/);
    expectStatus(await create({ name: '' }), 422, 'Invalid');
    expectStatus(await create({ generateName: 'Bad_' }), 422, 'Invalid');
    expect((await create({ name: 'x'.repeat(253) })).status).toBe(201);
    const long = await create({ generateName: 'y'.repeat(253) });
    expect(long.status).toBe(201);
    expect(long.json.metadata.name).toMatch(/^y{58}[a-z0-9]{5}$/);
    expect((await create({ generateName: 'gen-' })).json.metadata.name).toMatch(
      /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/,
    );
    expectStatus(await create({ name: 'z', namespace: 'other' }), 400, 'BadRequest', /does not match the namespace/);
    expectStatus(
      await create({ name: 'z', resourceVersion: '7' }),
      500,
      undefined,
      /resourceVersion should not be set/,
    );
    expectStatus(
      await scene.http.post('/api/v1/namespaces/nosuch/configmaps', configMap('a')),
      404,
      'NotFound',
      /namespaces "nosuch" not found/,
    );
    scene.server.errors.splice(0);
  });
});

describe('queries', () => {
  it('limits, selectors, versions and tokens that are wrong', async () => {
    const wrong: [string, number][] = [
      ['limit=x', 400],
      ['limit=1.5', 400],
      ['limit=', 400],
      ['timeoutSeconds=x', 400],
      ['labelSelector=%3D%3D', 400],
      ['labelSelector=a%20in%20(', 400],
      ['labelSelector=a%3Db%3Dc', 400],
      [`labelSelector=${'a'.repeat(64)}`, 400],
      ['fieldSelector=spec.nosuch%3D1', 400],
      ['fieldSelector=metadata.name', 400],
      ['fieldSelector=__proto__%3Dx', 400],
      ['fieldSelector=toString!%3Dx', 400],
      ['fieldSelector=constructor%3Dx', 400],
      ['watch=1&fieldSelector=__proto__%3Dx', 400],
      [`limit=${'9'.repeat(30)}`, 400],
      ['resourceVersion=abc', 400],
      ['resourceVersion=-1', 400],
      ['resourceVersion=1.5', 400],
      ['resourceVersion=99999999999999999999', 400],
      ['resourceVersionMatch=Exact', 422],
      ['resourceVersion=1&resourceVersionMatch=Nonsense', 422],
      ['resourceVersion=0&resourceVersionMatch=Exact', 422],
      ['sendInitialEvents=true', 422],
      ['watch=1&sendInitialEvents=true', 422],
      ['watch=1&resourceVersion=x', 500],
      ['continue=garbage', 400],
      ['continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ', 400],
      ['includeObject=Nonsense', 400],
    ];
    for (const [query, code] of wrong) {
      const headers = query.startsWith('include')
        ? { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
        : undefined;
      const answer = await scene.http.get(`${MAPS}?${query}`, { headers });
      expect(answer.status, `${query}: ${answer.text.slice(0, 300)}`).toBe(code);
      expectStatus(answer, code);
    }
    for (const query of [
      'limit=-5',
      'limit=0',
      'limit=999999999999',
      'resourceVersion=0',
      'labelSelector=',
      'a=b&a=c',
      '%',
      '&&&=',
    ]) {
      const answer = await scene.http.get(`${MAPS}?${query}`);
      expect(answer.status, `${query}: ${answer.text.slice(0, 300)}`).toBe(200);
    }
  });

  it('a version from the future: 504 after a short wait, for a list and for a watch that begins with one', async () => {
    const future = `resourceVersion=${Number((await scene.http.get(MAPS)).json.metadata.resourceVersion) + 1000}`;
    const [list, watch] = await Promise.all([
      scene.http.get(`${MAPS}?${future}`),
      scene.http.get(
        `${MAPS}?watch=1&timeoutSeconds=5&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${future}`,
      ),
    ]);
    expectStatus(list, 504, 'Timeout', /Too large resource version/);
    expect(list.json.details).toMatchObject({ causes: [{ reason: 'ResourceVersionTooLarge' }] });
    expect([watch.status, watch.json]).toMatchObject([
      200,
      { type: 'ERROR', object: { code: 504, reason: 'Timeout' } },
    ]);
  });

  it('a continue token that was tampered with never shows another namespace', async () => {
    await scene.http.post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'secretive' },
    });
    await scene.http.post('/api/v1/namespaces/secretive/configmaps', configMap('hidden'));
    for (const start of [
      'secretive/\0',
      '/\0',
      'zzz/zzz\0',
      'default/\0',
      `${'x'.repeat(5000)}/y\0`,
      "'; DROP TABLE x/y\0",
    ]) {
      for (const rv of [-1, 1, 0, 2 ** 40, -7]) {
        const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
        const answer = await scene.http.get(`${MAPS}?limit=5&continue=${token}`);
        expect(answer.status, `${start} ${rv} ${answer.text.slice(0, 300)}`).toBeLessThan(500);
        expect(answer.text).not.toContain('hidden');
        if (answer.status !== 200) expectStatus(answer, answer.status);
      }
    }
  });

  it('options of writes that are wrong', async () => {
    for (const query of [
      'dryRun=Some',
      'fieldValidation=Maybe',
      `fieldManager=${'x'.repeat(129)}`,
      'fieldManager=%07',
    ]) {
      expectStatus(await scene.http.post(`${MAPS}?${query}`, configMap('optional')), 422, 'Invalid');
    }
    expectStatus(await scene.http.patch(`${MAPS}/keep`, 'apply', configMap('keep')), 422, 'Invalid', /fieldManager/);
    expectStatus(await scene.http.patch(`${MAPS}/keep?force=true`, 'merge', {}), 422, 'Invalid', /force/);
    const remove = (body: object) => scene.http.delete(`${MAPS}/keep`, { body });
    expectStatus(await remove({ propagationPolicy: 'Sometimes' }), 422);
    expectStatus(await remove({ propagationPolicy: 'Orphan', orphanDependents: true }), 422);
    expectStatus(await remove({ preconditions: { uid: 'x' } }), 409, 'Conflict');
    expectStatus(await remove({ preconditions: { resourceVersion: '1' } }), 409, 'Conflict');
    expectStatus(await remove({ kind: 'ConfigMap', apiVersion: 'v1' }), 400);
    expectStatus(await scene.http.delete(`${MAPS}/keep?gracePeriodSeconds=x`), 400);
    expect(await scene.exists('optional')).toBe(false);
  });
});
