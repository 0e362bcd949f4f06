/** Connections that misbehave, and many at the same time: nothing is lost, nobody else notices. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { configMap, DEPLOYMENTS, expectStatus, MAPS, unharmedServer } from '../harness/unharmed.ts';

const scene = unharmedServer();

describe('connections', () => {
  const { hostname, port } = { hostname: '127.0.0.1', port: () => Number(new URL(scene.server.url).port) };
  /** Writes bytes on a TLS connection of its own; the answer is whatever comes until the end or `ms`. */
  const raw = (text: string | Buffer, ms = 1500) =>
    new Promise<string>((resolve) => {
      let got = '';
      const socket = connectTls(
        { host: hostname, port: port(), ca: scene.server.caPem, ALPNProtocols: ['http/1.1'] },
        () => socket.write(text),
      );
      socket.setEncoding('utf8').on('data', (piece) => {
        got += piece;
      });
      const end = () => {
        socket.destroy();
        resolve(got);
      };
      socket.on('error', end).on('close', end);
      setTimeout(end, ms);
    });
  const line = (method: string, path: string, more = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scene.server.root.credentials.adminToken}\r\n${more}\r\n`;

  it('pipelined requests are answered in order', async () => {
    const got = await raw(
      line('GET', '/version') +
        line('GET', `${MAPS}/keep`) +
        line('GET', '/nosuch') +
        line('GET', '/readyz', 'Connection: close\r\n'),
      5000,
    );
    expect([...got.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['200', '200', '404', '200']);
    expect(got.indexOf('gitVersion')).toBeLessThan(got.indexOf('"keep"'));
  });

  it.each([
    ['http/1.1', 'identity'],
    ['http/1.1', 'gzip'],
    ['h2', 'identity'],
    ['h2', 'gzip'],
  ])('a client that goes in the middle of a large answer is not waited for (%s, %s)', async (protocol, encoding) => {
    const { server } = scene;
    // Random, so that it stays large.
    const text = randomBytes(60_000).toString('base64');
    const names = Array.from({ length: 210 }, (_, i) => `large-${i}`);
    for (const name of names) await scene.http.post(MAPS, configMap(name, { text }));
    const ask = (path: string) => {
      if (protocol === 'h2') {
        const session = connectHttp2(server.url, { ca: server.caPem }).on('error', () => {});
        const authorization = `Bearer ${server.root.credentials.adminToken}`;
        const headers = { ':path': path, authorization, 'accept-encoding': encoding };
        return { answer: session.request(headers).on('error', () => {}), end: () => session.destroy() };
      }
      const socket = connectTls({ host: hostname, port: port(), ca: server.caPem, ALPNProtocols: [protocol] });
      socket.on('error', () => {}).write(line('GET', path, `Accept-Encoding: ${encoding}\r\n`));
      return { answer: socket, end: () => socket.destroy() };
    };
    for (const path of [MAPS, '/openapi/v2', `${MAPS}?limit=20`]) {
      const { answer, end } = ask(path);
      await once(answer, 'data');
      end();
      await expect.poll(() => server.root.active, { message: path, timeout: 5000 }).toBe(0);
    }
    for (const name of names) await scene.http.delete(`${MAPS}/${name}`);
  });

  it('a request that cannot be read is told so, and the connection ends', async () => {
    const get = (more: string) => line('GET', '/version', more);
    const refused: [string, number][] = [
      [get(`X-Large: ${'a'.repeat(20_000)}\r\n`), 431],
      [get(`X-Large: ${'a'.repeat(400_000)}\r\n`), 431],
      [get(Array.from({ length: 3000 }, (_, i) => `X-${i}: a\r\n`).join('')), 431],
      ['GARBAGE\r\n\r\n', 400],
      [line('POST', MAPS, 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'), 400],
    ];
    for (const [sent, code] of refused) {
      const got = await raw(sent, 10_000);
      expect(got.split('\r\n')[0], sent.slice(0, 100)).toMatch(`HTTP/1.1 ${code} `);
    }
    const chunked = line('POST', MAPS, 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n');
    expect(await raw(`${chunked}ZZZ\r\nx\r\n`, 10_000)).toMatch('HTTP/1.1 400 ');
    // Not where the client would take it for the answer to a request that was carried out.
    const body = JSON.stringify(configMap('written'));
    const write = line('POST', MAPS, `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`);
    expect(await raw(`${write}${body}GARBAGE\r\n\r\n`, 10_000)).not.toMatch('HTTP/1.1 400 ');
  });

  it('garbage, half requests, wrong lengths and smuggling do no harm', async () => {
    const body = JSON.stringify(configMap('smuggled'));
    const pieces = [
      'GARBAGE\r\n\r\n',
      '\0\0\0\0',
      'GET / HTTP/9.9\r\n\r\n',
      line('GET', '/version').slice(0, 30),
      line('POST', MAPS, 'Content-Type: application/json\r\nContent-Length: 100000\r\n') + body,
      line('POST', MAPS, `Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n`) +
        body,
      `${line('POST', MAPS, 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n')}ZZZ\r\nx\r\n`,
      line('POST', MAPS, 'Content-Type: application/json\r\nContent-Length: -1\r\n') + body,
      `GET ${MAPS} HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ];
    await Promise.all(pieces.map((piece) => raw(piece, 800)));
    expect(await scene.exists('smuggled')).toBe(false);
  });

  it('clients that hang or go away in the middle cost nothing but their connection', async () => {
    const hanging = Array.from({ length: 20 }, (_, i) =>
      raw(
        `${line('POST', MAPS, `Content-Type: application/json\r\nContent-Length: ${100 + i}\r\n`)}{"apiVersion"`,
        1000,
      ),
    );
    const aborted = Array.from({ length: 20 }, async () => {
      const answer = await scene.http.open('GET', `${MAPS}?watch=1`);
      answer.on('error', () => {});
      answer.destroy();
    });
    await Promise.all(aborted);
    const started = performance.now();
    expect((await scene.http.get(`${MAPS}/keep`)).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(1000);
    await Promise.all(hanging);
    // Watches that were dropped are forgotten: a cluster without any can go to sleep.
    await expect.poll(() => scene.server.root.active).toBe(0);
  });

  it('a watcher that does not read is cut off, others go on', async () => {
    const slow = connectTls({ host: hostname, port: port(), ca: scene.server.caPem, ALPNProtocols: ['http/1.1'] });
    const closed = new Promise((resolve) => slow.on('close', resolve).on('error', () => {}));
    slow.write(line('GET', `${MAPS}?watch=1`));
    slow.pause();
    const quick = await scene.http.watch(`${MAPS}?watch=1&labelSelector=flood`);
    await expect.poll(() => scene.server.root.active).toBeGreaterThanOrEqual(2);
    const flood = {
      ...configMap('flood', { a: 'x'.repeat(700_000) }),
      metadata: { name: 'flood', labels: { flood: 'yes' } },
    };
    const reading = (async () => {
      for (let i = 0; i < 41; i++) await quick.next();
    })();
    await scene.http.post(MAPS, flood);
    for (let i = 0; i < 40; i++) await scene.http.patch(`${MAPS}/flood`, 'merge', { data: { n: String(i) } });
    await reading;
    quick.close();
    // Nobody can tell a paused socket that it was closed until it reads again.
    await expect.poll(() => scene.server.root.active).toBe(0);
    slow.resume();
    await closed;
    await scene.http.delete(`${MAPS}/flood`);
  });
});

describe('at the same time', () => {
  it('one name, many creators: one 201, the others 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => scene.http.post(MAPS, configMap('race', { by: String(i) }))),
    );
    const codes = answers.map((answer) => answer.status).sort();
    expect(codes).toEqual([201, ...Array(39).fill(409)]);
    for (const answer of answers) if (answer.status === 409) expectStatus(answer, 409, 'AlreadyExists');
    const winner = answers.find((answer) => answer.status === 201)?.json;
    expect((await scene.http.get(`${MAPS}/race`)).json).toEqual(winner);
  });

  it('one object, many patches: none is lost', async () => {
    await scene.http.post(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'patched' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const one = `${DEPLOYMENTS}/patched`;
    const patches = Array.from({ length: 60 }, (_, i) => {
      if (i % 3 === 0) return scene.http.patch(one, 'merge', { metadata: { annotations: { [`k${i}`]: 'm' } } });
      if (i % 3 === 1) return scene.http.patch(one, 'strategic', { metadata: { annotations: { [`k${i}`]: 's' } } });
      return scene.http.patch(`${one}?fieldManager=m${i}`, 'apply', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'patched', annotations: { [`k${i}`]: 'a' } },
      });
    });
    for (const answer of await Promise.all(patches)) expect(answer.status, answer.text).toBe(200);
    const { metadata } = (await scene.http.get(one)).json;
    expect(Object.keys(metadata.annotations)).toHaveLength(60);
    expect(metadata.generation).toBe(61);
  });

  it('one object, many replacers with the same version: one wins', async () => {
    const { metadata } = (await scene.http.post(MAPS, configMap('put'))).json;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        scene.http.put(`${MAPS}/put`, { ...configMap('put', { by: String(i) }), metadata }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(19).fill(409)]);
  });
});
