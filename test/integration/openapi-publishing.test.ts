/**
 * What upstream's CustomResourcePublishOpenAPI specs ask of a server, with the real kubectl: CRDs appear in
 * `/openapi/v2` as their schema says, change and go with it, and kubectl explains and validates by them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Http } from '../harness/http.ts';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

let server: TestServer;
let http: Http;
let k: Kubectl;

beforeAll(async () => {
  server = await startServer();
  http = await server.http();
  k = kubectl(await server.kubeconfig(), mkdtempSync(join(tmpdir(), 'rookery-openapi-')));
});
afterAll(async () => {
  await server.close();
  rmSync(k.folder, { recursive: true });
});

const BAR = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { description: 'Name of Bar.', type: 'string' },
    age: { description: 'Age of Bar.', type: 'string' },
    feeling: { description: 'Whether Bar is feeling great.', type: 'string', enum: ['Great', 'Down'] },
    bazs: { description: 'List of Bazs.', items: { type: 'string' }, type: 'array' },
  },
};
const FOO = {
  description: 'Foo CRD for Testing',
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      description: 'Specification of Foo',
      properties: { bars: { description: 'List of Bars and their specs.', type: 'array', items: BAR } },
    },
    status: { description: 'Status of Foo', type: 'object', properties: { ready: { type: 'boolean' } } },
  },
};
const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function crd(plural: string, schema: object, ...versions: string[]) {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.publish.example` },
    spec: {
      group: 'publish.example',
      scope: 'Namespaced',
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: schema },
      })),
    },
  };
}

async function create(definition: ReturnType<typeof crd>): Promise<void> {
  const answer = await http.post(CRDS, definition);
  expect(answer.status, answer.text).toBe(201);
  const [{ name } = { name: '' }] = definition.spec.versions;
  await until(async () => (await definitionOf(name, definition.spec.names.kind)) !== undefined);
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed document
const definitionOf = async (version: string, kind: string): Promise<any> =>
  (await http.get('/openapi/v2')).json.definitions[`example.publish.${version}.${kind}`];

/** Without what the server added to the schema of the CRD, as the specs compare it. */
async function published(version: string, kind: string): Promise<object> {
  const { 'x-kubernetes-group-version-kind': kinds, ...definition } = await definitionOf(version, kind);
  expect(kinds).toEqual([{ group: 'publish.example', kind, version }]);
  for (const field of ['apiVersion', 'kind', 'metadata']) delete definition.properties?.[field];
  return definition;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 10_000; !(await holds()); await sleep(50)) {
    if (Date.now() > end) throw new Error('it did not come true');
  }
}

const object = (kind: string, rest: object, version = 'v1') =>
  JSON.stringify({ apiVersion: `publish.example/${version}`, kind, metadata: { name: 'test' }, ...rest });

/** Creates and applies; the same is expected of both. */
async function written(sent: string, expected: RegExp | undefined): Promise<void> {
  for (const verb of ['create', 'apply']) {
    const ran = await k(`${verb} -f -`, sent);
    if (expected) expect(ran.all, verb).toMatch(expected);
    else {
      expect(ran.all, verb).toMatch(/(created|configured)$/m);
      expect((await k('delete -f -', sent)).code).toBe(0);
    }
  }
}

