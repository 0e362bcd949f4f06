/**
 * Records what a real kube-apiserver says of the objects in refusals.ts and the requests in requests.ts:
 *   KUBE_SERVER=… KUBE_TOKEN=… node --import tsx test/oracle/record-refusals.ts
 * (`node --import tsx test/bed/cli.ts start kube-apiserver` prints both.)
 */
import { writeFileSync } from 'node:fs';
import { Agent, request as send } from 'undici';
import { NAMESPACE, refusals, withoutIds } from './refusals.ts';
import { EXISTING, nameOf, type Request, requests } from './requests.ts';

const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

async function ask({ method, path, contentType, accept, body }: Request) {
  const {
    statusCode,
    headers,
    body: answer,
  } = await send(`${process.env.KUBE_SERVER}${path}`, {
    method: method as 'GET',
    headers: {
      authorization: `Bearer ${process.env.KUBE_TOKEN}`,
      ...(contentType ? { 'content-type': contentType } : {}),
      ...(accept ? { accept } : {}),
    },
    body,
    dispatcher,
  });
  return { code: statusCode, type: headers['content-type'], text: await answer.text() };
}

const post = (path: string, body: object) =>
  ask({ method: 'POST', path, contentType: 'application/json', body: JSON.stringify(body) });

await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
const spaced = `/api/v1/namespaces/${NAMESPACE}`;
await post(`${spaced}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
await post(`${spaced}/configmaps`, EXISTING);

const objects: Record<string, object> = {};
for (const { name, path, body } of refusals) {
  const { code, text } = await post(`${path}?dryRun=All`, body);
  const { message, reason, details } = JSON.parse(text);
  // What is accepted after all is a lesson too, but its content is not this table's business.
  objects[name] = code < 400 ? { code } : withoutIds({ code, reason, message, details });
}
const answers: Record<string, object> = {};
for (const one of requests) answers[nameOf(one)] = withoutIds(await ask(one));

function write(name: string, recorded: Record<string, object>): void {
  writeFileSync(new URL(`./${name}.json`, import.meta.url), `${JSON.stringify(recorded, null, 1)}\n`);
  console.log(`${Object.keys(recorded).length} answers in ${name}.json`);
}
write('refusals', objects);
write('requests', answers);
process.exit(0);
