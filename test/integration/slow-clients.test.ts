/**
 * Clients that take for ever: to shake hands, to send a request, to read an answer. None holds memory or a place for
 * long, and none of the limits ends a watch that has nothing to say. The limits are short here.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Http, Watching } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { configMap, MAPS } from '../harness/unharmed.ts';

const LIMITS = { headersMs: 800, requestMs: 1500, idleMs: 2000, stalledMs: 1000, strangers: 5 };
/** Far more than any of the limits, on a machine with other work. */
const PATIENCE = { timeout: 20_000 };
/** Answers as a list: more than all buffers between two processes hold. */
const LARGE = Array.from({ length: 60 }, (_, i) =>
  withLabels(configMap(`large-${i}`, { text: randomBytes(300_000).toString('base64') }), i < 4 ? { few: '' } : {}),
);

function withLabels<T extends { metadata: object }>(object: T, labels: Record<string, string>): T {
  return { ...object, metadata: { ...object.metadata, labels } };
}

let server: TestServer;
let http: Http;
/** One that is idle all the time. */
let watch: Watching;

beforeAll(async () => {
  server = await startServer({ limits: LIMITS });
  http = await server.http();
  for (const object of LARGE) expect((await http.post(MAPS, object)).status).toBe(201);
  const { resourceVersion } = (await http.get(`${MAPS}?limit=1`)).json.metadata;
  watch = await http.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
}, 120_000);
afterAll(() => server.close());

const port = () => Number(new URL(server.url).port);
const token = () => server.root.credentials.adminToken;
const tls = () =>
  connectTls({ host: '127.0.0.1', port: port(), ca: server.caPem, ALPNProtocols: ['http/1.1'] }).on('error', () => {});
const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\n${more}\r\n`;
const headers = (path: string, method = 'GET') => ({
  ':path': path,
  ':method': method,
  authorization: `Bearer ${token()}`,
});
const session = () => connectHttp2(server.url, { ca: server.caPem }).on('error', () => {});

/** What came until the server ended the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let got = '';
  socket.on('data', (piece) => {
    got += piece;
  });
  socket.resume();
  if (!socket.destroyed) await once(socket, 'close');
  return got;
}

/** Requests and watches under way beside the one that is idle all the time. */
const expectNoneUnderWay = () => expect.poll(() => server.root.active, PATIENCE).toBe(1);

describe('a client that never', () => {
  it('shakes hands is cut off', async () => {
    await untilClosed(connectTcp({ host: '127.0.0.1', port: port() }).on('error', () => {}));
  });

  it('sends a request is cut off', async () => {
    expect(await untilClosed(tls())).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('ends its headers is cut off', async () => {
    const socket = tls();
    socket.write('GET /version HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => socket.write('X-A: a\r\n'), 100);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(drip);
  });

  it('ends its body is cut off, and its request is over', async () => {
    const socket = tls();
    socket.write(head('POST', MAPS, 'Content-Type: application/json\r\nContent-Length: 100000\r\n'));
    const drip = setInterval(() => socket.write(' '), 100);
    await expect.poll(() => server.root.active, PATIENCE).toBe(2);
    await untilClosed(socket);
    clearInterval(drip);
    await expectNoneUnderWay();
  });

  it('ends its body has an answer at the deadline it chose, and its connection ends', async () => {
    const socket = tls();
    socket.write(head('POST', `${MAPS}?timeout=300ms`, 'Content-Type: application/json\r\nContent-Length: 100000\r\n'));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 504 /);
    await expectNoneUnderWay();
  });

  it('ends a stream of HTTP/2 loses it, and not its connection', async () => {
    const client = session();
    const stream = client.request({ ...headers(`${MAPS}?timeout=300ms`, 'POST'), 'content-type': 'application/json' });
    stream
      .on('error', () => {})
      .resume()
      .write('{');
    const [answer] = await once(stream, 'response');
    expect(answer[':status']).toBe(504);
    await once(stream, 'close');
    await expectNoneUnderWay();
    expect(await statusOf(client, '/version')).toBe(200);
    client.destroy();
  });

  it('reads an answer of HTTP/1.1 is cut off', async () => {
    const socket = tls();
    socket.write(head('GET', MAPS));
    socket.pause();
    await expect.poll(() => server.root.active, PATIENCE).toBe(2);
    await expectNoneUnderWay();
    await untilClosed(socket);
  });

  it('reads many answers of HTTP/1.1 is cut off', async () => {
    const socket = tls();
    socket.write(head('GET', `${MAPS}/large-1`).repeat(LARGE.length));
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 3 * LIMITS.stalledMs));
    // Cut off in the middle of an answer, after what was on its way.
    expect((await untilClosed(socket)).split('HTTP/1.1 200').length).toBeLessThan(LARGE.length);
  });

  it('reads an answer of HTTP/2 loses the stream, and not its connection', async () => {
    const client = session();
    const stream = client.request(headers(MAPS)).on('error', () => {});
    await once(stream, 'response');
    await expectNoneUnderWay();
    expect(await statusOf(client, '/version')).toBe(200);
    client.destroy();
  });

  it('reads its watch is cut off, long before as much waits for it as for the fastest', async () => {
    const client = session();
    const stream = client.request(headers(`${MAPS}?watch=1&labelSelector=few`)).on('error', () => {});
    await once(stream, 'response');
    await expect.poll(() => server.root.active, PATIENCE).toBe(2);
    await expectNoneUnderWay();
    client.destroy();
  });
});

describe('connections', () => {
  it('without requests end', async () => {
    const client = session();
    expect(await statusOf(client, '/version')).toBe(200);
    await once(client, 'close');
    const socket = tls();
    socket.write(head('GET', '/version'));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('of strangers are few, and do not take the place of others', async () => {
    const known = session();
    expect(await statusOf(known, '/version')).toBe(200);
    const strangers = Array.from({ length: 20 }, () => connectTcp({ host: '127.0.0.1', port: port() }));
    const closed = new Set<Socket>();
    for (const socket of strangers) socket.on('error', () => {}).on('close', () => closed.add(socket));
    await expect.poll(() => closed.size, PATIENCE).toBeGreaterThanOrEqual(20 - LIMITS.strangers);
    expect(await statusOf(known, '/version')).toBe(200);
    for (const socket of strangers) socket.destroy();
    known.destroy();
  });
});

it('a watch that had nothing to say all the time is still there', async () => {
  await http.post(MAPS, configMap('at-last'));
  expect((await watch.next()).object.metadata.name).toBe('at-last');
  watch.close();
  expect(server.errors).toEqual([]);
});

async function statusOf(client: ClientHttp2Session, path: string): Promise<number> {
  const stream = client.request(headers(path));
  const [answer] = await once(stream, 'response');
  stream.resume();
  await once(stream, 'close');
  return answer[':status'];
}
