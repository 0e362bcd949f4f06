/** What we say of wrong objects, against what a real kube-apiserver 1.35.8 said (test/oracle/record-refusals.ts). */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { unharmedServer } from '../harness/unharmed.ts';
import { NAMESPACE, refusals, withoutIds } from '../oracle/refusals.ts';

const answers = JSON.parse(readFileSync(new URL('../oracle/refusals.json', import.meta.url), 'utf8'));
const scene = unharmedServer();

beforeAll(async () => {
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  expect((await scene.http.post('/api/v1/namespaces', space)).status).toBe(201);
});

it.each(refusals)('$name', async ({ name, path, body }) => {
  const { status, json } = await scene.http.post(`${path}?dryRun=All`, body);
  const { reason, message, details } = json;
  const ours = status < 400 ? { code: status } : { code: status, reason, message, details };
  expect(withoutIds(ours)).toEqual(answers[name]);
});
