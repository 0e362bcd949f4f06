import 'reflect-metadata';
import { type webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, rfc3339, systemRandom } from '../../clock.ts';
import { openStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { Authenticator, type Credentials, hashToken } from './authenticator.ts';
import type { Attributes } from './identity.ts';
import { impersonate, readImpersonation } from './impersonation.ts';
import { RbacAuthorizer } from './rbac.ts';
import { generateServiceAccountKey, loadServiceAccountKey } from './service-account-key.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const NOW = Date.parse('2026-05-01T00:00:00Z');

interface Ca {
  keys: webcrypto.CryptoKeyPair;
  certificate: x509.X509Certificate;
}

async function makeCa(name: string): Promise<Ca> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    notBefore: new Date(NOW - 1000),
    notAfter: new Date(NOW + 1e9),
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true)],
  });
  return { keys, certificate };
}

async function issue(ca: Ca, subject: string, usage: string, lifetime = 1e8): Promise<X509Certificate> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: ca.certificate.subject,
    publicKey: keys.publicKey,
    signingKey: ca.keys.privateKey,
    notBefore: new Date(NOW - 1000),
    notAfter: new Date(NOW + lifetime),
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.ExtendedKeyUsageExtension([usage])],
  });
  return new X509Certificate(certificate.toString('pem'));
}

let now = NOW;
const clock: Clock = { now: () => now, after: () => () => {} };
let store: Store;
let ca: Ca;
let tokens: ServiceAccountTokens;
let authenticator: Authenticator;
let credentials: Credentials;

function put(
  resource: string,
  kind: string,
  namespace: string,
  name: string,
  uid: string,
  more = {},
): Promise<unknown> {
  return store.write((tx) =>
    tx.put({ resource, namespace, name }, { apiVersion: 'v1', kind, metadata: { name, namespace, uid, ...more } }),
  );
}

beforeEach(async () => {
  now = NOW;
  store = openStore(':memory:', { clock });
  ca = await makeCa('CN=tenant-ca');
  const keys = [loadServiceAccountKey(generateServiceAccountKey())];
  tokens = new ServiceAccountTokens({
    store,
    clock,
    random: systemRandom,
    keys,
    issuer: 'https://us',
    audiences: ['us'],
  });
  credentials = {
    clientCa: ca.certificate.toString('pem'),
    staticTokens: [{ sha256: hashToken('s3cret'), user: 'root', groups: ['system:masters'] }],
  };
  authenticator = new Authenticator({
    credentials,
    tokens,
    authorizer: new RbacAuthorizer(store),
    clock,
  });
  await put('/serviceaccounts', 'ServiceAccount', 'n', 'sa', 'u1');
});
afterEach(() => store.close());

const bearer = (token: string) => authenticator.authenticate({ authorization: `Bearer ${token}` });
const certified = (certificate: X509Certificate, authorization?: string) =>
  authenticator.authenticate({ peerCertificate: () => certificate, authorization });

test('a certificate of the own CA names user and groups', async () => {
  const certificate = await issue(ca, 'O=devs, O=ops, CN=jane', CLIENT_AUTH);
  expect(certified(certificate)).toMatchObject({ user: 'jane', groups: ['devs', 'ops', 'system:authenticated'] });
  now += 2e8;
  expect(() => certified(certificate)).toThrow('Unauthorized');
});

test('a CN that looks like more fields stays one name', async () => {
  const certificate = await issue(ca, 'CN=jane\\,O=system:masters', CLIENT_AUTH);
  expect(certified(certificate)).toMatchObject({ user: 'jane,O=system:masters', groups: ['system:authenticated'] });
});

test('of several common names the last one counts', async () => {
  const certificate = await issue(ca, 'CN=system:admin, CN=jane', CLIENT_AUTH);
  expect(certified(certificate).user).toBe('jane');
});

test('a certificate of another tenant’s CA, of the wrong purpose or without a name is 401', async () => {
  const other = await makeCa('CN=tenant-ca');
  for (const bad of [
    await issue(other, 'O=system:masters, CN=jane', CLIENT_AUTH),
    await issue(ca, 'CN=jane', SERVER_AUTH),
    await issue(ca, 'O=devs', CLIENT_AUTH),
  ]) {
    expect(() => certified(bad)).toThrow('Unauthorized');
    expect(certified(bad, 'Bearer s3cret').user).toBe('root');
  }
});

test('static tokens; wrong ones are 401; no credentials are anonymous', () => {
  expect(bearer('s3cret')).toEqual({ user: 'root', groups: ['system:masters', 'system:authenticated'] });
  expect(() => bearer('s3cre')).toThrow('Unauthorized');
  expect(() => bearer('a.b.c')).toThrow('Unauthorized');
  expect(authenticator.authenticate({}).user).toBe('system:anonymous');
  expect(authenticator.authenticate({ authorization: 'Basic abc' }).user).toBe('system:anonymous');
});

