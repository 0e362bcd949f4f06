/** What steps do to the cluster of a workspace: kept, made anew, or brought back to how they began. And what counts as using it. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import {
  clusters,
  configMaps,
  namespaces,
  secrets,
  workspaceInstances,
  workspaceTemplates,
} from '../../src/api/resources.ts';
import { loadConfig } from '../../src/config.ts';
import { FORCE_ANNOTATION } from '../../src/controllers/workspace/navigation.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import {
  getCondition,
  ignoreNotFound,
  kubeconfigConnection,
  RemoteStore,
  waitFor,
  waitForGone,
} from '../../src/kube/index.ts';

const home = mkdtempSync(join(tmpdir(), 'rookery-steps-'));
const WAIT = { timeoutMs: 90_000 };
let plane: ControlPlane;
beforeAll(async () => {
  plane = await ControlPlane.start({ config: loadConfig({}, { home, port: 0 }) });
  await plane.store.create(workspaceTemplates, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'course' },
    spec: {
      defaults: {
        cluster: { mode: 'per-workspace', provisioner: 'virtual' },
        lifecycle: { ttl: '2h', idleSuspend: true },
      },
      steps: [
        step('1-begin', { manifests: letter('first', 'begin') }),
        step('2-break', { cluster: 'restore', manifests: `${letter('second', 'whole')}---\n${DEPLOYMENT}` }),
        step('3-again', { cluster: 'reset', manifests: letter('third', 'fresh') }),
        step('4-on'),
      ],
    },
  });
});
afterAll(async () => {
  await plane.close();
  rmSync(home, { recursive: true });
});

const step = (id: string, more: object = {}) => ({ id, title: id, imageTag: `example/${id}:1`, ...more });
const letter = (name: string, text: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: default }\ndata: { text: ${text} }\n`;
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop, namespace: default }
spec:
  replicas: 2
  selector: { matchLabels: { app: shop } }
  template:
    metadata: { labels: { app: shop } }
    spec: { containers: [{ name: shop, image: nginx }] }
`;
const deployments = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const pods = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const key = (name: string) => ({ namespace: `ws-${name}`, name });
const make = async (name: string, spec: object = {}) => {
  const { namespace } = key(name);
  await plane.store.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return plane.store.create(workspaceInstances, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceInstance',
    metadata: { name, namespace },
    spec: { templateRef: { name: 'course' }, owner: name, ...spec },
  });
};
const until = async (name: string, wanted: (instance: KubeObject) => boolean): Promise<KubeObject> =>
  (await waitFor(plane.store, workspaceInstances, key(name), (seen) => !!seen && wanted(seen), WAIT)) as KubeObject;
const goTo = async (name: string, currentStep: string) => {
  const body = { spec: { currentStep } };
  await plane.store.patch(workspaceInstances, key(name), { type: 'merge', body });
  return await until(name, ({ status }) => status?.currentStep === currentStep && status.phase === 'Running');
};
/** As the student's kubectl, unless it is somebody else. */
const student = async (name: string, userAgent = 'kubectl/v1.35'): Promise<RemoteStore> => {
  const secret = await plane.store.get(secrets, { ...key(name), name: `${name}-kubeconfig` });
  const data = Buffer.from(secret.data?.value, 'base64').toString();
  return new RemoteStore({ connection: await kubeconfigConnection(data, 'this machine'), userAgent });
};
const textOf = async (api: RemoteStore, name: string): Promise<string | undefined> =>
  (await api.get(configMaps, { namespace: 'default', name }).catch(ignoreNotFound))?.data?.text;

it('goes back to how a step began, as often as it is entered again', { timeout: 300_000 }, async () => {
  await make('ada');
  await until('ada', ({ status }) => status?.phase === 'Running');
  const api = await student('ada');
  const uid = (await plane.store.get(clusters, key('ada'))).metadata.uid;
  expect(await textOf(api, 'first')).toBe('begin');
  await api.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'mine', namespace: 'default' },
    data: { text: 'made in the first step' },
  });
  await goTo('ada', '2-break');
  const shop = { namespace: 'default', name: 'shop' };
  expect((await api.get(deployments, shop)).status?.readyReplicas, 'the snapshot waited for it').toBe(2);
  const before = await api.get(deployments, shop);
  const podsBefore = (await api.list(pods, { namespace: 'default' })).items.map(({ metadata }) => metadata.uid).sort();

  for (let round = 0; round < 2; round++) {
    await api.delete(configMaps, { namespace: 'default', name: 'mine' });
    await api.delete(deployments, shop);
    const { metadata } = await api.patch(
      configMaps,
      { namespace: 'default', name: 'second' },
      {
        type: 'merge',
        body: { data: { text: 'broken' } },
      },
    );
    await goTo('ada', '1-begin');
    expect(await textOf(api, 'second'), 'a step that keeps the cluster changes nothing').toBe('broken');
    await goTo('ada', '2-break');
    expect(await textOf(api, 'second')).toBe('whole');
    expect(await textOf(api, 'mine')).toBe('made in the first step');
    const second = await api.get(configMaps, { namespace: 'default', name: 'second' });
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
    const after = await api.get(deployments, shop);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.status).toEqual(before.status);
    const podsNow = (await api.list(pods, { namespace: 'default' })).items.map((pod) => pod.metadata.uid).sort();
    expect(podsNow).toEqual(podsBefore);
  }
  expect((await plane.store.get(clusters, key('ada'))).metadata.uid, 'it was the same cluster all along').toBe(uid);
  await api.close();
});

