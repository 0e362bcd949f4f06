/** Seed 002 as it is written is accepted; whatever is wrong in a template or an instance is refused with the path of the field and the rule it breaks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { namespaces, workspaceInstances, workspaceTemplates } from '../../src/api/resources.ts';
import { loadConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { ignoreNotFound, keyOf, waitFor, waitForGone } from '../../src/kube/index.ts';

const TEMPLATE = `
apiVersion: workshop.platform/v1alpha1
kind: WorkspaceTemplate
metadata:
  name: kubernetes-101
spec:
  defaults:
    lifecycle:
      mode: ephemeral
      ttl: 2h
      idleSuspend: true
    isolation:
      mode: individual
    cluster:
      mode: none
    resources:
      cpu: "500m"
      memory: "512Mi"
    access:
      webTerminal: true

  imagePullSecrets:
    - name: registry-credentials

  steps:
    - id: step-1-intro
      title: "Introduction"
      imageTag: myorg/kubernetes-101:step-1-intro

    - id: step-2-deploy
      title: "Deploy the App"
      imageTag: myorg/kubernetes-101:step-2-deploy
`;
const INSTANCE = `
apiVersion: workshop.platform/v1alpha1
kind: WorkspaceInstance
metadata:
  name: kubernetes-101-student-42
  namespace: ws-kubernetes-101-student-42
spec:
  templateRef:
    name: kubernetes-101
  owner: student-42
  currentStep: step-2-deploy
  overrides:
    lifecycle:
      ttl: 4h
status:
  phase: Running | Suspended | Terminating
  currentStep: step-2-deploy
  startedAt: "2026-01-15T10:00:00Z"
  expiresAt: "2026-01-15T14:00:00Z"
  accessEndpoints:
    webTerminal: https://ws-kubernetes-101-student-42.example.com/terminal
  conditions: [...]
`;

const home = mkdtempSync(join(tmpdir(), 'rookery-rules-'));
const NAMESPACE = 'ws-kubernetes-101-student-42';
let plane: ControlPlane;
beforeAll(async () => {
  plane = await ControlPlane.start({ config: loadConfig({}, { home, port: 0 }) });
  await plane.store.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
});
afterAll(async () => {
  // With what they have on the machine.
  for (const instance of (await plane.store.list(workspaceInstances)).items) {
    await plane.store.delete(workspaceInstances, keyOf(instance));
    await waitForGone(plane.store, workspaceInstances, keyOf(instance), { timeoutMs: 60_000 });
  }
  await plane.close();
  rmSync(home, { recursive: true });
});

it('takes the examples of the seed as they are', async () => {
  await plane.store.create(workspaceTemplates, parse(TEMPLATE));
  await plane.store.create(workspaceInstances, parse(INSTANCE));
  const key = { namespace: NAMESPACE, name: 'kubernetes-101-student-42' };
  const isRunning = (seen: KubeObject | undefined) => seen?.status?.phase === 'Running';
  const instance = await waitFor(plane.store, workspaceInstances, key, isRunning, { timeoutMs: 60_000 });
  expect(instance?.status).toMatchObject({ currentStep: 'step-2-deploy', phase: 'Running' });
});

/** The example with some fields changed; `undefined` takes one away. */
function changed(text: string, fields: Record<string, unknown>, name: string): KubeObject {
  const object = parse(text) as KubeObject;
  object.metadata.name = name;
  delete object.status;
  for (const [path, value] of Object.entries(fields)) {
    const names = path.split('.');
    const last = names.pop() as string;
    let place = object.spec as Record<string, unknown>;
    for (const each of names) {
      place[each] ??= {};
      place = place[each] as Record<string, unknown>;
    }
    if (value === undefined) delete place[last];
    else place[last] = value;
  }
  return object;
}
const answer = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'accepted',
    (error: Error) => error.message,
  );

