// What Kubernetes' own end-to-end specs look at and our other tests did not: each case here failed before.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { furnish } from '../../src/provisioners/virtual/simulation/furnish.ts';
import { simulation } from '../../src/provisioners/virtual/simulation/index.ts';
import type { Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let http: Http;

beforeAll(async () => {
  server = await startServer({ loops: [simulation] });
  await furnish(await server.clusters.ensure('judged'), { controlPlanes: 0, nodes: 2 });
  http = await server.http('judged');
});
afterAll(async () => {
  const { errors } = server;
  await server.close();
  expect(errors).toEqual([]);
});

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('server-side apply', () => {
  it('refuses a field that nobody could own, and names repeated keys by their line', async () => {
    const apply = (text: string) =>
      http.patch(`${MAPS}/applied?fieldManager=me&fieldValidation=Strict`, 'apply', Buffer.from(text));
    const map = '\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n';
    const unknown = await apply(`${map}  label: {}\n`);
    expect(unknown.json).toMatchObject({ code: 500 });
    expect(unknown.json.message).toContain('.metadata.label: field not declared in schema');
    const twice = await apply(`${map}data:\n  a: "1"\n  a: "2"\n`);
    expect(twice.json).toMatchObject({
      code: 400,
      message:
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 8: key "a" already set in map',
    });
    expect((await apply(`${map}data:\n  a: "1"\n`)).status).toBe(201);
  });
});
