/** A control plane that is killed again and again while its keys are exchanged: every start goes on, and nothing that was sealed or signed is lost. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { Http } from '../harness/http.ts';
import { Rookery, type Running } from '../harness/rookery.ts';

const rookery = new Rookery();
const SECRETS = '/api/v1/namespaces/default/secrets';
const VAULT = '/rookery/vault';
const TENANTS = ['one', 'two', 'three'];
const COUNT = 120;
/** Of the kills, after the rotation was asked for: from at once to when it is done on a machine that has nothing else to do. */
const DELAYS_MS = [0, 5, 10, 20, 40, 80, 160, 320];

let running: Running;
afterAll(() => rookery.close());

const trusted = (file: string) => {
  const text = readFileSync(file, 'utf8');
  const field = (name: string) => new RegExp(`${name}: "?([^"\\s]+)`).exec(text)?.[1] ?? '';
  return { ca: Buffer.from(field('certificate-authority-data'), 'base64').toString(), token: field('token') };
};
const client = (ca: string, token: string, cluster = '') => {
  const state = JSON.parse(readFileSync(join(rookery.home, 'state.json'), 'utf8')) as { url: string };
  return new Http(cluster ? `${state.url}/clusters/${cluster}` : state.url, ca, token);
};
async function start(): Promise<void> {
  running = rookery.start('up', '--no-demo');
  await vi.waitFor(() => expect(running.said()).toContain('Rookery is up'), { timeout: 60_000, interval: 20 });
}
async function kill(): Promise<void> {
  running.child.kill('SIGKILL');
  await running.ended;
}

it('goes on after kill -9 at any moment, with everything readable and all clients at work', async () => {
  await start();
  const { ca, token } = trusted(join(rookery.home, 'kubeconfig'));
  for (const name of TENANTS) {
    const { code, stderr } = await rookery.run('cluster', 'create', name);
    expect(code, stderr).toBe(0);
  }
  const tenants = TENANTS.map((name) => ({ name, ...trusted(join(rookery.home, 'clusters', `${name}.kubeconfig`)) }));
  const tokens = new Map<string, string>();
  for (const tenant of tenants) {
    const http = client(ca, tenant.token, tenant.name);
    for (let i = 0; i < COUNT; i++) {
      const object = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `s${i}` },
        stringData: { v: `${tenant.name}-${i}` },
      };
      expect((await http.post(SECRETS, object)).status).toBe(201);
    }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 86_400 },
    };
    const answer = await http.post('/api/v1/namespaces/default/serviceaccounts/default/token', request);
    tokens.set(tenant.name, answer.json.status.token);
  }

  /** By clients that were there before the first rotation and have fetched nothing since. */
  const everythingIsThere = async () => {
    for (const tenant of tenants) {
      const http = client(ca, tenant.token, tenant.name);
      const { items } = (await http.get(SECRETS)).json;
      const values = items.filter(({ type }: { type: string }) => type === 'Opaque');
      expect(values).toHaveLength(COUNT);
      for (const { metadata, data } of values) {
        expect(Buffer.from(data.v, 'base64').toString()).toBe(`${tenant.name}-${metadata.name.slice(1)}`);
      }
      expect((await http.get('/version', { token: tokens.get(tenant.name) })).status, tenant.name).toBe(200);
    }
  };

  for (const ms of DELAYS_MS) {
    const asked = await client(ca, token).post(`${VAULT}/rotate`, {
      kinds: ['data', 'links', 'tokens', 'clients', 'ca'],
    });
    // 409: the one before is not finished yet.
    expect([200, 409]).toContain(asked.status);
    await delay(ms);
    await kill();
    await start();
    await everythingIsThere();
  }
  const settled = async () => {
    const { rotation, keys } = (await client(ca, token).get(VAULT)).json;
    expect(rotation).toBeUndefined();
    return keys as { kind: string; state: string; neededBy: string[] }[];
  };
  const keys = await vi.waitFor(settled, { timeout: 60_000, interval: 100 });
  expect(
    keys.filter(({ kind, state }) => kind === 'data' && state === 'old').flatMap(({ neededBy }) => neededBy),
  ).toEqual([]);
  expect(readdirSync(rookery.home)).not.toContain('rotation.json');
  expect((await rookery.run('vault', 'retire', 'data')).code).toBe(0);
  await kill();
  await start();
  await everythingIsThere();
  expect(Object.keys(JSON.parse(readFileSync(join(rookery.home, 'keys.json'), 'utf8')).keys)).toHaveLength(1);
}, 300_000);
