import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { type Clock, systemRandom } from '../../clock.ts';
import { openStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { Authenticator } from './authenticator.ts';
import { bootstrapRbac } from './bootstrap-policy.ts';
import { RbacAuthorizer } from './rbac.ts';
import { type ReviewContext, review } from './reviews.ts';
import { generateServiceAccountKey, jwks, loadServiceAccountKey } from './service-account-key.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { issueToken } from './token-request.ts';

const clock: Clock = { now: () => Date.parse('2026-05-01T00:00:00Z'), after: () => () => {} };
const key = loadServiceAccountKey(generateServiceAccountKey());
const PODS = { verb: 'list', resource: 'pods', namespace: 'n' };
let store: Store;
let tokens: ServiceAccountTokens;
let context: ReviewContext;

const AUTHZ = 'authorization.k8s.io/v1';
const ask = (kind: string, spec: unknown, metadata = {}, apiVersion = AUTHZ): KubeObject =>
  review(kind, { apiVersion, kind, metadata, spec }, context);
const request = (spec: unknown, metadata = {}) =>
  issueToken({ store, clock, tokens }, 'n', 'sa', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata,
    spec,
  });

beforeEach(async () => {
  store = openStore(':memory:', { clock });
  const plural = (kind: string) => `rbac.authorization.k8s.io/${kind.toLowerCase()}s`;
  await store.write((tx) => {
    for (const object of bootstrapRbac()) {
      const { name = '', namespace = '' } = object.metadata;
      tx.put({ resource: plural(object.kind), namespace, name }, object);
    }
    tx.put(
      { resource: '/serviceaccounts', namespace: 'n', name: 'sa' },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa', namespace: 'n', uid: 'u1' } },
    );
  });
  tokens = new ServiceAccountTokens({
    store,
    clock,
    random: systemRandom,
    keys: [key],
    issuer: 'https://us',
    audiences: ['us'],
  });
  const authorizer = new RbacAuthorizer(store);
  const credentials = { clientCa: '', staticTokens: [] };
  context = {
    identity: { user: 'jane', groups: ['devs', 'system:authenticated'], extra: { k: ['v'] } },
    namespace: '',
    authorizer,
    authenticator: new Authenticator({ credentials, tokens, authorizer, clock }),
    clock,
  };
});
afterEach(() => store.close());

test('SelfSubjectReview and SelfSubjectAccessReview are about the caller', () => {
  expect(ask('SelfSubjectReview', {}).status.userInfo).toEqual({
    username: 'jane',
    groups: ['devs', 'system:authenticated'],
    extra: { k: ['v'] },
  });
  expect(ask('SelfSubjectAccessReview', { resourceAttributes: PODS }).status).toEqual({ allowed: false });
  const path = { nonResourceAttributes: { path: '/apis', verb: 'get' } };
  expect(ask('SelfSubjectAccessReview', path, { creationTimestamp: null }).status).toMatchObject({
    allowed: true,
    reason:
      'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
  });
});

test('SubjectAccessReview is about anyone', () => {
  const spec = { user: 'x', groups: ['system:masters'], resourceAttributes: PODS };
  expect(ask('SubjectAccessReview', spec).status.allowed).toBe(true);
  expect(() => ask('SubjectAccessReview', {})).toThrow(
    '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
  );
  expect(() => ask('SubjectAccessReview', spec, { name: 'x' })).toThrow('must be empty');
});

test('LocalSubjectAccessReview stays in its namespace', () => {
  context.namespace = 'n';
  const spec = { user: 'x', resourceAttributes: PODS };
  expect(ask('LocalSubjectAccessReview', spec, { namespace: 'n' }).status.allowed).toBe(false);
  expect(() => ask('LocalSubjectAccessReview', spec, { namespace: 'm' })).toThrow('must match metadata.namespace');
});

test('SelfSubjectRulesReview lists rules', () => {
  const { status } = ask('SelfSubjectRulesReview', { namespace: 'n' });
  expect(status.incomplete).toBe(false);
  expect(status.nonResourceRules[0].verbs).toEqual(['get']);
  expect(status.resourceRules.flatMap((r: { resources: string[] }) => r.resources)).toContain('selfsubjectreviews');
  expect(() => ask('SelfSubjectRulesReview', {})).toThrow('no namespace on request');
});

