import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { inClusterConnection, type KubeconfigSource, loadKubeconfig } from './kubeconfig.ts';
import { FakeClock } from './testing/fake-clock.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function config(cluster: object, user: object, context: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'c', cluster: { server: 'https://example.test:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', ...context } },
      { name: 'anonymous', context: { cluster: 'c' } },
    ],
  });
}

describe('loadKubeconfig', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const load = async (text: string, options: Omit<KubeconfigSource, 'file'> = {}) => {
    const file = join(folder, 'written');
    await writeFile(file, text);
    return await loadKubeconfig({ file, ...options });
  };

  it('reads data: certificates, names, prefixes', async () => {
    const data = config(
      {
        server: 'https://127.0.0.1:6443/clusters/demo/',
        'certificate-authority-data': base64('CA'),
        'tls-server-name': 'api.local',
      },
      { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      { namespace: 'mine' },
    );
    const { headers, ...rest } = await load(data);
    expect(rest).toMatchObject({
      server: 'https://127.0.0.1:6443/clusters/demo',
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      serverName: 'api.local',
      namespace: 'mine',
    });
    expect(await headers?.()).toEqual({});
  });

  it('reads files beside the kubeconfig', async () => {
    await writeFile(join(folder, 'ca.crt'), 'CA');
    const file = join(folder, 'config');
    await writeFile(file, config({ 'certificate-authority': 'ca.crt', 'insecure-skip-tls-verify': true }, {}));
    expect(await loadKubeconfig({ file })).toMatchObject({ ca: 'CA', insecure: true });
  });

  it('sends tokens, passwords and whom to impersonate', async () => {
    const of = async (user: object) => (await load(config({}, user))).headers?.();
    expect(await of({ token: 't' })).toEqual({ authorization: 'Bearer t' });
    expect(await of({ username: 'me', password: 'x' })).toEqual({ authorization: `Basic ${base64('me:x')}` });
    expect(await of({ token: 't', as: 'ann', 'as-groups': ['g', 'h'], 'as-user-extra': { 'a/b': ['1'] } })).toEqual({
      authorization: 'Bearer t',
      'impersonate-user': 'ann',
      'impersonate-group': ['g', 'h'],
      'impersonate-extra-a%2fb': ['1'],
    });
  });

  it('reads a token file again when it may have changed', async () => {
    const clock = new FakeClock();
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'one\n');
    const { headers } = await load(config({}, { tokenFile, token: 'ignored' }), { clock });
    expect(await headers?.()).toEqual({ authorization: 'Bearer one' });
    await writeFile(tokenFile, 'two\n');
    expect(await headers?.()).toEqual({ authorization: 'Bearer one' });
    await clock.advance(10_000);
    expect(await headers?.()).toEqual({ authorization: 'Bearer two' });
    await rm(tokenFile);
    await clock.advance(10_000);
    expect(await headers?.()).toEqual({ authorization: 'Bearer two' });
  });

  it('runs exec plugins', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-plugin' },
    };
    const args = ['-e', `console.log(${JSON.stringify(JSON.stringify(credential))})`];
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args,
      interactiveMode: 'Never',
    };
    const { headers } = await load(config({}, { exec }));
    expect(await headers?.()).toEqual({ authorization: 'Bearer from-plugin' });
  });

  it('takes another context when asked', async () => {
    const { headers } = await load(config({}, { token: 't' }), { context: 'anonymous' });
    expect(await headers?.()).toEqual({});
  });

  it.each([
    ['a missing context', config({}, {}), 'nope', /no context "nope"/],
    ['no mapping', 'just text', undefined, /not a mapping/],
    ['no server', config({ server: undefined }, {}), undefined, /no server/],
    ['a missing user', config({}, {}, { user: 'ghost' }), undefined, /no user "ghost"/],
  ])('explains %s', async (_text, text, context, message) => {
    await expect(load(text, { context })).rejects.toThrow(message);
  });

  it('explains a missing file', async () => {
    await expect(loadKubeconfig({ file: '/nowhere/config' })).rejects.toThrow(/Cannot read \/nowhere\/config/);
  });

  it("reads a pod's service account", async () => {
    const directory = folder;
    for (const [name, text] of Object.entries({ token: 'pod', 'ca.crt': 'CA', namespace: 'here\n' })) {
      await writeFile(join(directory, name), text);
    }
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const connection = await inClusterConnection({ env, directory });
    expect(connection).toMatchObject({ server: 'https://[fd00::1]:6443', ca: 'CA', namespace: 'here' });
    expect(await connection.headers?.()).toEqual({ authorization: 'Bearer pod' });
    await expect(inClusterConnection({ env: {}, directory })).rejects.toThrow(/Not in a cluster/);
  });
});