test('a ServiceAccount token lives as long as its ServiceAccount, cached or not', async () => {
  const token = tokens.issue({ namespace: 'n', serviceaccount: { name: 'sa', uid: 'u1' } }, ['us'], 3600);
  expect(bearer(token)).toMatchObject({
    user: 'system:serviceaccount:n:sa',
    uid: 'u1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
  });
  await put('/serviceaccounts', 'ServiceAccount', 'n', 'sa', 'u2');
  expect(() => bearer(token)).toThrow('Unauthorized');
  await put('/serviceaccounts', 'ServiceAccount', 'n', 'sa', 'u1');
  expect(bearer(token).uid).toBe('u1');
  now += 3600_000 + 61_000;
  expect(() => bearer(token)).toThrow('Unauthorized');
});

test('a token bound to a pod dies with the pod', async () => {
  await put('/pods', 'Pod', 'n', 'p', 'pu');
  const binding = { namespace: 'n', serviceaccount: { name: 'sa', uid: 'u1' }, pod: { name: 'p', uid: 'pu' } };
  const token = tokens.issue(binding, ['us'], 3600);
  expect(bearer(token).extra).toMatchObject({ 'authentication.kubernetes.io/pod-name': ['p'] });
  await put('/pods', 'Pod', 'n', 'p', 'pu', { deletionTimestamp: rfc3339(now - 61_000) });
  expect(() => bearer(token)).toThrow('Unauthorized');
});

test('forged, foreign and re-audienced tokens are refused', () => {
  const token = tokens.issue({ namespace: 'n', serviceaccount: { name: 'sa', uid: 'u1' } }, ['us'], 3600);
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:n:admin' })).toString('base64url');
  expect(() => bearer(`${header}.${forged}.${signature}`)).toThrow('Unauthorized');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  expect(() => bearer(`${none}.${payload}.`)).toThrow('Unauthorized');
  const keys = [loadServiceAccountKey(generateServiceAccountKey())];
  const foreign = new ServiceAccountTokens({
    store,
    clock,
    random: systemRandom,
    keys,
    issuer: 'https://us',
    audiences: ['us'],
  });
  const binding = { namespace: 'n', serviceaccount: { name: 'sa', uid: 'u1' } };
  expect(() => bearer(foreign.issue(binding, ['us'], 3600))).toThrow('Unauthorized');
  const vault = tokens.issue(binding, ['vault'], 3600);
  expect(() => bearer(vault)).toThrow('Unauthorized');
  expect(authenticator.verifyToken(vault, ['vault']).audiences).toEqual(['vault']);
});

test('impersonation needs the verb for each part', async () => {
  const wanted = readImpersonation({ 'impersonate-user': ['jane'], 'impersonate-group': ['devs', 'a,b'] });
  expect(authenticator.authenticate({ authorization: 'Bearer s3cret', impersonation: wanted })).toEqual({
    user: 'jane',
    groups: ['devs', 'a,b', 'system:authenticated'],
  });
  const certificate = await issue(ca, 'CN=joe', CLIENT_AUTH);
  const attempt = () => authenticator.authenticate({ peerCertificate: () => certificate, impersonation: wanted });
  expect(attempt).toThrow(
    'users "jane" is forbidden: User "joe" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
});

test('impersonation headers', () => {
  expect(readImpersonation({})).toBeUndefined();
  expect(() => readImpersonation({ 'impersonate-group': ['g'] })).toThrow('without impersonating a user');
  const all = {
    'impersonate-user': ['u'],
    'impersonate-extra-acme.com%2fproject': ['a', 'b'],
    'impersonate-uid': ['7'],
  };
  expect(readImpersonation(all)).toEqual({
    user: 'u',
    uid: '7',
    groups: [],
    extra: { 'acme.com/project': ['a', 'b'] },
  });
});

test('impersonating a ServiceAccount brings its groups', () => {
  const wanted = readImpersonation({ 'impersonate-user': ['system:serviceaccount:n:sa'] });
  expect(authenticator.authenticate({ authorization: 'Bearer s3cret', impersonation: wanted }).groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:n',
    'system:authenticated',
  ]);
});

test('uid and extra are impersonated with rights of their own', () => {
  const caller = { user: 'joe', groups: [] };
  const asked: string[] = [];
  const only = (...resources: string[]) => ({
    authorize: (_: unknown, { group, resource = '', subresource, name }: Attributes) => {
      asked.push([group, resource, subresource, name].join(' '));
      return { allowed: resources.includes(resource), reason: '' };
    },
  });
  const wanted = { user: 'u', uid: '7', groups: ['g'], extra: { 'acme.com/project': ['a'] } };
  expect(impersonate(only('users', 'groups', 'uids', 'userextras'), caller, wanted)).toMatchObject({ uid: '7' });
  expect(asked).toEqual([
    ' users  u',
    ' groups  g',
    'authentication.k8s.io userextras acme.com/project a',
    'authentication.k8s.io uids  7',
  ]);
  expect(() => impersonate(only('users', 'groups', 'uids'), caller, wanted)).toThrow('userextras/acme.com/project');
  expect(() => impersonate(only('users', 'groups', 'userextras'), caller, wanted)).toThrow('resource "uids"');
  expect(() => impersonate(only('users', 'uids', 'userextras'), caller, wanted)).toThrow('resource "groups"');
});

test('another client CA ends what the first one said', async () => {
  const certificate = await issue(ca, 'CN=jane', CLIENT_AUTH);
  expect(certified(certificate).user).toBe('jane');
  credentials.clientCa = (await makeCa('CN=new')).certificate.toString('pem');
  expect(() => certified(certificate)).toThrow('Unauthorized');
});
