import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { RookeryError } from '../errors.ts';
import { harmlessKubeconfig, kubeconfigConnection } from './kubeconfig-data.ts';
import { RemoteStore } from './remote-store.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function config(user: object = { token: 't' }, cluster: object = {}, more: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'c', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'mine' } }],
    ...more,
  });
}
const at = (server: string) => config({ token: 't' }, { server });

it('takes credentials, certificates and an address', async () => {
  const text = config(
    { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY'), token: 't' },
    { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'api', 'insecure-skip-tls-verify': false },
  );
  const connection = await kubeconfigConnection(text, 'another machine');
  expect(connection).toMatchObject({ server: 'https://192.0.2.1:6443', ca: 'CA', cert: 'CERT', key: 'KEY' });
  expect(connection).toMatchObject({ serverName: 'api', namespace: 'mine' });
  expect(await connection.headers?.()).toEqual({ authorization: 'Bearer t' });
});

it.each([
  ['exec', config({ exec: { command: '/bin/touch', args: ['/tmp/x'] } })],
  ['auth-provider', config({ 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh' } } })],
  ['tokenFile', config({ tokenFile: '/root/.rookery/keys.json' })],
  ['client-certificate', config({ 'client-certificate': '/etc/ssl/cert.pem' })],
  ['client-key', config({ 'client-key': '/etc/ssl/key.pem' })],
  ['certificate-authority', config({}, { 'certificate-authority': '/etc/ssl/ca.pem' })],
  ['proxy-url', config({}, { 'proxy-url': 'http://192.0.2.9:3128' })],
  ['insecure-skip-tls-verify', config({}, { 'insecure-skip-tls-verify': true })],
  ['as', config({ token: 't', as: 'system:admin' })],
  ['as-groups', config({ token: 't', 'as-groups': ['system:masters'] })],
  ['as-user-extra', config({ token: 't', 'as-user-extra': { a: ['b'] } })],
  ['newField', config({ token: 't', newField: 'of a later version' })],
])('refuses %s, in the entry that is used and in any other', async (field, text) => {
  const refused = { code: 'KUBECONFIG_REFUSED', message: expect.stringContaining(`field ${field} `) };
  await expect(kubeconfigConnection(text, 'this machine')).rejects.toMatchObject(refused);
  await expect(harmlessKubeconfig(text)).rejects.toMatchObject(refused);
  const { users, clusters } = parse(text) as { users: object[]; clusters: object[] };
  const aside = {
    users: [
      { name: 'u', user: { token: 't' } },
      { ...users[0], name: 'other' },
    ],
  };
  const beside = {
    clusters: [
      { name: 'c', cluster: { server: 'https://192.0.2.1' } },
      { ...clusters[0], name: 'o' },
    ],
  };
  await expect(kubeconfigConnection(config({}, {}, { ...aside, ...beside }), 'this machine')).rejects.toMatchObject(
    refused,
  );
});

it.each([
  ['http://192.0.2.1:6443', 'not an https address'],
  ['file:///etc/passwd', 'not an https address'],
  ['https://user:pw@192.0.2.1', 'more than a host, a port and a path'],
  ['https://192.0.2.1/?x=1', 'more than a host, a port and a path'],
])('refuses the server %s', async (server, why) => {
  await expect(kubeconfigConnection(at(server), 'this machine')).rejects.toThrow(why);
});

const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
it.each([
  'https://127.0.0.1:7443',
  'https://localhost:7443',
  'https://api.localhost',
  'https://0x7f000001:7443',
  'https://[::1]:7443',
  'https://[::ffff:127.0.0.1]',
  'https://[64:ff9b::a9fe:a9fe]',
  'https://169.254.169.254',
  'https://168.63.129.16',
  ...own.filter(({ family }) => family === 'IPv4').map(({ address }) => `https://${address}:6443`),
])('keeps %s for clusters that are known to be on this machine', async (server) => {
  const refused = kubeconfigConnection(at(server), 'another machine');
  await expect(refused).rejects.toThrow('an address of the machine Rookery runs on');
  await expect(refused.catch((error: RookeryError) => error.hint)).resolves.toContain('--host-namespaces');
  expect((await kubeconfigConnection(at(server), 'this machine')).server).toBe(new URL(server).origin);
});

it('lets a tenant of our server be reached under its own path alone', async () => {
  const place = { tenant: 'team.demo' };
  const server = 'https://127.0.0.1:7443/clusters/team.demo';
  expect((await kubeconfigConnection(at(server), place)).server).toBe(server);
  for (const other of ['https://127.0.0.1:7443', 'https://127.0.0.1:7443/clusters/team.demo2', `${server}/../root`]) {
    await expect(kubeconfigConnection(at(other), place), other).rejects.toThrow('is not the tenant team.demo');
  }
});

it('judges a name by where it leads when it is called', async () => {
  let calls = 0;
  const listener = createServer(() => calls++).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  try {
    const { port } = listener.address() as AddressInfo;
    const connection = await kubeconfigConnection(at(`https://a-name-of-ours.test:${port}`), 'another machine');
    expect(connection.lookup).toBeDefined();
    const local = { ...connection, server: `https://localhost:${port}` };
    const store = new RemoteStore({ connection: local });
    const nodes = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
    await expect(store.list(nodes)).rejects.toThrow("may not reach addresses of the server's own machine");
    await store.close();
    expect(calls).toBe(0);
  } finally {
    listener.close();
  }
});

it.each([
  ['aliases that multiply', `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n`],
  ['a text that is too large', `# ${'x'.repeat(200_000)}`],
  [
    'keys without end',
    Array.from({ length: 30_000 }, (_, key) => `k${key}:`)
      .join('\n')
      .slice(0, 128 * 1024),
  ],
  ['nesting without end', '['.repeat(100_000)],
  ['several documents', '---\n'.repeat(30_000)],
  ['keys that are mappings', '? '.repeat(30_000)],
  ['mappings in a key', 'a: {?{?{?{?{?{?{?{?{?{a: b}}}}}}}}}}'],
  ['indentation without end', Array.from({ length: 900 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ['a list', '- a'],
  ['users that are no list', config({}, {}, { users: { a: 1 } })],
  ['a token that is no text', config({ token: { a: 1 } })],
  ['a token with a line break', config({ token: 'a\nx-remote-user: admin' })],
])('survives %s', async (_what, text) => {
  const started = process.cpuUsage();
  await expect(kubeconfigConnection(text, 'this machine')).rejects.toBeInstanceOf(RookeryError);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

it('writes anew what it has read, and nothing else', async () => {
  const text = config(
    { token: 't' },
    { extensions: [{ name: 'x', extension: { exec: 1 } }] },
    { preferences: { a: 1 } },
  );
  expect(parse(await harmlessKubeconfig(text, { server: 'https://192.0.2.7' }))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'main', cluster: { server: 'https://192.0.2.7' } }],
    users: [{ name: 'main', user: { token: 't' } }],
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'main', namespace: 'mine' } }],
  });
});
