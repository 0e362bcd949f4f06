// How long one turn of the event loop is held by large bodies: reading, applying, patching and printing them.
// Each was seconds once, for everybody. Each answer is right, or a refusal with its reason.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Http } from '../harness/http.ts';
import { WatchedServer } from '../harness/watched-server.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/bodies.example.com/v1';
const YAML = { contentType: 'application/yaml' };
const AS_TABLE = { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } };
/** Milliseconds on the processor. */
const LIMIT = 100;
/** For objects of 100,000 keys: one call writes them into the store. */
const STORED_LIMIT = 400;
const MB = 1024 * 1024;

let server: WatchedServer;
let http: Http;

beforeAll(async () => {
  server = await WatchedServer.start();
  http = server.http;
  // What runs for the first time is slow for that reason.
  for (let i = 0; i < 30; i++) await http.post(CONFIG_MAPS, map(`warm${i}`, { a: 'b' }));
  for (let i = 0; i < 30; i++)
    await http.patch(`${CONFIG_MAPS}/warm0?fieldManager=m`, 'apply', map('warm0', { b: 'c' }));
  await http.get(CONFIG_MAPS, AS_TABLE);
  await define('things', []);
}, 100_000);

afterAll(() => server?.stop());

const short = (name: string, work: () => Promise<unknown>, limit = LIMIT) => server.expectShortTurns(name, work, limit);

function hasStatus(answer: Answer, status: number): void {
  expect(answer.status, answer.text.slice(0, 500)).toBe(status);
}

const map = (name: string, data: unknown) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const keys = (count: number, value: unknown = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value]));

