/** Long lists: the same in every form, and whoever pages sees what whoever does not sees. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
let server: TestServer;
let http: Http;

beforeAll(async () => {
  server = await startServer();
  http = await server.http();
  const names = Array.from({ length: 600 }, (_, i) => `map-${i}`);
  await Promise.all(names.map((name) => http.post(MAPS, { metadata: { name }, data: { text: `- of: ${name}\n` } })));
});
afterAll(() => server.close());

it('YAML says what JSON says, short or long', async () => {
  for (const query of ['', '?limit=50']) {
    const json = await http.get(MAPS + query);
    const yaml = await http.get(MAPS + query, { headers: { accept: 'application/yaml' } });
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(parse(yaml.text)).toEqual(json.json);
  }
});

it('pages of one, of a namespace or of all, add up to the whole', async () => {
  for (const path of [MAPS, '/api/v1/configmaps']) {
    const whole = (await http.get(path)).json.items;
    const paged = [];
    let next = '';
    do {
      const page = (await http.get(`${path}?limit=1${next && `&continue=${next}`}`)).json;
      paged.push(...page.items);
      next = page.metadata.continue ?? '';
    } while (next);
    expect(paged).toEqual(whole);
  }
});

it('a continue token of one namespace opens no other', async () => {
  const { continue: next } = (await http.get(`${MAPS}?limit=1`)).json.metadata;
  const elsewhere = await http.get(`/api/v1/namespaces/kube-system/configmaps?limit=500&continue=${next}`);
  for (const item of elsewhere.json.items ?? []) expect(item.metadata.namespace).toBe('kube-system');
});

it('as a table: a row for each', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { rows } = (await http.get(MAPS, { headers: { accept } })).json;
  expect(rows).toHaveLength((await http.get(MAPS)).json.items.length);
});
