// A server that must stay unharmed: after every test its log of failures is empty and what was stored is still there.
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Answer, Http } from './http.ts';
import { startServer, type TestServer } from './server.ts';

export const MAPS = '/api/v1/namespaces/default/configmaps';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
export const configMap = (name: string, data?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

/** Filled in before the first test. */
export interface Unharmed {
  server: TestServer;
  http: Http;
  exists(name: string): Promise<boolean>;
}

/** Call at the top level of a test file. */
export function unharmedServer(): Unharmed {
  const scene = {} as Unharmed;
  beforeAll(async () => {
    scene.server = await startServer();
    scene.http = await scene.server.http();
    scene.exists = async (name) => (await scene.http.get(`${MAPS}/${name}`)).status === 200;
    expect((await scene.http.post(MAPS, configMap('keep', { a: '1' }))).status).toBe(201);
  });
  afterEach(async () => {
    expect(scene.server.errors.splice(0)).toEqual([]);
    expect((await scene.http.get(`${MAPS}/keep`)).json.data).toEqual({ a: '1' });
  });
  afterAll(() => scene.server.close());
  return scene;
}

export function expectStatus(answer: Answer, code: number, reason?: string, message?: string | RegExp): void {
  expect(answer.status, answer.text.slice(0, 500)).toBe(code);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.json).toMatchObject({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code });
  if (reason) expect(answer.json.reason).toBe(reason);
  if (message) expect(answer.json.message).toMatch(message);
}
