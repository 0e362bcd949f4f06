import { request } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { silentLogger } from '../telemetry/log.ts';
import { TerminalSessions } from './terminal/terminal-sessions.ts';
import { TrustedProxies } from './trusted-proxies.ts';
import type { WorkspaceAccess } from './workspace-access.ts';
import { WorkspaceLinks } from './workspace-links.ts';
import { WorkspaceServer } from './workspace-server.ts';

const steps: string[] = [];
const links = new WorkspaceLinks({ all: [{ key: Buffer.alloc(32, 1) }] }, systemClock, systemRandom);
const server = await WorkspaceServer.start({
  links,
  access: {
    check: async () => [],
    goTo: async (_pass: unknown, step: string) => void steps.push(step),
  } as unknown as WorkspaceAccess,
  sessions: new TerminalSessions({ clock: systemClock }),
  assets: new URL('file:///nowhere/'),
  host: '127.0.0.1',
  port: 0,
  proxies: new TrustedProxies([]),
  publicUrl: 'https://class.example.com',
  clock: systemClock,
  log: silentLogger,
});
afterAll(() => server.close());

const place = { namespace: 'ws-ada', name: 'ada' };
const pass = links.sign({ ...place, uid: '1', role: 'student' }, 60_000);
const ask = (path: string, method: string, headers: Record<string, string>, body?: string) =>
  new Promise<{ status?: number; cookie?: string }>((resolve, reject) => {
    request(new URL(path, server.url), { method, headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, cookie: response.headers['set-cookie']?.[0] });
    })
      .on('error', reject)
      .end(body);
  });

it('hands out links to the site of its proxy', () => {
  expect(server.urlOf(place)).toBe('https://class.example.com/w/ws-ada/ada/');
});

it('gives a cookie for TLS alone to those who come by that site', async () => {
  const cookieFor = async (host: string) => (await ask(`/open?link=${pass}`, 'GET', { host })).cookie;
  expect(await cookieFor('class.example.com')).toMatch(/; Secure$/);
  expect(await cookieFor('127.0.0.1:7480')).toMatch(/; SameSite=Strict$/);
});

it('takes pages of that site for its own, whatever host the proxy names, and no others', async () => {
  const from = async (origin: string) =>
    (await ask('/w/ws-ada/ada/check', 'POST', { origin, cookie: `pass=${pass}` })).status;
  expect(await from('https://class.example.com')).toBe(200);
  expect(await from('https://evil.example.com')).toBe(403);
  expect(await from('https://class.example.com.evil.example')).toBe(403);
});

it('goes to the step that is named, and refuses a body that names none', async () => {
  const goTo = async (body: string) =>
    (await ask('/w/ws-ada/ada/step', 'POST', { cookie: `pass=${pass}` }, body)).status;
  const wrong = [
    '{"step":{"toString":1}}',
    '{"step":["a"]}',
    '{"step":7}',
    '{"__proto__":{"step":"a"}}',
    'null',
    '[]',
    '',
  ];
  for (const body of wrong) expect(await goTo(body), body).toBe(400);
  expect(await goTo('{"step":"two"}')).toBe(202);
  expect(steps).toEqual(['two']);
});

const publicUrl = (text?: string) => loadConfig({ ROOKERY_PUBLIC_URL: text }).publicUrl;

it('the site that links lead to is protocol, host and port alone', () => {
  expect(publicUrl()).toBeUndefined();
  expect(publicUrl('')).toBeUndefined();
  expect(publicUrl('https://class.example.com/')).toBe('https://class.example.com');
  expect(publicUrl('http://10.0.0.5:8080')).toBe('http://10.0.0.5:8080');
});

it.each(['class.example.com', 'ftp://x', 'https://x/path', 'https://x/?a', 'https://me:secret@x', 'https://'])(
  '%s is no site',
  (text) => {
    expect(() => publicUrl(text)).toThrow(/^ROOKERY_PUBLIC_URL: /);
  },
);
