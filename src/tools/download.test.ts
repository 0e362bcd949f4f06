// Against a real server on this machine: it can break off, lie, be slow to exist, and stand behind a proxy.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { listenForInterrupts } from '../cli/interrupt.ts';
import { catalog } from './catalog.ts';
import { download } from './download.ts';
import { installTool } from './install-tool.ts';
import { systemProcesses } from './processes.ts';

const CONTENT = randomBytes(300_000);
const sha256 = createHash('sha256').update(CONTENT).digest('hex');
/** No time passes between attempts. */
const clock = {
  now: () => Date.now(),
  after(_ms: number, callback: () => void) {
    queueMicrotask(callback);
    return () => {};
  },
};

/** As `rookery tools install` passes it on: undici looks into the signal before it connects. */
const interrupts = listenForInterrupts();
afterAll(() => interrupts.stopListening());

let folder: string;
let server: Server;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
const asked: (string | undefined)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-download-'));
  asked.length = 0;
  server = createServer((incoming, response) => {
    asked.push(incoming.headers.range);
    handle(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/tool`;
const file = () => join(folder, 'tools', 'tool');
const get = (env: Record<string, string> = {}, wanted = { url: url(), sha256 }) =>
  download(wanted, file(), { env, clock, attempts: 3, signal: interrupts.signal });

/** Whole, or the rest when that is asked for. */
function serve(content: Buffer, { incoming, response }: { incoming: IncomingMessage; response: ServerResponse }): void {
  const from = Number(/bytes=(\d+)-/.exec(incoming.headers.range ?? '')?.[1] ?? 0);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': content.length - from });
  response.end(content.subarray(from));
}

it('puts a program in place that is whole and may be run', async () => {
  handle = (incoming, response) => serve(CONTENT, { incoming, response });
  await get();
  expect(readFileSync(file()).equals(CONTENT)).toBe(true);
  expect(statSync(file()).mode & 0o777).toBe(0o755);
  expect(existsSync(`${file()}.part`)).toBe(false);
});

it('keeps nothing of what is not what it should be', async () => {
  handle = (incoming, response) => serve(Buffer.from('something else'), { incoming, response });
  await expect(get()).rejects.toMatchObject({ code: 'download.checksum', message: expect.stringContaining(sha256) });
  expect(existsSync(file())).toBe(false);
  expect(existsSync(`${file()}.part`)).toBe(false);
});

it('leaves a good program alone when the new one is bad', async () => {
  handle = (incoming, response) => serve(CONTENT, { incoming, response });
  await get();
  handle = (incoming, response) => serve(Buffer.from('bad'), { incoming, response });
  await expect(get()).rejects.toMatchObject({ code: 'download.checksum' });
  expect(readFileSync(file()).equals(CONTENT)).toBe(true);
});

it('goes on where the connection broke off', async () => {
  handle = (incoming, response) => {
    if (asked.length > 1) return serve(CONTENT, { incoming, response });
    response.writeHead(200, { 'content-length': CONTENT.length });
    response.write(CONTENT.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 50));
  };
  await get();
  expect(readFileSync(file()).equals(CONTENT)).toBe(true);
  expect(asked[0]).toBeUndefined();
  expect(asked[1]).toMatch(/^bytes=[1-9]\d*-$/);
});

it('goes on in the next run too, and begins anew where the server cannot', async () => {
  handle = (_incoming, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length });
    response.write(CONTENT.subarray(0, 50_000), () => setTimeout(() => response.destroy(), 50));
  };
  await expect(get()).rejects.toMatchObject({ code: 'download.failed', class: 'retryable' });
  expect(statSync(`${file()}.part`).size).toBeGreaterThan(0);
  // No ranges: all of it, from the beginning.
  handle = (_incoming, response) => response.end(CONTENT);
  await get();
  expect(readFileSync(file()).equals(CONTENT)).toBe(true);
});

it('is content with a part that is whole already', async () => {
  handle = (incoming, response) => serve(CONTENT, { incoming, response });
  await get();
  writeFileSync(`${file()}.part`, CONTENT);
  handle = (_incoming, response) => response.writeHead(416).end();
  await get();
  expect(readFileSync(file()).equals(CONTENT)).toBe(true);
});

it('tries again after a server error, but not after a refusal', async () => {
  handle = (incoming, response) =>
    asked.length === 1 ? void response.writeHead(503).end() : serve(CONTENT, { incoming, response });
  await get();
  expect(asked).toHaveLength(2);
  handle = (_incoming, response) => response.writeHead(404).end();
  await expect(get()).rejects.toMatchObject({ code: 'download.refused', message: expect.stringContaining('404') });
  expect(asked).toHaveLength(3);
});

it('goes through the proxy of the environment, and around it where that says so', async () => {
  const seen: string[] = [];
  const proxy = createServer((incoming, response) => {
    seen.push(`GET ${incoming.url}`);
    request(incoming.url as string, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  });
  proxy.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    const [host, port] = (incoming.url as string).split(':');
    const upstream = connect(Number(port), host as string, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  handle = (incoming, response) => serve(CONTENT, { incoming, response });
  const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  await get({ HTTP_PROXY });
  expect(seen).toHaveLength(1);
  await get({ HTTP_PROXY, NO_PROXY: '127.0.0.1' });
  expect(seen).toHaveLength(1);
  proxy.closeAllConnections();
  proxy.close();
});

it('says what helps when there is no network, and asks nobody when it is told not to', async () => {
  const nowhere = { url: 'http://127.0.0.1:1/tool', sha256 };
  await expect(get({}, nowhere)).rejects.toMatchObject({
    code: 'download.failed',
    hint: expect.stringContaining('ROOKERY_TOOLS'),
  });
  await expect(get({ ROOKERY_OFFLINE: '1' })).rejects.toMatchObject({ code: 'download.offline' });
  expect(asked).toEqual([]);
});

it('installs what works here, and throws away what does not', async () => {
  const script = (version: string) => Buffer.from(`#!/bin/sh\necho 'tool v${version}'\n`);
  const entry = (content: Buffer) => {
    const hash = createHash('sha256').update(content).digest('hex');
    const where = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
    handle = (incoming, response) => serve(content, { incoming, response });
    const files = { [where]: { url: url(), sha256: hash } };
    return {
      range: '>=1.0.0 <2.0.0',
      version: ['version'],
      install: 'by hand',
      download: { version: 'v1.2.3', files },
    };
  };
  const install = (content: Buffer) =>
    installTool('tool', join(folder, 'tools'), systemProcesses({}), {
      entry: entry(content),
      clock,
      signal: interrupts.signal,
    });
  expect(await install(script('1.2.3'))).toEqual({ name: 'tool', path: file(), version: [1, 2, 3] });
  await expect(install(script('3.0.0'))).rejects.toMatchObject({ code: 'tool.unusable', hint: 'by hand' });
  expect(existsSync(file())).toBe(false);
});

it('has a checksum and a fitting address for everything that can be fetched', () => {
  for (const [name, { download: release }] of Object.entries(catalog().tools)) {
    for (const [place, found] of Object.entries(release?.files ?? {})) {
      expect(found.sha256, `${name} ${place}`).toMatch(/^[0-9a-f]{64}$/);
      expect(found.url).toContain(release?.version);
      for (const part of place.split('-')) expect(found.url).toContain(part);
    }
  }
  const hashes = Object.values(catalog().tools).flatMap((entry) =>
    Object.values(entry.download?.files ?? {}).map((found) => found.sha256),
  );
  expect(new Set(hashes).size).toBe(hashes.length);
});