describe('OpenAPI v2', () => {
  it('is one document with a version, in JSON or protobuf', async () => {
    const { status, headers, json } = await http.get('/openapi/v2');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json', vary: 'Accept' });
    expect(json.swagger).toBe('2.0');
    const { patch } = json.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', kind: 'Deployment', version: 'v1' });
    expect(patch.parameters).toContainEqual(expect.objectContaining({ name: 'fieldValidation', in: 'query' }));
    for (const [, name] of JSON.stringify(json).matchAll(/"#\/definitions\/([^"]+)"/g)) {
      expect(json.definitions[name as string], name).toBeDefined();
    }
    for (const [, name] of JSON.stringify(json).matchAll(/"#\/parameters\/([^"]+)"/g)) {
      expect(json.parameters[name as string], name).toBeDefined();
    }
    const etag = headers.etag as string;
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    const again = await http.get('/openapi/v2', { headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await http.get('/openapi/v2', { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
    for (const accept of [PROTOBUF, PROTOBUF.replace('@', '.')]) {
      const answer = await http.get('/openapi/v2', { headers: { accept: `${accept}, application/json;q=0.5` } });
      expect(answer.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
      expect(answer.headers.etag).toBe(etag);
      // 1: "2.0", 2: the title.
      expect(answer.body.subarray(0, 5)).toEqual(Buffer.from([0x0a, 3, 0x32, 0x2e, 0x30]));
    }
    expect((await http.get('/openapi/v2', { headers: { accept: 'text/plain' } })).status).toBe(406);
    const zipped = await http.get('/openapi/v2', { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.body.length).toBeLessThan(300_000);
  });

  it('is read by kubectl, which asks for protobuf', async () => {
    const ran = await k('explain deployments.spec.template.spec.containers --output plaintext-openapiv2');
    expect(ran.code, ran.all).toBe(0);
    expect(ran.out).toMatch(/RESOURCE: containers <\[\]Object>/);
    expect(ran.out).toMatch(/image\t<string>/);
    expect(ran.out).toMatch(/name\t<string> -required-/);
    const recursive = await k('explain cronjobs --recursive --output plaintext-openapiv2');
    expect(recursive.out).toMatch(/successfulJobsHistoryLimit\t<integer>/);
  });
});

describe('CRDs in OpenAPI', () => {
  it('with a schema are explained and held to it', async () => {
    await create(crd('foos', FOO, 'v1'));
    expect(await published('v1', 'Foo')).toEqual(FOO);
    await written(object('Foo', { spec: { bars: [{ name: 'test-bar' }] } }), undefined);
    await written(object('Foo', { spec: { bars: [{ name: 'b', feeling: 'No' }] } }), /Unsupported value: "No"/);
    await written(object('Foo', { spec: { foo: true } }), /unknown field "spec.foo"/);
    await written(object('Foo', { spec: { bars: [{ age: '10' }] } }), /spec.bars\[0\].name: Required value/);
    const explained = async (path: string, pattern: RegExp) => {
      for (const output of ['plaintext', 'plaintext-openapiv2']) {
        expect((await k(`explain foos${path} --output ${output}`)).all, output).toMatch(pattern);
      }
    };
    await explained(
      '',
      /DESCRIPTION:.*Foo CRD for Testing.*FIELDS:.*apiVersion.*<string>.*APIVersion defines.*spec.*<Object>.*Specification of Foo/s,
    );
    await explained(
      '.metadata',
      /DESCRIPTION:.*Standard object's metadata.*FIELDS:.*creationTimestamp.*<string>.*CreationTimestamp is a timestamp/s,
    );
    await explained('.spec', /DESCRIPTION:.*Specification of Foo.*FIELDS:.*bars.*<\[\]Object>.*List of Bars and/s);
    await explained(
      '.spec.bars',
      /(FIELD|RESOURCE):.*bars.*<\[\]Object>.*DESCRIPTION:.*List of Bars and their specs.*FIELDS:.*bazs.*<\[\]string>.*List of Bazs.*name.*<string>.*Name of Bar/s,
    );
    await explained('.spec.bars2', /field "bars2" does not exist/);
  });

  it('without a schema take anything and have nothing to explain', async () => {
    await create(crd('frees', ANYTHING, 'v1'));
    expect(await published('v1', 'Free')).toEqual({ type: 'object' });
    await written(object('Free', { a: { b: [{ c: 'd' }] } }), undefined);
    expect((await k('explain frees')).out).toMatch(/DESCRIPTION:.*<empty>/s);
  });

  it('that keep unknown fields in places say nothing of those places', async () => {
    await create(crd('roots', { ...FOO, ...ANYTHING }, 'v1'));
    expect(await published('v1', 'Root')).toEqual({ type: 'object' });
    await written(object('Root', { a: { b: [{ c: 'd' }] } }), undefined);
    expect((await k('explain roots')).out).toMatch(/KIND:.*Root/);
    const nested = { ...FOO, properties: { spec: { ...ANYTHING, properties: { dummy: { type: 'object' } } } } };
    await create(crd('nests', nested, 'v1'));
    expect(await published('v1', 'Nest')).toEqual({
      ...FOO,
      properties: { spec: { 'x-kubernetes-preserve-unknown-fields': true } },
    });
    await written(object('Nest', { spec: { a: null, b: [{ c: 'd' }] } }), undefined);
    expect((await k('explain nests')).out).toMatch(/DESCRIPTION:.*Foo CRD for Testing/s);
  });

  it('appear and go version by version', async () => {
    const both = crd('multis', FOO, 'v2', 'v3');
    await create(both);
    expect(await published('v3', 'Multi')).toEqual(FOO);
    const patch = (operations: object[]) => http.patch(`${CRDS}/${both.metadata.name}`, 'json', operations);
    const renamed = await patch([
      { op: 'test', path: '/spec/versions/1/name', value: 'v3' },
      { op: 'replace', path: '/spec/versions/1/name', value: 'v4' },
    ]);
    expect(renamed.status, renamed.text).toBe(200);
    await until(async () => (await definitionOf('v4', 'Multi')) !== undefined);
    expect(await definitionOf('v3', 'Multi')).toBeUndefined();
    expect(await published('v2', 'Multi')).toEqual(FOO);
    await patch([{ op: 'replace', path: '/spec/versions/1/served', value: false }]);
    await until(async () => (await definitionOf('v4', 'Multi')) === undefined);
    expect(await published('v2', 'Multi')).toEqual(FOO);
    await http.delete(`${CRDS}/${both.metadata.name}`);
    await until(async () => (await definitionOf('v2', 'Multi')) === undefined);
  });
});
