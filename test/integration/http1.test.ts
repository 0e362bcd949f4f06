/**
 * HTTP/1.1 as clients we did not write speak it: many requests on one connection, one after the other or all at once,
 * small and large, plain and compressed. Every request gets its answer, in order, and the connection stays.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { unharmedServer } from '../harness/unharmed.ts';

const run = promisify(execFile);
const PATH = '/apis/http1.example/v1/namespaces/default/texts/one';
const ONE = { apiVersion: 'http1.example/v1', kind: 'Text', metadata: { name: 'one' } };
/**
 * Sizes, and how often each is written, right one after the other: below and above what Node buffers (16 kB), what is
 * compressed (128 kB) and what is sent in one piece (1 MB).
 */
const WRITES = [
  [0, 5],
  [100, 20],
  [20_000, 25],
  [200_000, 25],
  [1_200_000, 3],
  [2_900_000, 3],
] as const;
const EVERY_WRITE = WRITES.reduce((sum, [, times]) => sum + times, 0);
const scene = unharmedServer();
const port = () => Number(new URL(scene.server.url).port);
const token = () => scene.server.root.credentials.adminToken;
const MERGE = 'application/merge-patch+json';
const patchTo = (text: string) => JSON.stringify({ spec: { text } });

beforeAll(async () => {
  const spec = { type: 'object', properties: { text: { type: 'string' } } };
  const made = await scene.http.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'texts.http1.example' },
    spec: {
      group: 'http1.example',
      scope: 'Namespaced',
      names: { plural: 'texts', kind: 'Text' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  });
  expect(made.status, made.text).toBe(201);
  const collection = PATH.replace('/one', '');
  await vi.waitFor(async () => expect((await scene.http.post(collection, ONE)).status).toBe(201));
});

describe.each(['identity', 'gzip'])('on one connection, %s', (encoding) => {
  it("Python's http.client", async () => {
    const script = fileURLToPath(new URL('../harness/http1_client.py', import.meta.url));
    const job = {
      ...{ port: port(), token: token(), ca: scene.server.caPem },
      ...{ path: PATH, type: MERGE, writes: WRITES, encoding },
    };
    const client = spawn('python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    client.stdin.end(JSON.stringify(job));
    let said = '';
    client.stdout.setEncoding('utf8').on('data', (piece) => {
      said += piece;
    });
    await once(client, 'close');
    expect(JSON.parse(said)).toEqual({ answered: EVERY_WRITE + WRITES.length, failures: [], isSameSocket: true });
  });

  it('curl', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rookery-curl-'));
    try {
      writeFileSync(join(folder, 'ca.pem'), scene.server.caPem);
      const url = scene.server.url + PATH;
      const common = [
        ...['http1.1', 'silent', 'show-error', 'fail', ...(encoding === 'gzip' ? ['compressed'] : [])],
        `cacert = "${join(folder, 'ca.pem')}"`,
        `header = "Authorization: Bearer ${token()}"`,
        'write-out = "%{http_code} %{num_connects}\\n"',
        `url = "${url}"`,
      ];
      const transfers: string[][] = [];
      for (const [size, times] of WRITES) {
        const file = join(folder, `${size}.json`);
        const output = join(folder, `${size}.out`);
        writeFileSync(file, patchTo('c'.repeat(size)));
        const send = ['request = "PATCH"', `data-binary = "@${file}"`, `header = "Content-Type: ${MERGE}"`];
        for (let turn = 0; turn < times; turn++) transfers.push([...common, ...send, 'output = "/dev/null"']);
        transfers.push([...common, `output = "${output}"`]);
      }
      const settings = join(folder, 'transfers');
      writeFileSync(settings, transfers.map((lines) => lines.join('\n')).join('\nnext\n'), { mode: 0o600 });
      const { stdout } = await run('curl', ['--config', settings]);
      const results = stdout.trim().split('\n');
      expect(results).toEqual(transfers.map((_, i) => `200 ${i === 0 ? 1 : 0}`));
      for (const [size] of WRITES) {
        const { spec } = JSON.parse(readFileSync(join(folder, `${size}.out`), 'utf8'));
        expect(spec.text.length).toBe(size);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("Node's https", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: scene.server.caPem });
    const ports = new Set<number | undefined>();
    const ask = async (method: string, body?: string) => {
      const headers = {
        authorization: `Bearer ${token()}`,
        'accept-encoding': encoding,
        ...(body === undefined ? {} : { 'content-type': MERGE, 'content-length': body.length }),
      };
      const sent = request({ method, host: '127.0.0.1', port: port(), path: PATH, agent, headers }).end(body);
      const [answer] = await once(sent, 'response');
      ports.add(sent.socket?.localPort);
      const content = Buffer.concat(await answer.toArray());
      const text = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(content) : content;
      return { status: answer.statusCode, text: String(text) };
    };
    for (const [size, times] of WRITES) {
      const texts = Array.from({ length: times }, (_, turn) => String(turn).padEnd(size, 'n'));
      const bodies = texts.map(patchTo);
      const answers: Awaited<ReturnType<typeof ask>>[] = [];
      for (const body of bodies) answers.push(await ask('PATCH', body));
      answers.push(await ask('GET'));
      for (const { status } of answers) expect(status).toBe(200);
      const kept = answers.map(({ text }) => JSON.parse(text).spec.text);
      expect(kept).toEqual([...texts, texts.at(-1)]);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it.each(WRITES.map(([size]) => size))(
    'by hand, of %i bytes: all requests are sent before the first answer is read',
    async (size) => {
      const socket = connectTls({
        host: '127.0.0.1',
        port: port(),
        ca: scene.server.caPem,
        ALPNProtocols: ['http/1.1'],
      });
      const head = (method: string, more: string) =>
        `${method} ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\nAccept-Encoding: ${encoding}\r\n${more}\r\n`;
      // Requests of one connection are worked on at the same time, and one user may have 7 MB of bodies under way.
      const texts = Array.from({ length: size > 1_000_000 ? 2 : 6 }, (_, turn) => String(turn).padEnd(size, 'h'));
      const requests = texts.flatMap((text) => {
        const body = patchTo(text);
        const patch = head('PATCH', `Content-Type: ${MERGE}\r\nContent-Length: ${body.length}\r\n`) + body;
        return [patch, head('GET', '')];
      });
      socket.write(requests.join('') + head('GET', 'Connection: close\r\n'));
      const answers = answersIn(Buffer.concat(await socket.toArray()));
      expect(answers).toHaveLength(requests.length + 1);
      for (const { status } of answers) expect(status).toBe(200);
      // What each PATCH wrote is in its own answer.
      expect(texts.map((_, i) => answers[2 * i]?.text.length)).toEqual(texts.map((text) => text.length));
    },
  );
});

interface Parsed {
  status: number;
  text: string;
}

/** The answers in what came, by their lengths; a piece that is left over makes it throw. */
function answersIn(bytes: Buffer): Parsed[] {
  const answers: Parsed[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const head = bytes.subarray(at, end).toString();
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    const body = bytes.subarray(end + 4, end + 4 + length);
    const content = /content-encoding: gzip/i.test(head) ? gunzipSync(body) : body;
    answers.push({
      status: Number(head.slice(9, 12)),
      text: JSON.parse(String(content)).spec?.text ?? String(content),
    });
    at = end + 4 + length;
  }
  return answers;
}
