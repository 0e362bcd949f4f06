/** What we say of wrong requests, against what a real kube-apiserver 1.35.8 said (test/oracle/record-refusals.ts). */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { unharmedServer } from '../harness/unharmed.ts';
import { NAMESPACE, withoutIds } from '../oracle/refusals.ts';
import { EXISTING, nameOf, requests } from '../oracle/requests.ts';

const answers = JSON.parse(readFileSync(new URL('../oracle/requests.json', import.meta.url), 'utf8'));
const scene = unharmedServer();

beforeAll(async () => {
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  expect((await scene.http.post('/api/v1/namespaces', space)).status).toBe(201);
  expect((await scene.http.post(`/api/v1/namespaces/${NAMESPACE}/configmaps`, EXISTING)).status).toBe(201);
});

it.each(requests.map((request) => ({ name: nameOf(request), request })))('$name', async ({ name, request }) => {
  const { method, path, contentType, accept, body } = request;
  const headers = { ...(accept ? { accept } : {}), ...(contentType ? { 'content-type': contentType } : {}) };
  const answer = await scene.http.send(method, path, { body, headers });
  const ours = { code: answer.status, type: answer.headers['content-type'], text: answer.text };
  expect(readable(withoutIds(ours))).toEqual(readable(answers[name]));
});

/** Differences in the order of keys, and of how letters are escaped, are none. */
function readable({ code, type, text }: { code: number; type?: string; text: string }): object {
  const parsed = type?.endsWith('json') ? JSON.parse(text) : type?.endsWith('yaml') ? parse(text) : text;
  return { code, type, text: parsed };
}