const step = (more: object = {}) => [{ id: 'one', title: 'One', imageTag: 'x:1', ...more }];
const WRONG_TEMPLATES: [fields: Record<string, unknown>, path: string, rule: RegExp][] = [
  [
    { 'defaults.lifecycle.mode': 'forever' },
    'spec.defaults.lifecycle.mode',
    /supported values: "ephemeral", "persistent"|supported values: "persistent", "ephemeral"/,
  ],
  [{ 'defaults.lifecycle.ttl': '2 hours' }, 'spec.defaults.lifecycle.ttl', /should match/],
  [{ 'defaults.lifecycle.ttl': '0s' }, 'spec.defaults.lifecycle.ttl', /must be a duration above zero/],
  [{ 'defaults.lifecycle.ttl': 7200 }, 'spec.defaults.lifecycle.ttl', /must be of type string/],
  [{ 'defaults.lifecycle.idleSuspend': 'yes' }, 'spec.defaults.lifecycle.idleSuspend', /must be of type boolean/],
  [{ 'defaults.isolation.mode': 'team' }, 'spec.defaults.isolation', /team isolation is reserved/],
  [{ 'defaults.isolation.mode': 'pair' }, 'spec.defaults.isolation.mode', /supported values/],
  [{ 'defaults.cluster.mode': 'vm' }, 'spec.defaults.cluster.mode', /supported values/],
  [{ 'defaults.cluster.version': '1.35' }, 'spec.defaults.cluster', /a version needs a cluster/],
  [{ 'defaults.cluster': { mode: 'shared', version: 'newest' } }, 'spec.defaults.cluster.version', /should match/],
  [
    { 'defaults.cluster': { mode: 'shared', provisioner: 'minikube' } },
    'spec.defaults.cluster.provisioner',
    /supported/,
  ],
  [{ 'defaults.resources.cpu': 'lots' }, 'spec.defaults.resources.cpu', /should match/],
  [{ 'defaults.resources.memory': 'much' }, 'spec.defaults.resources.memory', /should match/],
  [{ 'defaults.resources.disk': 'huge' }, 'spec.defaults.resources.disk', /should match/],
  [{ 'defaults.resources.cpu': '0' }, 'spec.defaults.resources.cpu', /must be above zero, such as 500m or 2/],
  [{ 'defaults.resources.cpu': '1..2' }, 'spec.defaults.resources.cpu', /must be above zero/],
  [{ 'defaults.resources.memory': '-5' }, 'spec.defaults.resources.memory', /must be at least 6Mi/],
  [{ 'defaults.resources.memory': '512m' }, 'spec.defaults.resources.memory', /must be at least 6Mi/],
  [{ 'defaults.resources.disk': '0' }, 'spec.defaults.resources.disk', /must be at least 6Mi/],
  [{ 'defaults.access.webTerminal': 'on' }, 'spec.defaults.access.webTerminal', /must be of type boolean/],
  [{ navigation: 'random' }, 'spec.navigation', /supported values/],
  ...['10.0.0.7:443', '::', '0.0.0.0', '1:2:3'].map((host): (typeof WRONG_TEMPLATES)[number] => [
    { 'network.egress': [{ host, port: 443 }] },
    'spec.network.egress[0].host',
    /must be a name such as pypi.org, or an address such as 10.0.0.7/,
  ]),
  [{ 'network.egress': [{ host: 'a b\n127.0.0.1', port: 443 }] }, 'spec.network.egress[0].host', /should match/],
  [{ 'network.egress': [{ host: 'pypi.org', port: 0 }] }, 'spec.network.egress[0].port', /greater than or equal to 1/],
  [{ steps: step({ id: 'Step 1' }) }, 'spec.steps[0].id', /should match/],
  [{ steps: step({ title: '' }) }, 'spec.steps[0].title', /should be at least 1 chars long/],
  [{ steps: step({ imageTag: undefined }) }, 'spec.steps[0].imageTag', /Required value/],
  [{ steps: [...step(), ...step()] }, 'spec.steps[1]', /Duplicate value/],
  [{ steps: step({ cluster: 'rewind' }) }, 'spec.steps[0].cluster', /supported values: .*"restore"/],
  [{ steps: step({ requires: ['zero'] }) }, 'spec.steps[0].requires[0]', /there is no step zero/],
  [{ steps: step({ requires: ['one'] }) }, 'spec.steps[0].requires[0]', /one does not come before one/],
  [
    { steps: step({ files: [{ path: '../x', content: '' }] }) },
    'spec.steps[0].files[0].path',
    /must stay below the home folder/,
  ],
  [
    { steps: step({ checks: [{ name: 'a', run: 'true', timeoutSeconds: 0 }] }) },
    'spec.steps[0].checks[0].timeoutSeconds',
    /greater than or equal to 1/,
  ],
  [{ imagePullSecrets: [{ name: 'Not A Name' }] }, 'spec.imagePullSecrets[0].name', /should match/],
  [{ 'overridePolicy.allow': ['owner'] }, 'spec.overridePolicy.allow[0]', /supported values/],
  [
    { overridePolicy: { allow: ['cluster.mode'], deny: ['cluster.mode'] } },
    'spec.overridePolicy',
    /both allowed and denied/,
  ],
  [{ 'overridePolicy.maxTTL': 'soon' }, 'spec.overridePolicy.maxTTL', /should match/],
];
describe('a template', () => {
  it.each(WRONG_TEMPLATES)('%j', async (fields, path, rule) => {
    const message = await answer(plane.store.create(workspaceTemplates, changed(TEMPLATE, fields, 'wrong')));
    expect(message).toContain(`${path}: `);
    expect(message).toMatch(rule);
  });

  it('may name what shells reach, by name and by address', async () => {
    const egress = ['pypi.org', '10.0.0.7', 'fd00::7', '127.0.0.1'].map((host) => ({ host, port: 443 }));
    const made = changed(TEMPLATE, { 'network.egress': egress }, 'reaching');
    expect(await answer(plane.store.create(workspaceTemplates, made))).toBe('accepted');
  });

  it('with a field that does not exist', async () => {
    const object = changed(TEMPLATE, { 'defaults.lifecycle.tttl': '2h' }, 'wrong');
    const message = await answer(plane.store.create(workspaceTemplates, object, { fieldValidation: 'Strict' }));
    expect(message).toContain('unknown field "spec.defaults.lifecycle.tttl"');
  });
});