test('TokenRequest gives a token that TokenReview recognises', async () => {
  const { status, spec, metadata } = request({ audiences: ['vault'], expirationSeconds: 600 });
  expect(status.expirationTimestamp).toBe('2026-05-01T00:10:00Z');
  expect(metadata).toMatchObject({ name: 'sa', namespace: 'n', uid: 'u1' });
  expect(spec.expirationSeconds).toBe(600);
  const claims = JSON.parse(Buffer.from(status.token.split('.')[1], 'base64url').toString());
  expect(claims['kubernetes.io']).toEqual({ namespace: 'n', serviceaccount: { name: 'sa', uid: 'u1' } });
  const authn = 'authentication.k8s.io/v1';
  expect(ask('TokenReview', { token: status.token, audiences: ['vault'] }, {}, authn).status).toMatchObject({
    authenticated: true,
    audiences: ['vault'],
    user: { username: 'system:serviceaccount:n:sa', uid: 'u1' },
  });
  expect(ask('TokenReview', { token: status.token }, {}, authn).status.authenticated).toBeUndefined();
  expect(ask('TokenReview', { token: 'x' }, {}, authn).status).toEqual({ user: {}, error: 'invalid bearer token' });
  expect(() => ask('TokenReview', {}, {}, authn)).toThrow('token is required');
});

test('TokenRequest refuses what upstream refuses', () => {
  expect(() => request({ expirationSeconds: 10 })).toThrow(
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
  );
  expect(() => request({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } })).toThrow('pods "p" not found');
  expect(() => request({}, { uid: 'other' })).toThrow('does not match the UID of the service account (u1)');
  expect(() => request({}, { name: 'other' })).toThrow('must match the service account name if specified');
});

test('a token is bound only to what the ServiceAccount has to do with', async () => {
  await store.write((tx) => {
    const put = (resource: string, kind: string, name: string, spec: object) =>
      tx.put(
        { resource, namespace: 'n', name },
        { apiVersion: 'v1', kind, metadata: { name, namespace: 'n', uid: `${name}-uid` }, spec },
      );
    put('/pods', 'Pod', 'own', { serviceAccountName: 'sa', nodeName: 'node' });
    put('/pods', 'Pod', 'other', { serviceAccountName: 'else' });
    put('/secrets', 'Secret', 's', {});
  });
  const bind = (kind: string, name: string, uid?: string) =>
    request({ boundObjectRef: { apiVersion: 'v1', kind, name, uid } });
  const { token } = bind('Pod', 'own').status;
  expect(tokens.verify(token).binding).toMatchObject({ pod: { name: 'own', uid: 'own-uid' }, node: { name: 'node' } });
  expect(() => bind('Pod', 'other')).toThrow('to pod running with different serviceaccount name.');
  expect(() => bind('Pod', 'own', 'another')).toThrow('The object might have been deleted and then recreated');
  expect(() => bind('ConfigMap', 'c')).toThrow('cannot bind token to object of type /v1, Kind=ConfigMap');
  const secret = bind('Secret', 's').status.token;
  expect(tokens.verify(secret).binding?.secret).toEqual({ name: 's', uid: 's-uid' });
  await store.write((tx) => tx.delete({ resource: '/secrets', namespace: 'n', name: 's' }));
  expect(() => tokens.verify(secret)).toThrow('invalidated');
});

test('whoever has the published keys can check our tokens', async () => {
  const [header = '', payload = '', signature = ''] = String(request({}).status.token).split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const published = jwks([key]).keys.find((jwk) => jwk.kid === kid);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('jwk', published ?? {}, algorithm, false, ['verify']);
  const check = (text: string) =>
    crypto.subtle.verify(algorithm, imported, Buffer.from(signature, 'base64url'), Buffer.from(text));
  expect(await check(`${header}.${payload}`)).toBe(true);
  expect(await check(`${header}.${payload}x`)).toBe(false);
});
