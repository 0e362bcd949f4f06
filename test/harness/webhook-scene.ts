// A server, a webhook server, and configurations that are gone after each test.
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Answer, Http } from './http.ts';
import { startServer, type TestServer } from './server.ts';
import { allow, deny, startWebhookServer, type WebhookServer } from './webhook-server.ts';

export const MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';
const CONFIGURATIONS = {
  validating: { path: `${GROUP}/validatingwebhookconfigurations`, kind: 'ValidatingWebhookConfiguration' },
  mutating: { path: `${GROUP}/mutatingwebhookconfigurations`, kind: 'MutatingWebhookConfiguration' },
};
export const EVERY_MAP = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];

type NewMap = { metadata: { name: string } & Record<string, unknown> } & Record<string, unknown>;

/** Filled in before the first test. */
export interface WebhookScene {
  server: TestServer;
  http: Http;
  hooks: WebhookServer;
  /** Paths of the configurations made in this test. */
  made: string[];
  unique(prefix: string): string;
  /** Makes a configuration of one webhook, which answers at `path` of the webhook server. */
  configure(type: keyof typeof CONFIGURATIONS, path: string, more?: object, name?: string): Promise<Answer>;
  newMap(more?: object): NewMap;
  create(object?: object, query?: string): Promise<Answer>;
}

/** Call at the top level of a test file. Webhooks at `/allow` and `/deny` are there from the start. */
export function webhookScene(): WebhookScene {
  let count = 0;
  const scene = { made: [] as string[] } as WebhookScene;
  scene.unique = (prefix) => `${prefix}-${++count}`;
  scene.configure = async (type, path, more = {}, name = scene.unique('hook')) => {
    const webhook = {
      name: `${name}.example.com`,
      clientConfig: scene.hooks.at(path),
      rules: EVERY_MAP,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 5,
      ...more,
    };
    const { path: at, kind } = CONFIGURATIONS[type];
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const answer = await scene.http.post(at, { apiVersion, kind, metadata: { name }, webhooks: [webhook] });
    if (answer.status === 201) scene.made.push(`${at}/${name}`);
    return answer;
  };
  scene.newMap = (more = {}) => {
    const { metadata, ...rest } = more as { metadata?: object };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: scene.unique('map'), ...metadata }, ...rest };
  };
  scene.create = (object = scene.newMap(), query = '') => scene.http.post(`${MAPS}${query}`, object);
  beforeAll(async () => {
    scene.server = await startServer();
    scene.http = await scene.server.http();
    scene.hooks = await startWebhookServer(['127.0.0.1', 'hook.default.svc', 'external.default.svc']);
    scene.hooks.on('/allow', allow);
    scene.hooks.on('/deny', deny({ message: 'no maps today' }));
  });
  afterEach(async () => {
    for (const path of scene.made.splice(0)) await scene.http.delete(path);
    expect(scene.server.errors.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await scene.hooks.close();
    await scene.server.close();
  });
  return scene;
}
