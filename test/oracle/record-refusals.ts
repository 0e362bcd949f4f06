/**
 * Records what a real kube-apiserver says of the objects in refusals.ts:
 *   KUBE_SERVER=… KUBE_TOKEN=… node --import tsx test/oracle/record-refusals.ts
 * (`node --import tsx test/bed/cli.ts start kube-apiserver` prints both.)
 */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { NAMESPACE, refusals, withoutIds } from './refusals.ts';

const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
const headers = { authorization: `Bearer ${process.env.KUBE_TOKEN}`, 'content-type': 'application/json' };

async function post(path: string, body: object): Promise<{ code: number; body: Record<string, unknown> }> {
  const url = `${process.env.KUBE_SERVER}${path}`;
  const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(body), dispatcher });
  return { code: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
}

await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
await post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, account);

const answers: Record<string, object> = {};
for (const { name, path, body } of refusals) {
  const answer = await post(`${path}?dryRun=All`, body);
  const { message, reason, details } = answer.body;
  // What is accepted after all is a lesson too, but its content is not this table's business.
  answers[name] =
    answer.code < 400 ? { code: answer.code } : withoutIds({ code: answer.code, reason, message, details });
}
const target = new URL('./refusals.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(answers, null, 1)}\n`);
console.log(`${Object.keys(answers).length} answers`);
process.exit(0);
