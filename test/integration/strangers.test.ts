/** Callers without credentials of a tenant: they learn nothing about it, not even whether there is one, and wake nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createCa, issueClient } from '../../src/vault/certificates.ts';
import type { Answer, Ask } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PATHS = [
  '/api',
  '/version',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi/v2',
  '/nosuch',
  MAPS,
  `${MAPS}/a?timeout=x`,
  `${MAPS}?watch=1&resourceVersion=x`,
  '/apis/no.such/v1/things',
];

let server: TestServer;
let admin: string;
let asks: [string, Ask][];

beforeAll(async () => {
  server = await startServer();
  for (const name of ['awake', 'asleep', 'other']) await server.clusters.ensure(name);
  const other = await server.clusters.ensure('other');
  const binding = { namespace: 'default', serviceaccount: { name: 'default' } };
  const strange = issueClient(createCa('stranger', { clock: systemClock }), 'root', ['system:masters'], {
    clock: systemClock,
  });
  admin = (await server.clusters.ensure('asleep')).credentials.adminToken;
  asks = [
    ['nothing', { token: null }],
    ['garbage', { token: 'garbage' }],
    ['an empty token', { token: null, headers: { authorization: 'Bearer ' } }],
    ['another scheme', { token: null, headers: { authorization: 'Basic YTpi' } }],
    ['a token like that of an administrator', { token: 'A'.repeat(43) }],
    ['a token like that of a ServiceAccount', { token: other.tokens.issue(binding, other.tokens.audiences, 600) }],
    ["the token of another tenant's administrator", { token: other.credentials.adminToken }],
    ['the token of the administrator of all', { token: server.root.credentials.adminToken }],
    ['a certificate of another CA', { token: null, ...strange }],
    ['wrong impersonation', { token: 'garbage', headers: { 'impersonate-group': 'system:masters' } }],
  ];
  await server.clusters.sleep('asleep');
});
afterAll(() => server.close());

/** All of an answer that a client sees, but for what is different each time. */
const seen = ({ status, headers, text }: Answer) => {
  const { 'audit-id': _, date: __, ...rest } = headers;
  return { status, text, headers: rest };
};

describe('strangers', () => {
  it('hear the same of every tenant, there or not, awake or not', async () => {
    const root = await server.http();
    for (const [shown, ask] of asks) {
      for (const path of PATHS) {
        const [missing, ...others] = await Promise.all(
          ['missing', 'asleep', 'awake', 'Not-A-Name'].map((name) => root.get(`/clusters/${name}${path}`, ask)),
        );
        // A request that makes no sense is refused before anybody looks who asks.
        expect(missing?.status, `${shown} ${path}`).toBe(path.includes('timeout=x') ? 400 : 401);
        for (const other of others) expect(seen(other), `${shown} ${path}`).toEqual(seen(missing as Answer));
      }
    }
    expect(server.clusters.isAwake('asleep'), 'nobody woke it').toBe(false);
    expect(server.clusters.has('missing')).toBe(false);
    expect(server.errors).toEqual([]);
  });

  it('cannot write either', async () => {
    const root = await server.http();
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    for (const [shown, ask] of asks) {
      for (const name of ['missing', 'asleep', 'awake']) {
        expect((await root.post(`/clusters/${name}${MAPS}`, body, ask)).status, `${shown} ${name}`).toBe(401);
      }
    }
    expect(server.clusters.isAwake('asleep')).toBe(false);
  });
});

describe('credentials of a tenant that is asleep', () => {
  const woken = async (ask: Ask) => {
    await server.clusters.sleep('asleep');
    const { status } = await (await server.http()).get(`/clusters/asleep${MAPS}`, ask);
    return { status, awake: server.clusters.isAwake('asleep') };
  };

  it('wake it: a token, a ServiceAccount, a certificate', async () => {
    expect(await woken({ token: admin })).toEqual({ status: 200, awake: true });
    const tenant = await server.http('asleep');
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { token } = (await tenant.post(path, request)).json.status;
    const ca = createCa('clients', { clock: systemClock });
    (await server.clusters.ensure('asleep')).credentials.clientCas.replace(ca);
    const client = issueClient(ca, 'ada', ['system:masters'], { clock: systemClock });
    // The ServiceAccount may read nothing, and is known.
    expect(await woken({ token })).toEqual({ status: 403, awake: true });
    expect(await woken({ token: null, ...client })).toEqual({ status: 200, awake: true });
    expect(await woken({ token: `${token}x` })).toEqual({ status: 401, awake: false });
  });

  it('are known to the next process as well', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rookery-strangers-'));
    const first = await startServer({ folder });
    const { adminToken } = (await first.clusters.ensure('tenant')).credentials;
    await first.close();
    const second = await startServer({ folder });
    const http = await second.http();
    expect((await http.get(`/clusters/tenant${MAPS}`, { token: 'garbage' })).status).toBe(401);
    expect(second.clusters.isAwake('tenant')).toBe(false);
    expect((await http.get(`/clusters/tenant${MAPS}`, { token: adminToken })).status).toBe(200);
    await second.close();
    rmSync(folder, { recursive: true });
  });

  it('of one that was made anew under its name are other ones', async () => {
    await server.clusters.ensure('other');
    const old = (await server.clusters.ensure('other')).credentials.adminToken;
    const http = await server.http();
    await server.clusters.sleep('other');
    expect((await http.get(`/clusters/other${MAPS}`, { token: 'garbage' })).status).toBe(401);
    await server.clusters.drop('other');
    const { adminToken } = (await server.clusters.ensure('other')).credentials;
    await server.clusters.sleep('other');
    expect((await http.get(`/clusters/other${MAPS}`, { token: old })).status).toBe(401);
    expect((await http.get(`/clusters/other${MAPS}`, { token: adminToken })).status).toBe(200);
  });
});

it('a store that is damaged shows no path, to strangers and to its users', async () => {
  const { adminToken } = (await server.clusters.ensure('damaged')).credentials;
  await server.clusters.sleep('damaged');
  const file = join(server.folder, 'data', 'clusters', 'damaged.db');
  writeFileSync(file, 'this is not a database');
  const http = await server.http();
  expect((await http.get(`/clusters/damaged${MAPS}`, { token: null })).status).toBe(401);
  for (const token of [adminToken, 'garbage']) {
    const answer = await http.get(`/clusters/damaged${MAPS}`, { token });
    expect([401, 500, 503]).toContain(answer.status);
    for (const secret of [server.folder, 'damaged.db', 'SQLITE']) expect(answer.text).not.toContain(secret);
  }
  server.errors.splice(0);
});
