/** What an administrator types to take links and certificates back, and to exchange keys: with a control plane that runs, and without one. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Rookery } from '../harness/rookery.ts';

const rookery = new Rookery({ ROOKERY_WEB_PORT: '0', DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
const run = (...args: string[]) => rookery.run(...args);
const TEMPLATE = `
apiVersion: workshop.platform/v1alpha1
kind: WorkspaceTemplate
metadata: { name: course }
spec:
  defaults: { cluster: { mode: none } }
  steps: [{ id: one, title: One, imageTag: example/one:1 }]
`;
const up = async () => expect(await run('up', '--detach', '--no-demo')).toMatchObject({ code: 0 });

beforeAll(async () => {
  await up();
  const file = join(rookery.home, 't.yaml');
  writeFileSync(file, TEMPLATE);
  expect(await run('template', 'apply', '-f', file)).toMatchObject({ code: 0 });
  expect(await run('workspace', 'create', 'ada', '-t', 'course')).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await run('workspace', 'delete', 'ada');
  await rookery.close();
});

interface Opened {
  link: URL;
  cookie: string;
  state: URL;
}

/** The link, and what a browser keeps of it. */
async function open(...more: string[]): Promise<Opened> {
  const { link } = await rookery.json<{ link: string }>('workspace', 'open', 'ada', ...more);
  const answer = await get(new URL(link));
  expect(answer.status).toBe(200);
  const cookie = /pass=[^;]+/.exec(String(answer.headers['set-cookie']))?.[0] ?? '';
  return { link: new URL(link), cookie, state: new URL('/w/ws-ada/ada/state', link) };
}

function get(url: URL, cookie = ''): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers: cookie ? { cookie } : {} }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

const terminal = async ({ link, cookie }: Opened) => {
  const url = new URL('/w/ws-ada/ada/terminal', link);
  const socket = new WebSocket(`ws://${url.host}${url.pathname}`, { headers: { cookie } });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject));
  return { socket, closed };
};
const links = () => rookery.json<{ id: string; role: string }[]>('workspace', 'links', 'ada');

it('lists links, takes one back, and leaves the others; terminals of that one end', async () => {
  const [first, second] = [await open(), await open('--view', '--hours', '1')];
  const [one, two] = await links();
  expect([one?.role, two?.role]).toEqual(['student', 'viewer']);
  const [mine, other] = [await terminal(first), await terminal(second)];
  expect((await get(first.state, first.cookie)).status).toBe(200);
  const revoked = await run('workspace', 'revoke-link', 'ada', one?.id ?? '');
  expect(revoked).toMatchObject({ code: 0, stdout: `link ${one?.id} into ada is revoked\n` });
  expect(await mine.closed).toEqual({ code: 4003, reason: 'this link has been revoked' });
  expect(await get(first.state, first.cookie)).toMatchObject({ status: 403, text: expect.stringContaining('revoked') });
  expect((await get(second.state, second.cookie)).status).toBe(200);
  expect(other.socket.readyState).toBe(WebSocket.OPEN);
  expect((await links()).map(({ id }) => id)).toEqual([two?.id]);

  // Over a restart, and all of them.
  expect(await run('down')).toMatchObject({ code: 0 });
  await up();
  const site = new URL((await open()).link).host;
  const again = (opened: Opened) => get(new URL(`http://${site}${opened.state.pathname}`), opened.cookie);
  expect((await again(first)).status).toBe(403);
  expect((await again(second)).status).toBe(200);
  expect(await run('workspace', 'revoke-link', 'ada', '--all')).toMatchObject({ code: 0 });
  expect((await again(second)).status).toBe(403);
  expect(await links()).toEqual([]);
  const fresh = await open();
  expect((await again(fresh)).status).toBe(200);
});

