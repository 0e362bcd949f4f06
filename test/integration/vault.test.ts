/** Keys that are exchanged, retired and revoked under clients that go on working: curl, openssl, kubectl's formats and plain HTTPS. */
import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ROOT } from '../../src/apiserver/index.ts';
import { loadConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { KEY_KINDS } from '../../src/embedded/rotation-file.ts';
import { oid, sequence, set, utf8 } from '../../src/x509/der.ts';
import { Http } from '../harness/http.ts';
import { requestOf } from '../harness/odd-requests.ts';
import { expectStatus } from '../harness/unharmed.ts';

const run = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'rookery-vault-'));
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SECRETS = '/api/v1/namespaces/default/secrets';
const MAPS = '/api/v1/namespaces/default/configmaps';
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const VAULT = '/rookery/vault';

let plane: ControlPlane;
let http: Http;
let port: number;
const start = async () => {
  plane = await ControlPlane.start({ config: loadConfig({}, { home, port: port ?? 0 }) });
  port = Number(new URL(plane.url).port);
  await connect();
};
const connect = async () => {
  const { adminToken } = (await plane.clusters.ensure(ROOT)).credentials;
  http = new Http(plane.url, bundle(), adminToken);
};
beforeAll(start);
afterAll(async () => {
  await plane.close();
  rmSync(home, { recursive: true });
});

/** What a kubeconfig that is fetched now trusts. */
function bundle(): string {
  const text = readFileSync(join(home, 'kubeconfig'), 'utf8');
  return Buffer.from(/certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '', 'base64').toString();
}
const pemsIn = (text: string) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
const status = async () => (await http.get(VAULT)).json;
const rotate = async (...kinds: string[]) => {
  expect((await http.post(`${VAULT}/rotate`, { kinds })).status).toBe(200);
  await vi.waitFor(async () => expect((await status()).rotation).toBeUndefined(), { timeout: 30_000, interval: 50 });
};

/** A new connection by a client that trusts these CAs and nothing else; its exit code is 60 where it does not accept ours. */
async function curl(trusted: string, path: string, ...more: string[]): Promise<{ code: number; out: string }> {
  const file = join(home, 'trusted.pem');
  writeFileSync(file, trusted);
  try {
    const { stdout } = await run('curl', ['-sS', '--max-time', '20', '--cacert', file, ...more, `${plane.url}${path}`]);
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, out: stderr };
  }
}

async function tokenOf(account = 'default'): Promise<string> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
  return (await http.post(`/api/v1/namespaces/default/serviceaccounts/${account}/token`, request)).json.status.token;
}
const keyIdOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

async function certificateFor(user: string): Promise<{ cert: string; key: string }> {
  const text = (id: string, value: string) => set(sequence(oid(id), utf8(value)));
  const { pem, key } = requestOf(sequence(text('2.5.4.10', 'devs'), text('2.5.4.3', user)));
  const name = `csr-${user}`;
  const created = await http.post(REQUESTS, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'test' }];
  await http.put(`${REQUESTS}/${name}/approval`, { ...created.json, status: { conditions } });
  const cert = await vi.waitFor(async () => {
    const { certificate } = (await http.get(`${REQUESTS}/${name}`)).json.status;
    expect(certificate).toBeDefined();
    return Buffer.from(certificate, 'base64').toString();
  });
  return { cert, key };
}
const who = async (pair: { cert: string; key: string }) => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  return http.post(REVIEW, review, { token: null, ...pair });
};