const LOCKED = /the template kubernetes-101 does not allow it: it may be added to overridePolicy.allow/;
const WRONG_INSTANCES: [fields: Record<string, unknown>, path: string, rule: RegExp][] = [
  [{ templateRef: undefined }, 'spec.templateRef', /Required value/],
  [{ 'templateRef.name': 'Not A Name' }, 'spec.templateRef.name', /should match/],
  [{ owner: undefined }, 'spec.owner', /Required value/],
  [{ owner: '' }, 'spec.owner', /should be at least 1 chars long/],
  [{ currentStep: 'step-3' }, 'spec.currentStep', /supported values: "step-1-intro", "step-2-deploy"/],
  [{ suspend: 'yes' }, 'spec.suspend', /must be of type boolean/],
  [{ 'overrides.lifecycle.ttl': 'soon' }, 'spec.overrides.lifecycle.ttl', /should match/],
  [{ 'overrides.lifecycle.ttl': '0h' }, 'spec.overrides.lifecycle.ttl', /must be a duration above zero/],
  [{ 'overrides.lifecycle.mode': 'persistent' }, 'spec.overrides.lifecycle.mode', LOCKED],
  [{ 'overrides.isolation.mode': 'team' }, 'spec.overrides.isolation', /team isolation is reserved/],
  [{ 'overrides.isolation.mode': 'individual' }, 'spec.overrides.isolation.mode', LOCKED],
  [{ 'overrides.cluster.mode': 'shared' }, 'spec.overrides.cluster.mode', LOCKED],
  [{ 'overrides.cluster': { mode: 'shared', version: '1.35' } }, 'spec.overrides.cluster.version', LOCKED],
  [{ 'overrides.cluster.provisioner': 'kind' }, 'spec.overrides.cluster.provisioner', LOCKED],
];
describe('an instance', () => {
  it.each(WRONG_INSTANCES)('%j', async (fields, path, rule) => {
    const message = await answer(plane.store.create(workspaceInstances, changed(INSTANCE, fields, 'wrong')));
    expect(message).toContain(`${path}: `);
    expect(message).toMatch(rule);
  });

  it.each([
    [
      'overridePolicy.deny',
      { deny: ['resources.cpu'] },
      { resources: { cpu: '2' } },
      'resources.cpu: Forbidden: the template strict denies it (overridePolicy.deny)',
    ],
    [
      'overridePolicy.maxTTL',
      { maxTTL: '1h' },
      { lifecycle: { ttl: '90m' } },
      'lifecycle.ttl: Forbidden: 90m is longer than 1h, the longest the template strict allows (overridePolicy.maxTTL)',
    ],
    ['overridePolicy.allow', { allow: ['cluster.mode'] }, { cluster: { mode: 'none' } }, undefined],
  ])('against %s', async (_what, overridePolicy, overrides, rule) => {
    const template = changed(TEMPLATE, { overridePolicy }, 'strict');
    await plane.store.create(workspaceTemplates, template);
    const instance = changed(INSTANCE, { 'templateRef.name': 'strict', overrides }, 'bound');
    const message = await answer(plane.store.create(workspaceInstances, instance));
    expect(message).toContain(rule ? `spec.overrides.${rule}` : 'accepted');
    // It goes after the workspace that it let in.
    await plane.store.delete(workspaceInstances, keyOf(instance)).catch(ignoreNotFound);
    await plane.store.delete(workspaceTemplates, { name: 'strict' });
    await waitForGone(plane.store, workspaceTemplates, { name: 'strict' }, { timeoutMs: 60_000 });
  });

  it('that would be of another template', async () => {
    const body = { spec: { templateRef: { name: 'other' } } };
    const key = { namespace: NAMESPACE, name: 'kubernetes-101-student-42' };
    const message = await answer(plane.store.patch(workspaceInstances, key, { type: 'merge', body }));
    expect(message).toMatch(/spec\.templateRef: Invalid value.*templateRef cannot be changed|spec\.templateRef/);
  });
});
