/** The official JavaScript client, unmodified: typed and generic CRUD, patches, watches, informers, a server restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiException,
  ApiextensionsV1Api,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1ConfigMap,
  VersionApi,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../harness/server.ts';

const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const folder = mkdtempSync(join(tmpdir(), 'rookery-client-node-'));
let server: TestServer;
let config: KubeConfig;
let core: CoreV1Api;

beforeAll(async () => {
  server = await startServer({ folder });
  config = new KubeConfig();
  config.loadFromFile(await server.kubeconfig());
  core = config.makeApiClient(CoreV1Api);
});
afterAll(async () => {
  expect(server.errors).toEqual([]);
  await server.close();
  rmSync(folder, { recursive: true });
});

const configMap = (name: string, data?: Record<string, string>): V1ConfigMap => ({ metadata: { name }, data });
const failure = async (run: Promise<unknown>) => {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiException);
  const { code, body } = error as ApiException<string>;
  return { code, status: typeof body === 'string' ? JSON.parse(body) : body };
};

it('knows the server', async () => {
  expect((await config.makeApiClient(VersionApi).getCode()).gitVersion).toMatch(/^v1\.35\./);
  const names = (await core.listNamespace()).items.map((item) => item.metadata?.name);
  expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
});

it('creates, reads, replaces, lists, deletes', async () => {
  const created = await core.createNamespacedConfigMap({ namespace, body: configMap('typed', { a: '1' }) });
  expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
  created.data = { a: '2' };
  const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'typed', body: created });
  expect(replaced.data).toEqual({ a: '2' });
  const conflict = await failure(
    core.replaceNamespacedConfigMap({ namespace, name: 'typed', body: { ...created, data: { a: '3' } } }),
  );
  expect(conflict).toMatchObject({ code: 409, status: { reason: 'Conflict' } });
  const twice = await failure(core.createNamespacedConfigMap({ namespace, body: configMap('typed') }));
  expect(twice).toMatchObject({ code: 409, status: { reason: 'AlreadyExists' } });
  const page = await core.listNamespacedConfigMap({ namespace, limit: 1 });
  expect(page.items).toHaveLength(1);
  expect(page.metadata?._continue).toBeTruthy();
  const rest = await core.listNamespacedConfigMap({ namespace, _continue: page.metadata?._continue });
  expect([...page.items, ...rest.items].map((item) => item.metadata?.name)).toEqual(['kube-root-ca.crt', 'typed']);
  expect((await core.deleteNamespacedConfigMap({ namespace, name: 'typed' })).status).toBe('Success');
  expect(await failure(core.readNamespacedConfigMap({ namespace, name: 'typed' }))).toMatchObject({
    code: 404,
    status: { reason: 'NotFound', details: { name: 'typed', kind: 'configmaps' } },
  });
});

it('patches in every way', async () => {
  const apps = config.makeApiClient(AppsV1Api);
  const labels = { app: 'patched' };
  const container = { name: 'main', image: 'one' };
  await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'patched' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
  });
  const patch = (strategy: PatchStrategy, body: unknown, more: object = {}) =>
    apps.patchNamespacedDeployment(
      { namespace, name: 'patched', body, ...more },
      setHeaderOptions('Content-Type', strategy),
    );
  const merged = await patch(PatchStrategy.StrategicMergePatch, {
    spec: { template: { spec: { containers: [{ name: 'side', image: 'two' }] } } },
  });
  expect(merged.spec?.template.spec?.containers.map((c) => c.name).sort()).toEqual(['main', 'side']);
  const replaced = await patch(PatchStrategy.MergePatch, { spec: { template: { spec: { containers: [container] } } } });
  expect(replaced.spec?.template.spec?.containers.map((c) => c.name)).toEqual(['main']);
  const scaled = await patch(PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 4 }]);
  expect(scaled.spec?.replicas).toBe(4);
  const applied = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 5 } };
  const conflict = await failure(patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'applier' }));
  expect(conflict).toMatchObject({
    code: 409,
    status: { details: { causes: [{ reason: 'FieldManagerConflict', field: '.spec.replicas' }] } },
  });
  const forced = await patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'applier', force: true });
  expect(forced.spec?.replicas).toBe(5);
  expect(
    forced.metadata?.managedFields?.some((entry) => entry.manager === 'applier' && entry.operation === 'Apply'),
  ).toBe(true);
  const status = await apps.patchNamespacedDeploymentStatus(
    { namespace, name: 'patched', body: { status: { replicas: 5 }, spec: { replicas: 1 } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  expect([status.status?.replicas, status.spec?.replicas]).toEqual([5, 5]);
  const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'patched' });
  expect(scale).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 5, selector: 'app=patched' } });
});

it('works with objects of any kind, custom ones among them', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
    body: {
      metadata: { name: 'birds.node.example' },
      spec: {
        group: 'node.example',
        scope: 'Namespaced',
        names: { plural: 'birds', singular: 'bird', kind: 'Bird' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { wings: { type: 'integer', _default: 2 } } } },
          },
        ],
      },
    },
  });
  const bird = { apiVersion: 'node.example/v1', kind: 'Bird', metadata: { name: 'rook', namespace } };
  await expect
    .poll(() =>
      objects.create(bird).then(
        (made) => (made as { wings?: number }).wings,
        () => 0,
      ),
    )
    .toBe(2);
  expect(await objects.read(bird)).toMatchObject({ ...bird, wings: 2 });
  const patched = await objects.patch(
    { ...bird, wings: 3 } as typeof bird,
    undefined,
    undefined,
    undefined,
    undefined,
    PatchStrategy.MergePatch,
  );
  expect(patched).toMatchObject({ wings: 3 });
  const list = await objects.list('node.example/v1', 'Bird', namespace);
  expect(list.items).toHaveLength(1);
  const custom = config.makeApiClient(CustomObjectsApi);
  const read = await custom.getNamespacedCustomObject({
    group: 'node.example',
    version: 'v1',
    namespace,
    plural: 'birds',
    name: 'rook',
  });
  expect(read).toMatchObject({ wings: 3 });
  await objects.delete(bird);
  expect((await objects.list('node.example/v1', 'Bird', namespace)).items).toEqual([]);
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'generic' } };
  await objects.create(role);
  const roles = config.makeApiClient(RbacAuthorizationV1Api);
  expect((await roles.readClusterRole({ name: 'generic' })).metadata?.uid).toBeTruthy();
});

it('watches', async () => {
  const seen: string[] = [];
  let ended: unknown;
  const watch = await new Watch(config).watch(
    path,
    { labelSelector: 'watch=me' },
    (type, object) => seen.push(`${type} ${object.metadata.name}`),
    (error) => {
      ended = error ?? 'ended';
    },
  );
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'w', labels: { watch: 'me' } } } });
  await core.patchNamespacedConfigMap(
    { namespace, name: 'w', body: { data: { a: '1' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  await core.deleteNamespacedConfigMap({ namespace, name: 'w' });
  await expect.poll(() => seen).toEqual(['ADDED w', 'MODIFIED w', 'DELETED w']);
  watch.abort();
  await expect.poll(() => ended).toBeTruthy();
});

it('keeps an informer true, over a restart of the server too', async () => {
  const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
  const log: string[] = [];
  const note = (verb: string) => (object: V1ConfigMap) => log.push(`${verb} ${object.metadata?.name}`);
  informer.on('add', note('add'));
  informer.on('update', note('update'));
  informer.on('delete', note('delete'));
  // As its documentation tells everyone to do: it never starts again by itself.
  informer.on('error', () =>
    setTimeout(() => void informer.start().catch(() => setTimeout(() => void informer.start(), 200)), 100),
  );
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: configMap('informed', { a: '1' }) });
  await expect.poll(() => informer.get('informed', namespace)?.data).toEqual({ a: '1' });
  expect(log).toContain('add informed');

  const port = Number(new URL(server.url).port);
  expect(server.errors).toEqual([]);
  await server.close();
  server = await startServer({ folder, port });
  expect((await core.readNamespacedConfigMap({ namespace, name: 'informed' })).data).toEqual({ a: '1' });
  await core.createNamespacedConfigMap({ namespace, body: configMap('after-restart') });
  await core.patchNamespacedConfigMap(
    { namespace, name: 'informed', body: { data: { a: '2' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  await expect.poll(() => informer.get('informed', namespace)?.data, { timeout: 20_000 }).toEqual({ a: '2' });
  await expect.poll(() => informer.get('after-restart', namespace)).toBeTruthy();
  await core.deleteNamespacedConfigMap({ namespace, name: 'informed' });
  await expect.poll(() => informer.get('informed', namespace)).toBeUndefined();
  expect(log.filter((line) => line === 'delete informed')).toHaveLength(1);
  const known = informer.list(namespace).map((item) => item.metadata?.name);
  const stored = (await core.listNamespacedConfigMap({ namespace })).items.map((item) => item.metadata?.name);
  expect([...known].sort()).toEqual(stored);
  await informer.stop();
});