describe('a rotation of everything', () => {
  let oldCa: string;
  let oldToken: string;
  let oldCert: { cert: string; key: string };

  it('leaves clients with old credentials at work, without a failed request', async () => {
    oldCa = bundle();
    oldToken = await tokenOf();
    oldCert = await certificateFor('jane');
    await plane.clusters.ensure('asleep');
    await plane.clusters.sleep('asleep');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } };
    await http.post(SECRETS, secret);
    const account = { 'kubernetes.io/service-account.name': 'default' };
    const type = 'kubernetes.io/service-account-token';
    await http.post(SECRETS, { ...secret, metadata: { name: 't', annotations: account }, stringData: undefined, type });
    const secretToken = async () =>
      Buffer.from((await http.get(`${SECRETS}/t`)).json.data.token ?? '', 'base64').toString();
    await vi.waitFor(async () => expect(await secretToken()).not.toBe(''));
    const before = await secretToken();

    const answers: number[] = [];
    let isDone = false;
    const load = (async () => {
      const ways = [{}, { token: oldToken }, { token: null, ...oldCert }];
      for (let i = 0; !isDone; i++) {
        const path = i % 3 === 0 ? `${SECRETS}/s` : '/version';
        answers.push((await http.get(path, ways[i % 3])).status);
      }
    })();
    const watch = await http.watch(`${MAPS}?watch=true&allowWatchBookmarks=false`);
    await rotate(...KEY_KINDS);
    isDone = true;
    await load;
    expect(answers.length).toBeGreaterThan(3);
    expect(new Set(answers)).toEqual(new Set([200]));
    await http.post(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'after' } });
    await vi.waitFor(async () => expect((await watch.next()).object.metadata.name).toBe('after'));
    watch.close();

    // Everything is there twice.
    const now = pemsIn(bundle());
    expect(now).toHaveLength(2);
    expect(now[1]).toBe(pemsIn(oldCa)[0]);
    for (const trusted of [oldCa, `${now[0]}\n`, bundle()]) {
      expect(await curl(trusted, '/livez', '-H', `Authorization: Bearer ${oldToken}`)).toEqual({ code: 0, out: 'ok' });
    }
    expect((await http.get('/openid/v1/jwks')).json.keys).toHaveLength(2);
    expect(keyIdOf(await tokenOf())).not.toBe(keyIdOf(oldToken));
    expect((await who(oldCert)).json.status.userInfo.username).toBe('jane');
    const fresh = await certificateFor('joe');
    expect(new X509Certificate(fresh.cert).issuer).not.toBe('');
    expect(new X509Certificate(fresh.cert).checkPrivateKey(createPrivateKey(fresh.key))).toBe(true);
    expect((await who(fresh)).json.status.userInfo.groups).toContain('devs');
    expect(keyIdOf(await secretToken())).not.toBe(keyIdOf(before));
    const maps = await http.get('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
    expect(maps.json.data['ca.crt']).toBe(bundle());
  });

  it('shows what needs the old keys, and refuses to retire them until then', async () => {
    const { keys } = await status();
    const old = (kind: string) =>
      keys.find((each: { kind: string; state: string }) => each.kind === kind && each.state === 'old');
    expect(old('tokens').neededBy).toEqual([expect.stringContaining('tokens of the root cluster, until')]);
    expect(old('clients').neededBy).toEqual([expect.stringContaining('certificates of the root cluster, until')]);
    expect(old('data').neededBy).toEqual([]);
    expect(old('ca').neededBy).toEqual([]);
    const refused = await http.post(`${VAULT}/retire`, { kinds: ['tokens', 'clients'] });
    expectStatus(refused, 409, 'Conflict', /tokens of the root cluster.*--force/s);
    expect((await http.get('/version', { token: oldToken })).status).toBe(200);
    mkdirSync(join(home, 'clusters'), { recursive: true });
    writeFileSync(
      join(home, 'clusters', 'copy.kubeconfig'),
      `certificate-authority-data: ${Buffer.from(oldCa).toString('base64')}\n`,
    );
    const copied = await http.post(`${VAULT}/retire`, { kinds: ['ca'] });
    expectStatus(copied, 409, 'Conflict', /copy\.kubeconfig/);
    rmSync(join(home, 'clusters', 'copy.kubeconfig'));
  });

  it('ends with the old ones: what they signed is refused, what is sealed opens', async () => {
    // The key of links is made when somebody first asks for it: there is no older one.
    expect((await http.post(`${VAULT}/retire`, { kinds: KEY_KINDS, force: true })).json.retired).toHaveLength(4);
    await connect();
    expectStatus(await http.get('/version', { token: oldToken }), 401);
    expectStatus(await who(oldCert), 401);
    expect((await curl(oldCa, '/livez')).code).toBe(60);
    expect((await curl(bundle(), '/version')).code).toBe(0);
    expect(pemsIn(bundle())).toHaveLength(1);
    expect((await http.get('/openid/v1/jwks')).json.keys).toHaveLength(1);
    expect(Object.keys(JSON.parse(readFileSync(join(home, 'keys.json'), 'utf8')).keys)).toEqual(['2']);
    await plane.close();
    await start();
    expect(Buffer.from((await http.get(`${SECRETS}/s`)).json.data.password, 'base64').toString()).toBe('hunter2');
    expect(await plane.clusters.peek('asleep', ({ credentials }) => credentials.adminToken)).toBeTruthy();
    expect((await status()).keys.filter((each: { state: string }) => each.state === 'old')).toEqual([]);
  });
});

