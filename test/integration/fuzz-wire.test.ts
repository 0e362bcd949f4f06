/**
 * The wire itself under random input: encodings, headers, versions, watches, deadlines, documents. From a seed
 * (FUZZ_SEED) that a failure names, and for a bounded time (FUZZ_SECONDS, 20 by default): nothing may hang, break the
 * server, or answer with something it is not.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../src/apiserver/builtins/testdata/cases.ts';
import { encodeProtobuf } from '../../src/apiserver/codec/protobuf-encoder.ts';
import { seeded } from '../harness/seeded.ts';
import { DEPLOYMENTS, MAPS, unharmedServer } from '../harness/unharmed.ts';
import { contentOf, expectReadable } from '../harness/well-formed.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_116);
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 20);
const REQUESTS = 600;
/** Longer than any deadline a request here has. */
const HANGS_MS = 15_000;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/fuzz.example/v1/namespaces/default/things';
const scene = unharmedServer();

beforeAll(async () => {
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } } };
  const made = await scene.http.post(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.fuzz.example' },
    spec: {
      group: 'fuzz.example',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  expect(made.status, made.text).toBe(201);
});

/** Requests until the time is up or there were enough. */
async function each(part: number, act: (random: ReturnType<typeof seeded>, index: number) => Promise<void>) {
  const random = seeded(SEED + part);
  const end = Date.now() + (SECONDS * 1000) / 3;
  let index = 0;
  while (index < REQUESTS && Date.now() < end) await act(random, index++);
  expect(index).toBeGreaterThan(10);
}

