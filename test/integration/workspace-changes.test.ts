/** What changes around workspaces: their template is deleted under them, people jump to a step, their pages are served elsewhere. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { workspaceInstances, workspaceTemplates } from '../../src/api/resources.ts';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { getCondition, waitFor, waitForGone } from '../../src/kube/index.ts';

const home = mkdtempSync(join(tmpdir(), 'rookery-templates-'));
const template = { name: 'course' };
const WAIT = { timeoutMs: 60_000 };
const SLOW = { timeout: 120_000 };
let plane: ControlPlane;
let site = 'http://before.example';
/** What time it is moves on while a page is looked for, which comes last in a reconcile. */
let leapMs = 0;
let aheadMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
const urlOf = (namespace: string, name: string) => {
  aheadMs += leapMs;
  leapMs = 0;
  return `${site}/${namespace}/${name}/`;
};

beforeAll(async () => {
  plane = await ControlPlane.start({
    config: loadConfig({}, { home, port: 0 }),
    clock,
    terminals: async () => ({
      urlOf,
      end() {},
      async close() {},
    }),
  });
}, 60_000);
afterAll(async () => {
  for (const { metadata } of (await plane.store.list(workspaceInstances)).items) {
    await plane.store.delete(workspaceInstances, key(metadata.name as string));
    await waitForGone(plane.store, workspaceInstances, key(metadata.name as string), WAIT);
  }
  await plane.close();
  rmSync(home, { recursive: true });
}, 60_000);

const key = (name: string) => ({ namespace: 'default', name });
const make = (name: string, spec: object = {}) =>
  plane.store.create(workspaceInstances, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceInstance',
    metadata: key(name),
    spec: { templateRef: template, owner: name, ...spec },
  });
const until = (name: string, wanted: (instance: KubeObject) => boolean) =>
  waitFor(plane.store, workspaceInstances, key(name), (seen) => seen !== undefined && wanted(seen), WAIT);
const deleteTemplate = () => plane.store.delete(workspaceTemplates, template);
const makeTemplate = async () => {
  const metadata = { ...template };
  const defaults = { lifecycle: { mode: 'ephemeral', ttl: '1h' } };
  const steps = ['one', 'two'].map((id) => ({
    id,
    title: id,
    imageTag: `x:${id}`,
    env: { [`OF_${id}`]: id },
    files: [{ path: `work/${id}`, content: id }],
  }));
  const object = { apiVersion: 'workshop.platform/v1alpha1', kind: 'WorkspaceTemplate', metadata };
  await plane.store.create(workspaceTemplates, { ...object, spec: { defaults, steps } });
};

it('a template in use stays, its workspaces go on and end in their time, and then it goes', SLOW, async () => {
  await makeTemplate();
  await make('ada');
  await until('ada', ({ status }) => status?.phase === 'Running');
  await deleteTemplate();
  const held = await waitFor(
    plane.store,
    workspaceTemplates,
    template,
    (seen) => getCondition(seen as KubeObject, 'Ready')?.reason === 'InUse',
    WAIT,
  );
  expect(getCondition(held as KubeObject, 'Ready')?.message).toContain('a workspace still there');
  const body = { spec: { currentStep: 'two' } };
  await plane.store.patch(workspaceInstances, key('ada'), { type: 'merge', body });
  await until('ada', ({ status }) => status?.phase === 'Running' && status.currentStep === 'two');
  await expect(make('bob')).rejects.toThrow(
    'spec.templateRef.name: Forbidden: the template course is being deleted: it goes when its last workspace has gone',
  );
  const soon = { spec: { overrides: { lifecycle: { ttl: '1s' } } } };
  await plane.store.patch(workspaceInstances, key('ada'), { type: 'merge', body: soon });
  await waitForGone(plane.store, workspaceInstances, key('ada'), WAIT);
  await waitForGone(plane.store, workspaceTemplates, template, WAIT);
});

it('a template that nobody uses goes at once', SLOW, async () => {
  await makeTemplate();
  const isSeen = (seen: KubeObject | undefined) => getCondition(seen as KubeObject, 'Ready') !== undefined;
  await waitFor(plane.store, workspaceTemplates, template, isSeen, WAIT);
  await deleteTemplate();
  await waitForGone(plane.store, workspaceTemplates, template, WAIT);
});

it('who begins at a later step has what the steps before it bring', SLOW, async () => {
  await makeTemplate();
  await make('eve', { currentStep: 'two' });
  const { metadata } = (await until('eve', ({ status }) => status?.phase === 'Running')) as KubeObject;
  const [workload] = plane.workloads;
  const ref = { id: metadata.uid as string, name: 'eve' };
  const said = await workload?.run(ref, 'cat ~/work/one ~/work/two; echo $OF_one $OF_two', { timeoutMs: 60_000 });
  expect(said).toMatchObject({ stdout: 'onetwoone two\n' });
});

it('one that is suspended is found where pages are served now', SLOW, async () => {
  const change = (body: Record<string, unknown>) =>
    plane.store.patch(workspaceInstances, key('eve'), { type: 'merge', body });
  await change({ spec: { suspend: true } });
  const rests = ({ status }: KubeObject) => status?.phase === 'Suspended';
  await until('eve', rests);
  site = 'http://after.example';
  await change({ metadata: { annotations: { look: 'again' } } });
  await until('eve', (seen) => rests(seen) && seen.status?.accessEndpoints?.webTerminal.startsWith(site));
});

it('one whose time is up just while it is looked after ends all the same', SLOW, async () => {
  await make('late');
  await until('late', ({ status }) => status?.phase === 'Running');
  // What its own beginning brings about is over: the next look is the last.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  leapMs = 2 * 3_600_000;
  const body = { metadata: { annotations: { look: 'again' } } };
  await plane.store.patch(workspaceInstances, key('late'), { type: 'merge', body });
  await waitForGone(plane.store, workspaceInstances, key('late'), WAIT);
});
