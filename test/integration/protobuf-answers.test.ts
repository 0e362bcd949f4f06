/** Clients that take nothing but protobuf get it; those that would also take JSON get JSON. */
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeProtobuf } from '../../src/apiserver/codec/protobuf.ts';
import { Reader } from '../../src/apiserver/codec/protobuf-reader.ts';
import { configMap, expectStatus, MAPS, unharmedServer } from '../harness/unharmed.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const accept = (value: string) => ({ headers: { accept: value } });
const scene = unharmedServer();

beforeAll(async () => {
  for (let i = 0; i < 300; i++) await scene.http.post(MAPS, configMap(`many-${i}`, { i: `${i}` }));
});

describe('protobuf', () => {
  it('of an object, as JSON says it', async () => {
    const answer = await scene.http.get(`${MAPS}/keep`, accept(PROTOBUF));
    expect([answer.status, answer.headers['content-type']]).toEqual([200, PROTOBUF]);
    expect(decodeProtobuf(answer.body)).toEqual((await scene.http.get(`${MAPS}/keep`)).json);
    const made = await scene.http.post(MAPS, configMap('made', { a: 'b' }), accept(PROTOBUF));
    expect([made.status, decodeProtobuf(made.body).data]).toEqual([201, { a: 'b' }]);
    const gone = await scene.http.delete(`${MAPS}/made`, accept(PROTOBUF));
    expect(decodeProtobuf(gone.body)).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Success' });
  });

  it('of lists, short and long, and of metadata alone', async () => {
    for (const [query, type] of [
      ['?limit=3', PROTOBUF],
      ['', PROTOBUF],
      ['', `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`],
      ['', `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1`],
    ] as const) {
      const answer = await scene.http.get(MAPS + query, accept(type));
      expect(answer.headers['content-type']).toBe(PROTOBUF);
      if (type.includes('v1beta1')) continue;
      const same = await scene.http.get(MAPS + query, accept(type.replace(PROTOBUF, 'application/json')));
      const list = same.json;
      // Go's types of metadata alone have them in JSON only.
      for (const item of list.items) for (const field of ['kind', 'apiVersion']) delete item[field];
      const { items, ...head } = decodeProtobuf(answer.body);
      expect({ ...head, items: items.length }).toEqual({ ...list, items: list.items.length });
      expect(items).toEqual(list.items);
    }
  });

  it('of events, each behind its length', async () => {
    const answer = await scene.http.get(`${MAPS}?watch=1&timeoutSeconds=1&limit=1`, accept(`${PROTOBUF};stream=watch`));
    expect([answer.status, answer.headers['content-type']]).toEqual([200, `${PROTOBUF};stream=watch`]);
    const names: (string | undefined)[] = [];
    for (let at = 0; at < answer.body.length; ) {
      const length = answer.body.readUInt32BE(at);
      const event = new Reader(answer.body, at + 4, at + 4 + length);
      expect([event.uint32(), event.string(), event.uint32()]).toEqual([0x0a, 'ADDED', 0x12]);
      const raw = new Reader(event.bytes(), 0);
      expect(raw.uint32()).toBe(0x0a);
      names.push(decodeProtobuf(raw.bytes()).metadata.name);
      at += 4 + length;
    }
    const { items } = (await scene.http.get(MAPS)).json;
    expect(names).toEqual(items.map((item: { metadata: { name: string } }) => item.metadata.name));
  });

  it('of failures', async () => {
    const answer = await scene.http.get(`${MAPS}/nothing`, accept(PROTOBUF));
    expect([answer.status, answer.headers['content-type']]).toEqual([404, PROTOBUF]);
    expect(decodeProtobuf(answer.body)).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      reason: 'NotFound',
      message: 'configmaps "nothing" not found',
      details: { name: 'nothing', kind: 'configmaps' },
      code: 404,
    });
    const yaml = await scene.http.get(`${MAPS}/nothing`, accept('application/yaml'));
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(yaml.text).toMatch(/^reason: NotFound$/m);
    // Whoever takes nothing we have is still told what went wrong.
    expectStatus(await scene.http.get(`${MAPS}/nothing`, accept('text/plain')), 406);
    expectStatus(await scene.http.get('/api/v1/nothing', accept('text/plain')), 404);
  });

  it('not where JSON will do, nor of tables', async () => {
    const both = await scene.http.get(`${MAPS}/keep`, accept(`${PROTOBUF},application/json`));
    expect(both.headers['content-type']).toBe('application/json');
    const table = `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`;
    expectStatus(await scene.http.get(MAPS, accept(table)), 406, 'NotAcceptable');
    const watch = await scene.http.get(`${MAPS}?watch=1`, accept('application/yaml'));
    expect(watch.status).toBe(406);
    expect(watch.text).toMatch(/application\/json;stream=watch/);
  });
});

describe('pretty', () => {
  it('for those who ask, and for people', async () => {
    const pretty = async (query: string, agent = 'kubectl/v1') =>
      (await scene.http.get(MAPS + query, { headers: { 'user-agent': agent } })).text;
    const list = JSON.parse(await pretty('?limit=2'));
    expect(await pretty('?limit=2&pretty=true')).toBe(JSON.stringify(list, null, 2));
    expect(await pretty('?limit=2', 'curl/8.0')).toBe(JSON.stringify(list, null, 2));
    expect(await pretty('?limit=2&pretty=false', 'curl/8.0')).toBe(`${JSON.stringify(list)}\n`);
    const none = await pretty('?labelSelector=no%3Dthing&pretty=1');
    expect(none).toBe(JSON.stringify(JSON.parse(none), null, 2));
    const many = await pretty('?pretty=1');
    expect(many).toBe(JSON.stringify(JSON.parse(many), null, 2));
    expect(JSON.parse(many).items.length).toBeGreaterThan(300);
  });
});