it('keeps master keys that a cluster which cannot be read may need, and says so', async () => {
  await plane.clusters.ensure('hurt');
  await plane.clusters.sleep('hurt');
  await rotate('data');
  const file = join(home, 'data', 'clusters', 'hurt.db');
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.alloc(4096, 7));
  const { keys } = await status();
  const old = keys.find(({ kind, state }: { kind: string; state: string }) => kind === 'data' && state === 'old');
  expect(old.neededBy).toEqual([expect.stringContaining('cluster hurt, which cannot be read')]);
  expectStatus(await http.post(`${VAULT}/retire`, { kinds: ['data'], force: true }), 409, 'Conflict', /cluster hurt/);
  writeFileSync(file, whole);
  expect((await http.post(`${VAULT}/retire`, { kinds: ['data'] })).status).toBe(200);
  await plane.clusters.drop('hurt');
});

describe('a revoked certificate', () => {
  it('is refused by serial, its watches end, and others go on; also after a restart', async () => {
    const [ann, bob] = [await certificateFor('ann'), await certificateFor('bob')];
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'devs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name: 'devs', apiGroup: 'rbac.authorization.k8s.io' }],
    };
    await http.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding);
    const watchOf = (pair: object) => http.watch(`${MAPS}?watch=true`, { token: null, ...pair });
    const [annWatches, bobWatches] = [await watchOf(ann), await watchOf(bob)];
    await annWatches.next();
    await bobWatches.next();
    const { serialNumber: serial } = new X509Certificate(ann.cert);
    expect((await http.post(`${VAULT}/revoke`, { cluster: '', serial })).json).toEqual({ isNew: true });
    expect((await http.post(`${VAULT}/revoke`, { cluster: '', serial })).json).toEqual({ isNew: false });
    await expect(drained(annWatches)).resolves.toBeUndefined();
    expectStatus(await who(ann), 401);
    await http.post(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'for-bob' } });
    await vi.waitFor(async () => expect((await bobWatches.next()).object.metadata.name).toBe('for-bob'));
    bobWatches.close();
    await plane.close();
    await start();
    expectStatus(await who(ann), 401);
    expect((await who(bob)).status).toBe(201);
    expect((await status()).revokedCertificates).toEqual([expect.objectContaining({ cluster: '', serial })]);
  });

  it('ends HTTP/2 connections too, as kubectl has them', async () => {
    const { cert, key } = await certificateFor('kim');
    const session = connectHttp2(plane.url, { ca: bundle(), cert, key });
    const closed = new Promise<void>((resolve) => session.once('close', resolve));
    session.on('error', () => {});
    const stream = session.request({ ':path': `${MAPS}?watch=true` });
    stream.on('error', () => {});
    const ended = new Promise<void>((resolve) => stream.once('close', resolve));
    await new Promise((resolve) => stream.once('data', resolve));
    const { serialNumber: serial } = new X509Certificate(cert);
    expect((await http.post(`${VAULT}/revoke`, { cluster: '', serial })).json).toEqual({ isNew: true });
    await Promise.all([closed, ended]);
    expectStatus(await who({ cert, key }), 401);
  });

  it('and the vault itself are for administrators of the root cluster only', async () => {
    const token = await tokenOf();
    const { cert, key } = await certificateFor('eve');
    for (const ask of [{ token: null }, { token }, { token: null, cert, key }]) {
      for (const answer of [await http.get(VAULT, ask), await http.post(`${VAULT}/rotate`, { kinds: ['data'] }, ask)]) {
        expectStatus(answer, 403, 'Forbidden');
      }
    }
    const tenant = await plane.clusters.ensure('tenant');
    const own = new Http(`${plane.url}/clusters/tenant`, bundle(), tenant.credentials.adminToken);
    expect((await own.get(VAULT)).status).toBe(404);
    expect((await own.post(`${VAULT}/rotate`, { kinds: ['data'] })).status).toBe(405);
    for (const body of [{}, { kinds: [] }, { kinds: ['x'] }, { kinds: 'data' }, { kinds: ['__proto__'] }]) {
      expectStatus(await http.post(`${VAULT}/rotate`, body), 400);
    }
    for (const body of [{}, { cluster: '', serial: '../x' }, { cluster: 'none', serial: 'AB' }]) {
      expectStatus(await http.post(`${VAULT}/revoke`, body), 400);
    }
    expect((await status()).rotation).toBeUndefined();
  });
});

/** Resolves when the stream is over, however it ends. */
async function drained(watch: { next(): Promise<unknown> }): Promise<void> {
  for (;;) {
    try {
      await watch.next();
    } catch {
      return;
    }
  }
}