async function unhung<T>(work: Promise<T>, said: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: ${said}`)), HANGS_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

describe(`the wire, seed ${SEED}`, () => {
  it('takes any headers', async () => {
    await each(0, async (random, index) => {
      const { pick } = random;
      const type = () =>
        pick([
          'application/json',
          'application/yaml',
          PROTOBUF,
          '*/*',
          'application/*',
          'text/html',
          '',
          ';;',
          'x/y;z',
        ]);
      const parameters = () =>
        pick([
          '',
          '',
          ';as=Table;g=meta.k8s.io;v=v1',
          ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
          ';as=x',
          ';q=x',
          ';stream=watch',
          ';v=v1',
        ]);
      const accept = Array.from({ length: 1 + Math.floor(random() * 3) }, () => type() + parameters()).join(',');
      const path = pick([
        MAPS,
        `${MAPS}/keep`,
        DEPLOYMENTS,
        THINGS,
        '/api',
        '/apis',
        '/api/v1',
        '/openapi/v2',
        '/openapi/v3',
        '/version',
        '/nothing',
        `${THINGS}/x`,
        '/api/v1/pods',
      ]);
      const query = pick([
        '',
        'limit=1',
        'pretty=1',
        'pretty=maybe',
        'timeout=1ms',
        'timeout=x',
        'timeout=-1s',
        'includeObject=Object',
        'includeObject=x',
        'resourceVersion=0',
        'resourceVersion=-',
        'continue=x',
      ]);
      const headers: Record<string, string> = { accept };
      if (random() < 0.3) headers['user-agent'] = pick(['curl/8', 'Mozilla/5.0', '', 'x'.repeat(500)]);
      if (random() < 0.2) headers['if-none-match'] = pick(['*', '"x"', 'W/"x"', ',,,']);
      if (random() < 0.2) headers['accept-encoding'] = pick(['gzip', 'br', 'gzip;q=0']);
      if (random() < 0.2) headers['audit-id'] = pick(['x', 'ü'.repeat(3), '0'.repeat(2000)]);
      const method = pick(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'TRACE']);
      if (method === 'DELETE' && !path.includes('x')) return;
      const said = `seed ${SEED}, request ${index}: ${method} ${path}?${query} ${JSON.stringify(headers)}`;
      const answer = await unhung(scene.http.send(method, `${path}?${query}`, { headers }), said);
      expectReadable(answer, method, said);
      const zipped = answer.headers['content-encoding'] === 'gzip';
      if (answer.status === 200 && method === 'GET' && !zipped) expect(() => contentOf(answer), said).not.toThrow();
      expect(scene.server.errors, said).toEqual([]);
    });
  });

  it('takes any protobuf', async () => {
    const usable = cases.filter(({ body }) => body?.kind && typeof body.metadata === 'object');
    await each(1, async (random, index) => {
      const { pick } = random;
      const { group, version, plural, namespaced, body } = pick(usable);
      let bytes: Buffer;
      try {
        bytes = encodeProtobuf({ ...body, apiVersion: group ? `${group}/${version}` : version });
      } catch {
        // Cases with values of the wrong type have no protobuf form.
        return;
      }
      for (let times = Math.floor(random() * 4); times > 0; times--) {
        const at = Math.floor(random() * bytes.length);
        const how = pick(['cut', 'insert', 'change', 'change', 'change']);
        if (how === 'cut') bytes = bytes.subarray(0, at);
        else if (how === 'change') bytes[at] = Math.floor(random() * 256);
        else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0x07, 0x0a]), bytes.subarray(at)]);
        if (bytes.length === 0) break;
      }
      const place = namespaced ? `namespaces/${body.metadata.namespace ?? 'default'}/` : '';
      const target = `${group ? `/apis/${group}` : '/api'}/${version}/${place}${plural}?dryRun=All`;
      const said = `seed ${SEED}, object ${index}: ${target} ${bytes.toString('base64')}`;
      const accept = pick([PROTOBUF, 'application/json', `${PROTOBUF},application/json`]);
      const sent = scene.http.send('POST', target, { body: bytes, contentType: PROTOBUF, headers: { accept } });
      const answer = await unhung(sent, said);
      expectReadable(answer, 'POST', said);
      if (answer.status === 201) expect(contentOf(answer).kind, said).toBe(body.kind);
      expect(scene.server.errors, said).toEqual([]);
    });
  });

  it('ends any watch', async () => {
    await each(2, async (random, index) => {
      const { pick } = random;
      const parameters = [
        ['resourceVersion', ['0', '1', '5', '999999999', 'x', '']],
        ['resourceVersionMatch', ['NotOlderThan', 'Exact', '']],
        ['sendInitialEvents', ['true', 'false', 'maybe']],
        ['allowWatchBookmarks', ['true', 'false']],
        ['labelSelector', ['a=b', '!a', 'a in (b', '=']],
        ['fieldSelector', ['metadata.name=keep', 'metadata.name!=keep', 'spec.x=1']],
        ['limit', ['1', '-1', 'x']],
        ['continue', ['x']],
      ] as const;
      const query = parameters
        .filter(() => random() < 0.3)
        .map(([name, values]) => `${name}=${encodeURIComponent(pick(values as readonly string[]))}`);
      const path = pick([
        MAPS,
        DEPLOYMENTS,
        THINGS,
        '/api/v1/namespaces',
        '/api/v1/watch/namespaces/default/configmaps',
      ]);
      const target = `${path}?watch=1&timeoutSeconds=1&${query.join('&')}`;
      const accept = pick([
        'application/json',
        `${PROTOBUF};stream=watch`,
        'application/json;as=Table;g=meta.k8s.io;v=v1',
      ]);
      const said = `seed ${SEED}, watch ${index}: ${target} ${accept}`;
      // Many at once, and some that nobody waits for.
      const watches = Array.from({ length: 5 }, () => scene.http.send('GET', target, { headers: { accept } }));
      const left = await scene.http.open('GET', target, { headers: { accept } });
      left.destroy();
      for (const answer of await unhung(Promise.all(watches), said)) {
        expectReadable(answer, 'GET', said);
        if (answer.status !== 200 || accept.startsWith(PROTOBUF)) continue;
        for (const line of answer.text.split('\n').filter(Boolean)) {
          expect(['ADDED', 'BOOKMARK', 'ERROR', 'MODIFIED', 'DELETED'], said).toContain(JSON.parse(line).type);
        }
      }
      expect(scene.server.errors, said).toEqual([]);
    });
  });
});