it('says what is wrong with a link or a key', async () => {
  const failing: [string[], number, RegExp][] = [
    [['workspace', 'revoke-link', 'ada'], 2, /name the links to revoke, or use --all/],
    [['workspace', 'revoke-link', 'ada', 'abc'], 2, /no valid link "abc"/],
    [['workspace', 'links', 'nobody'], 2, /there is no workspace "nobody"/],
    [['vault', 'rotate', 'everything'], 2, /no keys of the kind "everything"[\s\S]*data, links, tokens, clients, ca/],
    [['vault', 'revoke', 'not-a-file'], 2, /is no file and no serial number/],
    [['vault', 'revoke', 'AB', '-c', 'nothing'], 2, /there is no cluster/],
  ];
  for (const [args, code, said] of failing) {
    expect(await run(...args), args.join(' ')).toMatchObject({ code, stderr: expect.stringMatching(said) });
  }
});

it('exchanges the key of links: old links open until it is retired, which is refused while there are any', async () => {
  const before = await open();
  expect((await run('vault', 'rotate', 'links')).stdout).toContain('new keys are in use: links');
  const after = await open();
  for (const opened of [before, after]) expect((await get(opened.state, opened.cookie)).status).toBe(200);
  const refused = await run('vault', 'retire', 'links');
  expect(refused).toMatchObject({
    code: 75,
    stderr: expect.stringMatching(/needed by link [0-9a-f]{12} into ada, until/),
  });
  expect((await get(before.state, before.cookie)).status).toBe(200);
  expect(await run('vault', 'retire', 'links', '--force')).toMatchObject({ code: 0 });
  expect((await get(before.state, before.cookie)).status).toBe(403);
  expect((await get(after.state, after.cookie)).status).toBe(200);
});

it('does the same where no control plane runs, and what was sealed opens afterwards', async () => {
  expect(await run('down')).toMatchObject({ code: 0 });
  const { keys } = await rookery.json<{ keys: { kind: string; state: string }[] }>('vault', 'rotate');
  expect(keys.filter(({ state }) => state === 'old').map(({ kind }) => kind)).toContain('data');
  expect((await run('vault', 'status')).stdout).toMatch(
    /^KIND +STATE +KEY +AGE +NEEDED BY\ndata +in use +master key 2 /,
  );
  expect(await run('vault', 'retire', 'data', 'ca')).toMatchObject({ code: 0 });
  await up();
  expect((await open()).cookie).not.toBe('');
  expect(await run('workspace', 'list')).toMatchObject({ code: 0 });
  const { keys: kept } = JSON.parse(readFileSync(join(rookery.home, 'keys.json'), 'utf8'));
  expect(Object.keys(kept)).toEqual(['2']);
});

it('exchanges no lost key in passing: a person accepts a new one', async () => {
  expect(await run('down')).toMatchObject({ code: 0 });
  const file = join(rookery.home, 'pki', 'ca.pem');
  const before = readFileSync(file, 'utf8');
  rmSync(file);
  const refused = await run('vault', 'rotate', 'ca');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('rookery vault replace-lost ca');
  expect(existsSync(file)).toBe(false);
  expect(await run('vault', 'replace-lost', 'ca')).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).not.toContain(before.split('\n').slice(1, 6).join('\n'));
  const keys = join(rookery.home, 'keys.json');
  const kept = readFileSync(keys, 'utf8');
  rmSync(keys);
  expect((await run('vault', 'rotate', 'data')).code).not.toBe(0);
  writeFileSync(keys, kept, { mode: 0o600 });
  await up();
});

it('takes a certificate back by its file or its serial number', async () => {
  const file = join(rookery.home, 'jane.crt');
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      '/CN=jane',
      '-keyout',
      '/dev/null',
      '-out',
      file,
    ],
    { stdio: 'ignore' },
  );
  const serial = execFileSync('openssl', ['x509', '-noout', '-serial', '-in', file])
    .toString()
    .trim()
    .replace('serial=', '');
  expect(await rookery.json('vault', 'revoke', file)).toEqual({ serial, cluster: '', isNew: true });
  const colons = serial.toLowerCase().replace(/(..)(?=.)/g, '$1:');
  expect((await run('vault', 'revoke', colons)).stdout).toBe(
    `certificate ${serial} was refused by the control plane already\n`,
  );
  expect((await run('vault', 'status')).stdout).toContain(`revoked: certificate ${serial} of the control plane`);
});
