/**
 * How long the largest objects anyone sends keep our event loop from everyone else: the longest turn of one create and
 * three updates of each, without the time the process waited for a processor. Ours only.
 */
import { configMapsOf, makeNamespace } from './config-maps.ts';
import { type LoopDelay, type RookeryRunning, startRookery } from './servers/rookery.ts';
import { atMost, type Row } from './table.ts';

const NAMESPACE = 'bench-large';
const MAPS = configMapsOf(NAMESPACE);
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const UPDATES = 3;

interface Large {
  what: string;
  path: string;
  /** The body of the n-th write; text is YAML. */
  body: (name: string, n: number) => object | string;
}

const CASES: Large[] = [
  { what: 'ConfigMap, 1 MB in 4 values', path: MAPS, body: mapOf(keys(4, 'some line of text\n'.repeat(14_000))) },
  { what: 'ConfigMap, 1 MB in 20,000 keys', path: MAPS, body: mapOf(keys(20_000, 'x'.repeat(38))) },
  { what: 'ConfigMap, 1.4 MB in 90,000 keys', path: MAPS, body: mapOf(keys(90_000, 'x')) },
  { what: 'Secret, 1 MB in 4 values', path: SECRETS, body: secretOf(keys(4, base64('x'.repeat(250_000)))) },
  { what: 'Secret, 1 MB in 20,000 keys', path: SECRETS, body: secretOf(keys(20_000, base64('x'.repeat(38)))) },
  { what: 'Deployment with 2,000 variables', path: DEPLOYMENTS, body: deployment },
  { what: 'YAML, 250 kB in 3,500 keys', path: MAPS, body: yamlOf(3500, 'x'.repeat(60)) },
  { what: 'YAML, 440 kB in 30,000 keys', path: MAPS, body: yamlOf(30_000, 'x') },
];

export async function measureLargeObjects(folder: string): Promise<Row[]> {
  const server = await startRookery(folder);
  try {
    await makeNamespace(server.client, NAMESPACE);
    const rows: Row[] = [];
    for (const [at, large] of CASES.entries()) {
      const loop = await longestTurn(server, large, `large-${at}`);
      rows.push({ what: large.what, unit: 'ms', ours: loop.blocked, goal: atMost(50) });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

async function longestTurn({ client, ask }: RookeryRunning, { path, body }: Large, name: string): Promise<LoopDelay> {
  const write = (method: 'POST' | 'PUT', at: string, content: object | string) =>
    client.call(method, at, content, typeof content === 'string' ? { 'content-type': 'application/yaml' } : {});
  await ask('watchLoop');
  await write('POST', path, body(name, 0));
  for (let n = 1; n <= UPDATES; n++) await write('PUT', `${path}/${name}`, body(name, n));
  return ask<LoopDelay>('readLoop');
}

function keys(count: number, value: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value]));
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function mapOf(data: Record<string, string>): Large['body'] {
  return (name, n) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { ...data, n: `${n}` } });
}

function secretOf(data: Record<string, string>): Large['body'] {
  return (name, n) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { ...data, n: base64(`${n}`) } });
}

function yamlOf(count: number, value: string): Large['body'] {
  const lines = Array.from({ length: count }, (_, i) => `  key-${i}: ${value}\n`).join('');
  return (name, n) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  n: "${n}"\n${lines}`;
}

function deployment(name: string, n: number): object {
  const labels = { app: name };
  const env = Array.from({ length: 2000 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value ${i} of ${n}` }));
  const containers = [{ name: 'main', image: 'example.invalid/image', env }];
  const template = { metadata: { labels }, spec: { containers } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
}
