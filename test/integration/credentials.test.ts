/** Credentials that are wrong in every way we can think of: 401, and nobody becomes anybody else. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createCa, issueClient } from '../../src/vault/certificates.ts';
import { expectStatus, MAPS, unharmedServer } from '../harness/unharmed.ts';

const scene = unharmedServer();

describe('credentials', () => {
  const tampered = (token: string, part: number) => {
    const parts = token.split('.');
    const bytes = Buffer.from(parts[part] as string, 'base64url');
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] as number) ^ 1;
    parts[part] = bytes.toString('base64url');
    return parts.join('.');
  };

  it('forged, tampered, expired and foreign tokens: 401', async () => {
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const good: string = (await scene.http.post(path, request)).json.status.token;
    expect((await scene.http.get('/version', { token: good })).status).toBe(200);
    const claims = JSON.parse(Buffer.from(good.split('.')[1] as string, 'base64url').toString());
    const unsigned = (header: object, payload: object) =>
      `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.`;
    const other = await scene.server.clusters.ensure('other');
    const binding = claims['kubernetes.io'];
    const bad = [
      'x',
      'a.b.c',
      '..',
      '.'.repeat(1000),
      'é'.repeat(10),
      tampered(good, 0),
      tampered(good, 1),
      tampered(good, 2),
      `${good}x`,
      `${good}!`,
      `${good}=`,
      unsigned({ alg: 'none' }, claims),
      unsigned({ alg: 'HS256' }, claims),
      other.tokens.issue(binding, other.tokens.audiences, 600),
      scene.server.root.tokens.issue(binding, scene.server.root.tokens.audiences, -120),
      scene.server.root.tokens.issue(binding, ['https://elsewhere'], 600),
    ];
    for (const token of bad) {
      const authorization = Buffer.from(`Bearer ${token}`).toString('latin1');
      const answer = await scene.http.get(MAPS, { token: null, headers: { authorization } });
      expectStatus(answer, 401, 'Unauthorized');
    }
    for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', 'bearer', 'Negotiate x']) {
      const answer = await scene.http.get(MAPS, { token: null, headers: { authorization } });
      expect([401, 403], `${authorization} ${answer.text}`).toContain(answer.status);
      expectStatus(answer, answer.status);
    }
    // Nobody in particular may look at the version, and at nothing else.
    expectStatus(await scene.http.get(MAPS, { token: null }), 403, 'Forbidden', /User "system:anonymous" cannot list/);
    expect((await scene.http.get('/version', { token: null })).status).toBe(200);
    await scene.server.clusters.drop('other');
  });

  it('a token ends with its ServiceAccount', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await scene.http.post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'short' } });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const token = (await scene.http.post(`${accounts}/short/token`, request)).json.status.token;
    expect((await scene.http.get('/api', { token })).status).toBe(200);
    await scene.http.delete(`${accounts}/short`);
    expectStatus(await scene.http.get('/api', { token }), 401);
  });

  it('certificates of another CA, expired ones, and other clusters’ ones: 401', async () => {
    const stranger = issueClient(createCa('stranger', { clock: systemClock }), 'root', ['system:masters'], {
      clock: systemClock,
    });
    expectStatus(await scene.http.get(MAPS, { token: null, ...stranger }), 401);
    const ca = createCa('clients', { clock: systemClock });
    scene.server.root.credentials.clientCas.replace(ca);
    const good = issueClient(ca, 'root', ['system:masters'], { clock: systemClock });
    expect((await scene.http.get(MAPS, { token: null, ...good })).status).toBe(200);
    const old = { ...systemClock, now: () => systemClock.now() - 400 * 86_400_000 };
    expectStatus(
      await scene.http.get(MAPS, { token: null, ...issueClient(ca, 'root', ['system:masters'], { clock: old }) }),
      401,
    );
    const tenant = await scene.server.http('elsewhere');
    expectStatus(await tenant.get(MAPS, { token: null, ...good }), 401);
    await scene.server.clusters.drop('elsewhere');
  });

  it('impersonation is checked, header by header', async () => {
    const token = (
      await scene.http.post('/api/v1/namespaces/default/serviceaccounts/default/token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      })
    ).json.status.token;
    expectStatus(await scene.http.get(MAPS, { token, headers: { 'impersonate-user': 'kubernetes-admin' } }), 403);
    expectStatus(await scene.http.get(MAPS, { headers: { 'impersonate-group': 'system:masters' } }), 400, 'BadRequest');
    expectStatus(await scene.http.get(MAPS, { headers: { 'impersonate-user': 'jane' } }), 403);
    const both = { 'impersonate-user': 'jane', 'impersonate-group': ['a', 'system:masters'] };
    expect((await scene.http.get(MAPS, { headers: both })).status).toBe(200);
    scene.server.errors.splice(0);
  });
});
