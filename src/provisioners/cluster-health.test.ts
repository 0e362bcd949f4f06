import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createCa, issueServer } from '../vault/certificates.ts';
import { probeHealth } from './cluster-health.ts';

const expected = { nodes: 1, hasNetwork: true, place: 'this machine' as const };
const node = (status: string) => ({ metadata: { name: 'n' }, status: { conditions: [{ type: 'Ready', status }] } });

let server: Server;
let kubeconfig: string;
let asked: string[];
let connections: number;
/** What the cluster answers. */
let isUp: boolean;
let nodes: object[];
let hasDns: boolean;

beforeEach(async () => {
  asked = [];
  connections = 0;
  isUp = true;
  nodes = [node('True')];
  hasDns = true;
  const ca = createCa('ca', { clock: systemClock });
  server = createServer(issueServer(ca, 'api', ['127.0.0.1'], { clock: systemClock }), (request, response) => {
    const path = request.url?.split('?')[0]?.split('/').at(-1) as string;
    asked.push(path);
    const answers: Record<string, unknown> = {
      version: { gitVersion: 'v1.35.0' },
      nodes: { items: nodes },
      deployments: { items: [{ status: { availableReplicas: hasDns ? 1 : 0 } }] },
      default: {},
      readyz: {},
    };
    response.statusCode = path === 'readyz' && !isUp ? 500 : 200;
    response.end(JSON.stringify(answers[path]));
  });
  server.on('secureConnection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca.cert).toString('base64') };
  kubeconfig = JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'c', user: { token: 't' } }],
  });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const missing = async () => (await probeHealth(kubeconfig, expected)).missing;
const asks = async () => {
  asked = [];
  await missing();
  return asked.sort();
};
const ALL = ['default', 'deployments', 'nodes', 'readyz', 'version'];

it('says what is missing, and nothing where nothing is', async () => {
  expect(await probeHealth(kubeconfig, expected)).toEqual({
    version: 'v1.35.0',
    nodes: [{ name: 'n', role: 'worker', ready: true }],
    missing: [],
  });
  nodes = [node('False')];
  hasDns = false;
  expect(await missing()).toEqual(['nodes not Ready: n', 'cluster DNS is not available']);
});

it('asks a cluster that comes up over one connection, and only for what is missing', async () => {
  hasDns = false;
  expect(await asks()).toEqual(ALL);
  const before = connections;
  expect(await asks()).toEqual(['deployments']);
  expect(await asks()).toEqual(['deployments']);
  expect(connections).toBe(before);
});

it('asks for everything again before it says that nothing is missing', async () => {
  hasDns = false;
  await missing();
  hasDns = true;
  nodes = [node('False')];
  expect(await missing()).toEqual(['nodes not Ready: n']);
  nodes = [node('True')];
  expect(await missing()).toEqual([]);
  expect(await asks()).toEqual(ALL);
});

it('is back when the server drops what was kept', async () => {
  isUp = false;
  expect(await missing()).toEqual(['the API server is not ready (500: {})']);
  server.closeAllConnections();
  await new Promise((resolve) => setTimeout(resolve, 20));
  isUp = true;
  expect(await missing()).toEqual([]);
});

it('says that nobody answers', async () => {
  server.closeAllConnections();
  server.close();
  expect((await missing()).join()).toMatch(/^the API server at https:\S+ does not answer \(connect ECONNREFUSED/);
});
