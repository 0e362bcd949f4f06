/**
 * Records what a real kube-apiserver answers to `cases.ts`:
 *   KUBE_SERVER=… KUBE_TOKEN=… node --import tsx src/apiserver/builtins/testdata/record.ts
 * (`node --import tsx test/bed/cli.ts start kube-apiserver` prints both; a fresh one, for leftovers answer differently.)
 */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { type Case, cases } from './cases.ts';

const server = process.env.KUBE_SERVER ?? '';
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
const headers = { authorization: `Bearer ${process.env.KUBE_TOKEN}`, 'content-type': 'application/json' };

interface Answer {
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says
  body: any;
}

async function send(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<Answer> {
  const answer = await request(`${server}${path}`, {
    method,
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
    dispatcher,
  });
  return { code: answer.statusCode, body: await answer.body.json() };
}

function collection({ group, version, plural, namespaced }: Case): string {
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  return namespaced ? `${root}/namespaces/oracle/${plural}` : `${root}/${plural}`;
}

function stripped(answer: Answer): Answer {
  const { body } = answer;
  if (body.metadata) {
    for (const name of ['resourceVersion', 'managedFields', 'creationTimestamp']) delete body.metadata[name];
  }
  return answer;
}

await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'oracle' } });
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
await send('POST', '/api/v1/namespaces/oracle/serviceaccounts', account);

/** The object as it is printed: columns, cells, and the object they were made from. */
async function table(path: string, one: Case): Promise<unknown> {
  if (one.status) {
    const type = { 'content-type': 'application/merge-patch+json' };
    const answer = await send('PATCH', `${path}/status`, { status: one.status }, type);
    if (answer.code !== 200) throw new Error(`${one.name}: ${answer.body.message}`);
  }
  const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const { body } = await send('GET', `${path}?includeObject=Object`, undefined, accept);
  const columns = body.columnDefinitions.map((c: Record<string, unknown>) => [c.name, c.type, c.format, c.priority]);
  const { cells, object } = body.rows[0];
  delete object.metadata.managedFields;
  return { columns, cells, object };
}

const recorded: Record<string, { create: Answer; update?: Answer; table?: unknown }> = {};
for (const one of cases) {
  const path = collection(one);
  const create = await send('POST', path, one.body);
  let update: Answer | undefined;
  let printed: unknown;
  if (create.code === 201) printed = await table(`${path}/${create.body.metadata.name}`, one);
  if (one.update && create.code === 201) {
    const object = structuredClone(create.body);
    one.update(object);
    update = stripped(await send('PUT', `${path}/${object.metadata.name}`, object));
  }
  if (create.code === 201) {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    await send('DELETE', `${path}/${create.body.metadata.name}`, options);
  }
  recorded[one.name] = {
    create: stripped(create),
    ...(update ? { update } : {}),
    ...(printed ? { table: printed } : {}),
  };
}
const file = process.argv[2] ?? new URL('./answers.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(recorded, null, 1)}\n`);
process.stdout.write(`${Object.keys(recorded).length} answers\n`);
