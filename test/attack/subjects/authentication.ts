/** Who the server believes somebody is: forged, foreign, withdrawn and smuggled credentials. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { type Attack, held, refused, type Subject } from '../attack.ts';
import { done, hasCanary, NAMESPACE, named, type Scene } from '../scene.ts';

const SECRETS = '/api/v1/secrets';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());

/** A token of the attacker with other claims, signed in a way of the attacker's choice. */
function forged(token: string, header: object, signature: (input: string) => string): string {
  const [head, body] = token.split('.');
  const claims = decode(body);
  claims.sub = 'system:serviceaccount:kube-system:clusterrole-aggregation-controller';
  const input = `${encode({ ...decode(head), ...header })}.${encode(claims)}`;
  return `${input}.${signature(input)}`;
}

function withToken(name: string, token: (scene: Scene) => string): Attack {
  return {
    name,
    run: async (scene) => refused(await scene.root.http.get(SECRETS, { token: token(scene) }), 401),
  };
}

/** Headers that proxies in front of an API server set; without such a proxy, they are an attacker's. */
function withHeaders(name: string, headers: Record<string, string | string[]>): Attack {
  return {
    name,
    run: async ({ tenant, stranger }) => {
      refused(await tenant.http.get(SECRETS, { headers }), 400, 401, 403);
      refused(await stranger.get(SECRETS, { headers }), 400, 401, 403);
    },
  };
}

async function withdrawnToken(scene: Scene, withdraw: (place: string) => Promise<unknown>): Promise<void> {
  const place = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await done(scene.root.http.post(place, named('v1', 'ServiceAccount', 'leaver')));
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const token = (await done(scene.root.http.post(`${place}/leaver/token`, request))).json.status.token;
  await withdraw(place);
  try {
    refused(await scene.root.http.get('/api', { token }), 401);
  } finally {
    await scene.root.http.delete(`${place}/leaver`);
  }
}

export const authentication: Subject = {
  name: 'authentication',
  attacks: [
    {
      name: 'sends no credential',
      run: async ({ stranger }) => refused(await stranger.get(SECRETS), 401, 403),
    },
    withToken('sends a token of random characters', () => 'x'.repeat(40)),
    withToken('sends a token with a NUL byte in base64url', () => `${encode('\0')}.${encode('\0')}.`),
    withToken('sends a token of 10,000 characters', () => 'a.'.repeat(5_000)),
    withToken("sends red's administrator token with one character more", ({ red }) => `${red.token}x`),
    {
      name: "sends red's administrator token to the installation's own API",
      run: async ({ root, red }) => {
        const answer = await root.http.get(SECRETS, { token: red.token });
        held(!hasCanary(answer.text), `answered ${answer.status} with Secrets of the installation`);
      },
    },
    withToken('sends a JWT with alg none', ({ tenant }) => forged(tenant.token, { alg: 'none' }, () => '')),
    withToken('sends a JWT with alg None and a signature', ({ tenant }) =>
      forged(tenant.token, { alg: 'None' }, () => tenant.token.split('.')[2] as string),
    ),
    withToken('sends a JWT with changed claims and the old signature', ({ tenant }) =>
      forged(tenant.token, {}, () => tenant.token.split('.')[2] as string),
    ),
    withToken('signs a JWT with the public certificate as an HMAC key', ({ tenant, ca }) =>
      forged(tenant.token, { alg: 'HS256' }, (input) => createHmac('sha256', ca).update(input).digest('base64url')),
    ),
    withToken('signs a JWT with a key of its own and names it in the header', ({ tenant }) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwk = publicKey.export({ format: 'jwk' });
      return forged(tenant.token, { alg: 'ES256', jwk, kid: '../../../dev/null' }, (input) =>
        sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
      );
    }),
    {
      name: 'uses the token of a deleted ServiceAccount',
      run: (scene) => withdrawnToken(scene, (place) => done(scene.root.http.delete(`${place}/leaver`))),
    },
    {
      name: 'uses the token of a ServiceAccount that was deleted and made again',
      run: (scene) =>
        withdrawnToken(scene, async (place) => {
          await done(scene.root.http.delete(`${place}/leaver`));
          await done(scene.root.http.post(place, named('v1', 'ServiceAccount', 'leaver')));
        }),
    },
    {
      name: 'puts the token of an administrator into the query',
      run: async ({ root, stranger }) =>
        refused(await stranger.get(`${SECRETS}?access_token=${root.token}&token=${root.token}`), 401, 403),
    },
    {
      name: 'sends an administrator token as basic authentication',
      run: async ({ root, stranger }) =>
        refused(
          await stranger.get(SECRETS, {
            headers: { authorization: `Basic ${Buffer.from(`admin:${root.token}`).toString('base64')}` },
          }),
          401,
          403,
        ),
    },
    withHeaders('claims to be system:admin by X-Remote-User', {
      'x-remote-user': 'system:admin',
      'x-remote-group': 'system:masters',
    }),
    withHeaders('impersonates a member of system:masters', {
      'impersonate-user': 'x',
      'impersonate-group': 'system:masters',
    }),
    withHeaders('impersonates by groups alone', { 'impersonate-group': 'system:masters' }),
    withHeaders('impersonates a controller by its user id', {
      'impersonate-user': 'system:serviceaccount:kube-system:generic-garbage-collector',
      'impersonate-uid': '1',
      'impersonate-extra-scopes': 'all',
    }),
    {
      name: "sends red's token to blue",
      run: async ({ red, blue }) => refused(await blue.http.get(SECRETS, { token: red.token }), 401),
    },
    {
      name: "sends a tenant's ServiceAccount token to red",
      run: async ({ tenant, red }) => refused(await red.http.get(SECRETS, { token: tenant.token }), 401),
    },
    {
      name: 'asks which user a foreign token belongs to',
      run: async ({ tenant, root }) =>
        refused(
          await tenant.http.post('/apis/authentication.k8s.io/v1/tokenreviews', {
            ...named('authentication.k8s.io/v1', 'TokenReview', ''),
            spec: { token: root.token },
          }),
          403,
        ),
    },
    {
      name: 'compares the answers for a missing and an existing tenant without a credential',
      run: async ({ stranger }) => {
        const [existing, missing] = await Promise.all([
          stranger.get('/clusters/blue/api/v1/pods'),
          stranger.get('/clusters/no-such-cluster/api/v1/pods'),
        ]);
        held(
          existing.status === missing.status && existing.text === missing.text,
          `they differ: ${existing.status} ${existing.text} and ${missing.status} ${missing.text}`,
        );
      },
    },
  ],
};