it('makes the cluster anew for a step that says so, and still goes back to another one', {
  timeout: 300_000,
}, async () => {
  const api = await student('ada');
  await goTo('ada', '3-again');
  expect([await textOf(api, 'first'), await textOf(api, 'mine'), await textOf(api, 'third')]).toEqual([
    undefined,
    undefined,
    'fresh',
  ]);
  await goTo('ada', '4-on');
  expect(await textOf(api, 'third')).toBe('fresh');
  await goTo('ada', '2-break');
  expect([await textOf(api, 'third'), await textOf(api, 'mine')]).toEqual([undefined, 'made in the first step']);
  await api.close();
});

it('ends watches that are open, and what they resume with is what happened', { timeout: 300_000 }, async () => {
  const api = await student('ada');
  const { metadata } = await api.list(configMaps, { namespace: 'default' });
  const seen: string[] = [];
  const watch = async (resourceVersion: string | undefined): Promise<string | undefined> => {
    let last = resourceVersion;
    for await (const event of api.watch(configMaps, { namespace: 'default', resourceVersion: last })) {
      last = event.object.metadata.resourceVersion ?? last;
      if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
      if (seen.includes('DELETED third')) break;
    }
    return last;
  };
  const first = watch(metadata.resourceVersion);
  await goTo('ada', '3-again');
  await goTo('ada', '2-break');
  const reached = await first.catch(() => metadata.resourceVersion);
  if (!seen.includes('DELETED third')) await watch(reached);
  expect(seen).toContain('ADDED third');
  expect(seen).toContain('DELETED third');
  await api.close();
});

it('a call of its owner to the cluster is use, one of Rookery itself is not', { timeout: 300_000 }, async () => {
  for (const name of ['eve', 'kim']) {
    await make(name);
    await until(name, ({ status }) => status?.phase === 'Running');
  }
  const [eve, own] = [await student('eve'), await student('kim', 'rookery')];
  await eve.list(configMaps, { namespace: 'default' });
  await own.list(configMaps, { namespace: 'default' });
  const ago = new Date(Date.now() - 3_600_000).toISOString();
  const body = { status: { startedAt: ago, lastActivityAt: ago } };
  const called = plane.clusters.lastCalls;
  expect(called.at('ws-eve.eve')).toBeGreaterThan(Date.now() - 60_000);
  expect(called.at('ws-kim.kim')).toBeUndefined();
  // As if the process had been there for longer than anybody has asked.
  called.note('ws-kim.kim', 'kubernetes-admin', Date.parse(ago));
  for (const name of ['eve', 'kim'])
    await plane.store.patch(workspaceInstances, key(name), { type: 'merge', body }, { subresource: 'status' });
  const idle = await until('kim', ({ status }) => status?.phase === 'Suspended');
  expect(getCondition(idle, 'Ready')?.reason).toBe('Idle');
  const active = await until('eve', ({ status }) => status?.lastActivityAt !== ago);
  expect(active.status?.phase).toBe('Running');
  for (const each of [eve, own]) await each.close();
});

it('leaves no snapshot behind', { timeout: 300_000 }, async () => {
  expect(readdirSync(join(home, 'data', 'snapshots', 'ws-ada.ada')).length).toBeGreaterThan(1);
  for (const name of ['ada', 'eve', 'kim']) {
    await plane.store.delete(workspaceInstances, key(name));
    await waitForGone(plane.store, workspaceInstances, key(name), WAIT);
  }
  const left = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  for (const folder of ['snapshots', 'clusters']) expect(left(join(home, 'data', folder))).toEqual([]);
});

it('lets an instructor begin anywhere, and nobody else', async () => {
  await plane.store.patch(
    workspaceTemplates,
    { name: 'course' },
    { type: 'merge', body: { spec: { navigation: 'linear' } } },
  );
  await expect(make('late', { currentStep: '4-on' })).rejects.toThrow(
    'spec.currentStep: Forbidden: step 4-on: navigation of the template course is linear, and what comes before it is not done yet: 1-begin, 2-break, 3-again',
  );
  await plane.store.create(workspaceInstances, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceInstance',
    metadata: { ...key('late'), annotations: { [FORCE_ANNOTATION]: '4-on' } },
    spec: { templateRef: { name: 'course' }, owner: 'late', currentStep: '4-on' },
  });
  const { status } = await until('late', (seen) => seen.status?.phase === 'Running');
  expect(status).toMatchObject({ currentStep: '4-on', completedSteps: ['4-on'] });
  await plane.store.delete(workspaceInstances, key('late'));
  await waitForGone(plane.store, workspaceInstances, key('late'), WAIT);
});