async function define(plural: string, additionalPrinterColumns: object[]): Promise<void> {
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.bodies.example.com` },
    spec: {
      group: 'bodies.example.com',
      names: { plural, kind: `K${plural}`, singular: plural },
      scope: 'Cluster',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          additionalPrinterColumns,
        },
      ],
    },
  };
  hasStatus(await http.post(CRDS, crd), 201);
  hasStatus(await http.get(`${GROUP}/${plural}`), 200);
}

const custom = (plural: string, name: string, spec: unknown) => ({
  apiVersion: 'bodies.example.com/v1',
  kind: `K${plural}`,
  metadata: { name },
  spec,
});

describe('one turn of the event loop', () => {
  it('is short with YAML', async () => {
    await short('700,000 documents', async () =>
      hasStatus(await http.post(REVIEWS, '---\n'.repeat(700_000), YAML), 400),
    );
    const lines = Object.keys(keys(50_000)).map((key) => `  ${key}: v\n`);
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n${lines.join('')}`;
    await short('a YAML of 50,000 keys', async () => hasStatus(await http.post(CONFIG_MAPS, text, YAML), 201));
    await short('a YAML of 1,000,000 elements', async () =>
      hasStatus(await http.post(CONFIG_MAPS, `a: [${'b,'.repeat(1_000_000)}]`, YAML), 413),
    );
  });

  it('is short with JSON', async () => {
    await short('JSON of 50,000 keys', async () =>
      hasStatus(await http.post(CONFIG_MAPS, map('many-keys', keys(50_000))), 201),
    );
    await short(
      'JSON of 300,000 empty objects',
      async () =>
        hasStatus(
          await http.post(`${GROUP}/things`, custom('things', 'empty', { list: Array(300_000).fill({}) })),
          201,
        ),
      STORED_LIMIT,
    );
    const broken = JSON.stringify(map('broken', keys(100_000)));
    await short('JSON that is none, at its end', async () =>
      hasStatus(await http.post(CONFIG_MAPS, `${broken.slice(0, -1)},`), 400),
    );
  });

  it('is short with server-side apply', async () => {
    const many = map('many', keys(100_000));
    await short(
      '100,000 keys applied',
      async () => {
        const answer = await http.patch(`${CONFIG_MAPS}/many?fieldManager=one`, 'apply', many);
        // A machine that does much else may need longer than a request has: then the work ends with it.
        if (answer.status !== 504) hasStatus(answer, 201);
      },
      STORED_LIMIT,
    );
    const path = `${CONFIG_MAPS}/applied?fieldManager=one`;
    const config = map('applied', keys(15_000));
    await short('15,000 keys applied', async () => hasStatus(await http.patch(path, 'apply', config), 201));
    await short('the same again', async () => hasStatus(await http.patch(path, 'apply', config), 200));
    await short('a conflict in 15,000 keys', async () => {
      const other = map('applied', keys(15_000, 'other'));
      hasStatus(await http.patch(`${CONFIG_MAPS}/applied?fieldManager=two`, 'apply', other), 409);
    });
  });

  it('is short with updates and patches of large objects', async () => {
    const path = `${CONFIG_MAPS}/patched`;
    hasStatus(await http.post(CONFIG_MAPS, map('patched', keys(15_000))), 201);
    await short('an update of 15,000 keys', async () =>
      hasStatus(await http.put(path, map('patched', keys(15_000, 'new'))), 200),
    );
    await short('a merge patch of 15,000 keys', async () =>
      hasStatus(await http.patch(path, 'merge', { data: keys(15_000, 'merged') }), 200),
    );
    await short('a strategic patch of 15,000 keys', async () =>
      hasStatus(await http.patch(path, 'strategic', { data: keys(15_000, 'patched') }), 200),
    );
    const operations = Array.from({ length: 5_000 }, (_, i) => ({ op: 'remove', path: `/data/key-${i}` }));
    await short('a JSON patch of 5,000 operations', async () =>
      hasStatus(await http.patch(path, 'json', operations), 200),
    );
  });

  it('is short, and free for the next request, when one reaches its deadline', async () => {
    const text = `a:\n${'  - b: c\n'.repeat(150_000)}`;
    await short('a YAML that takes longer than it may', async () => {
      hasStatus(await http.post(`${CONFIG_MAPS}?timeout=100ms`, text, YAML), 504);
      const next = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: next}\ndata: {a: '${'b'.repeat(20_000)}'}`;
      hasStatus(await http.post(CONFIG_MAPS, next, YAML), 201);
    });
  });

  it('is short with tables', async () => {
    const columns = Array.from({ length: 300 }, (_, i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec[*][*]' }));
    await define('printed', columns);
    const spec = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`k${i}`, Array(100_000).fill(i)]));
    hasStatus(await http.post(`${GROUP}/printed`, custom('printed', 'a', spec)), 201);
    for (const path of [`${GROUP}/printed`, `${GROUP}/printed/a`]) {
      await short(`300 columns over 400,000 leaves at ${path}`, async () => {
        const answer = await http.get(path, AS_TABLE);
        hasStatus(answer, 200);
        expect(answer.json.rows[0].cells).toEqual(['a', ...Array(300).fill('0')]);
      });
    }
    await short('a watch of that table', async () => {
      const watching = await http.watch(`${GROUP}/printed?watch=true`, AS_TABLE);
      const { type, object } = await watching.next();
      expect([type, object.rows[0].cells.length]).toEqual(['ADDED', 301]);
      watching.close();
    });
  });
}, 300_000);

describe('a server of its own', () => {
  let alone: WatchedServer;

  beforeAll(async () => {
    alone = await WatchedServer.start();
    for (let i = 0; i < 30; i++) await alone.http.post(CONFIG_MAPS, map(`warm${i}`, { a: 'b' }));
  }, 100_000);

  afterAll(() => alone?.stop());

  it('has turns that are short, and memory for others, with 24 large YAML bodies at once', async () => {
    const item = (i: number) =>
      `- name: item-${i}\n  value: "something ${i}"\n  labels:\n    app: demo\n    tier: backend\n`;
    let text = 'apiVersion: v1\nkind: ConfigMap\nitems:\n';
    for (let i = 0; text.length < 3 * MB - 200; i++) text += item(i);
    let answers: Answer[] = [];
    await alone.expectShortTurns(
      '24 YAML bodies of 3 MB',
      async () => {
        answers = await Promise.all(Array.from({ length: 24 }, () => alone.http.post(CONFIG_MAPS, text, YAML)));
      },
      LIMIT,
    );
    const codes = new Set(answers.map(({ status }) => status));
    for (const code of codes) expect([400, 413, 422, 429, 504]).toContain(code);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers['retry-after']).toBe('1');
    const { peakMemory } = await alone.measured();
    console.log(`codes ${[...codes].join(', ')}; at most ${(peakMemory / MB).toFixed(0)} MB of memory`);
    expect(peakMemory).toBeLessThan(600 * MB);
    hasStatus(await alone.http.post(CONFIG_MAPS, map('afterwards', { a: 'b' })), 201);
  });
}, 300_000);
