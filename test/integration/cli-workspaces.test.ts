// Workspace commands with a control plane that runs: what an instructor types, what they read.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { namespaces } from '../../src/api/resources.ts';
import { kubeconfigConnection, RemoteStore } from '../../src/kube/index.ts';
import { Rookery, until } from '../harness/rookery.ts';

const rookery = new Rookery({ ROOKERY_WEB_PORT: '0', DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
const run = (...args: string[]) => rookery.run(...args);
const file = (name: string, text: string): string => {
  const path = join(rookery.home, name);
  writeFileSync(path, text);
  return path;
};
const connected = async () =>
  new RemoteStore({
    connection: await kubeconfigConnection(readFileSync(join(rookery.home, 'kubeconfig'), 'utf8'), 'this machine'),
  });
const TEMPLATE = (name: string) => `
apiVersion: workshop.platform/v1alpha1
kind: WorkspaceTemplate
metadata: { name: ${name} }
spec:
  steps:
    - id: one
      title: One
      imageTag: example/one:1
      checks: [{ name: There is a file, run: 'test -e ~/file', hint: 'touch ~/file' }]
      files: [{ path: work/readme, content: hello }]
`;

beforeAll(async () => {
  expect(await run('up', '--detach', '--no-demo')).toMatchObject({ code: 0 });
  expect(await run('template', 'apply', '-f', file('t.yaml', TEMPLATE('course')))).toMatchObject({ code: 0 });
});
afterAll(async () => {
  const { stdout } = await run('workspace', 'list', '-o', 'json');
  const names = (JSON.parse(stdout) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  if (names.length > 0) expect(await run('workspace', 'delete', ...names)).toMatchObject({ code: 0 });
  await rookery.close();
});

it('makes a class; one student’s trouble does not stop the others, and the same command finishes it', async () => {
  const long = 'x'.repeat(30);
  const template = 'a-name-that-leaves-no-room-for-much';
  await run('template', 'apply', '-f', file('long.yaml', TEMPLATE(template)));
  const class1 = file('class.csv', `student\nada\n${long}\neve\n`);
  const { code, stdout, stderr } = await run('workspace', 'create', '-t', template, '--students', class1);
  expect(code).toBe(2);
  expect(stdout).toMatch(new RegExp(`${template}-ada +ada +Running\n.*-eve +eve +Running`));
  expect(stderr).toContain('1 of 3 workspaces are not there');
  expect(stderr).toContain(`${template}-${long}: `);
  const class2 = file('class.csv', 'ada\neve\nbob\n');
  expect(await run('workspace', 'create', '-t', template, '--students', class2)).toMatchObject({ code: 0 });
});

it('leaves nothing of a workspace that is refused', async () => {
  expect(await run('workspace', 'create', 'lea', '-t', 'course', '--ttl', '2d')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('spec.overrides.lifecycle.ttl'),
  });
  const store = await connected();
  const spaces = (await store.list(namespaces)).items.map(({ metadata }) => metadata.name);
  await store.close();
  expect(spaces).not.toContain('ws-lea');
});

it('says what is wrong in a template, and where', async () => {
  const wrong = (text: string) => run('template', 'apply', '-f', file('wrong.yaml', text));
  expect(await wrong('not: [yaml')).toMatchObject({ code: 2, stderr: expect.stringMatching(/wrong\.yaml: .*line 1/) });
  const field = TEMPLATE('wrong').replace('spec:', 'spec:\n  defaults: { access: { ssh: true } }');
  expect(await wrong(field)).toMatchObject({ code: 2, stderr: expect.stringContaining('.spec.defaults.access.ssh') });
});

it('goes on following the files of a workshop that the API refuses', async () => {
  const folder = join(rookery.home, 'followed');
  mkdirSync(join(folder, 'steps/one'), { recursive: true });
  writeFileSync(join(folder, 'workshop.yaml'), 'version: v1\nworkshop: { name: followed }\nsteps: [one]\n');
  writeFileSync(join(folder, 'steps/one/step.yaml'), 'title: One\n');
  const write = (text: string) => writeFileSync(join(folder, 'steps/one/content.md'), text);
  write('words');
  const following = rookery.start('workshop', 'run', folder);
  await until('the workspace', () => following.said().includes('Files are followed'));
  write('x'.repeat(300_000));
  await until('the refusal', () => following.said().includes('spec.steps[0].content: Too long'));
  write('other words');
  await until('the next change', () => following.said().includes('up to date with the files'));
  following.child.kill('SIGINT');
  expect(await following.ended).toMatchObject({ code: 0 });
  const compiled = await run('workshop', 'build', 'compile', folder);
  expect(compiled).toMatchObject({ code: 2, stderr: expect.stringContaining('--no-images') });
});

it('runs the checks of a workspace', async () => {
  expect(await run('workspace', 'create', 'kim', '-t', 'course')).toMatchObject({ code: 0 });
  const { code, stdout } = await run('workspace', 'check', 'kim');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ There is a file\n {4}ended with 1 instead of 0\n {4}touch ~\/file\n$/);
  expect((await run('workspace', 'check', 'nobody')).stderr).toContain('there is no workspace "nobody"');
});

it('says why a workspace does not run', async () => {
  expect(await run('why', 'workspace/kim')).toMatchObject({ code: 0 });
  await run('workspace', 'suspend', 'kim');
  const suspended = await run('why', 'workspace/kim');
  expect(suspended.code).toBe(1);
  expect(suspended.stdout).toMatch(/suspended by spec\.suspend\n[\s\S]*next: rookery workspace resume kim\n$/);
  expect((await run('workspace', 'check', 'kim')).stderr).toContain('the workspace is Suspended');
  expect(await run('workspace', 'resume', 'kim')).toMatchObject({ code: 0 });
});

it('says why a workspace is not made, down to the template or the cluster it waits for', async () => {
  const broken = (name: string, cluster: string) =>
    file(
      `${name}.yaml`,
      `${TEMPLATE(name).split('  steps:')[0]}  defaults: { cluster: { mode: per-workspace, ${cluster} } }\n`,
    );
  await run('template', 'apply', '-f', broken('old', 'provisioner: virtual, version: "1.20"'));
  await run('workspace', 'create', 'old', '-t', 'old', '--no-wait');
  await expect
    .poll(async () => (await run('why', 'workspace/old')).stdout, { timeout: 30_000 })
    .toMatch(
      /^WorkspaceInstance ws-old\/old: [\s\S]*└ Cluster ws-old\/old: [\s\S]*└ VirtualCluster ws-old\/old: blocked[\s\S]*not v?1\.20/,
    );
});

it('tells what happened to a workspace, and goes on telling', async () => {
  const { code, stdout } = await run('workspace', 'logs', 'kim');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\S+Z workspace {2}StepBegun: step one has begun$/m);
  expect(stdout).toMatch(/^\S+Z shell {6}step one: the home folder put in place$/m);
  expect(stdout).toMatch(/^\S+Z workspace {2}Suspended: suspended by spec.suspend$/m);
  const following = rookery.start('workspace', 'logs', 'kim', '--follow');
  await until('what was before', () => following.said().includes('StepBegun'));
  await run('workspace', 'check', 'kim');
  await until('what comes now', () => following.said().match(/test -e ~\/file ended with 1/g)?.length === 2);
  following.child.kill('SIGINT');
  expect(await following.ended).toMatchObject({ code: 0, stderr: '' });
  expect((await run('workspace', 'logs', 'nobody')).stderr).toContain('there is no workspace "nobody"');
});

it('goes to a step, not before its time unless somebody insists', async () => {
  expect(await run('workspace', 'step', 'kim', 'nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('spec.currentStep: Unsupported value: "nowhere"'),
  });
  const steps = ['one', 'two', 'three'].map(
    (id) => `{ id: ${id}, title: ${id}, imageTag: 'x:1', checks: [{ name: no, run: 'false' }] }`,
  );
  const linear = `${TEMPLATE('linear').split('  steps:')[0]}  navigation: linear\n  steps: [${steps.join(', ')}]\n`;
  expect(await run('template', 'apply', '-f', file('linear.yaml', linear))).toMatchObject({ code: 0 });
  expect(await run('workspace', 'create', 'lin', '-t', 'linear')).toMatchObject({ code: 0 });
  expect(await run('workspace', 'step', 'lin', 'three')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'navigation of the template linear is linear, and what comes before it is not done yet: one, two',
    ),
  });
  expect(await run('workspace', 'step', 'lin', 'three', '--force')).toMatchObject({ code: 0 });
});

it('a class whose time is up leaves nothing: clusters, namespaces, files', async () => {
  const of = (ttl: string) =>
    `${TEMPLATE('class').split('  steps:')[0]}  defaults:
    lifecycle: { mode: ephemeral, ttl: ${ttl} }
    cluster: { mode: per-workspace, provisioner: virtual }
`;
  const students = Array.from({ length: 20 }, (_, n) => `student-${n}`);
  await run('template', 'apply', '-f', file('class.yaml', of('8h')));
  const made = await run('workspace', 'create', '-t', 'class', '--students', file('class.csv', students.join('\n')));
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout.match(/Running/g)).toHaveLength(students.length);
  await run('template', 'apply', '-f', file('class.yaml', of('1s')));
  const left = async () => (await rookery.json<unknown[]>('workspace', 'list', '-t', 'class')).length;
  await expect.poll(left, { timeout: 60_000 }).toBe(0);
  const store = await connected();
  const spaces = async () =>
    (await store.list(namespaces)).items.filter(({ metadata }) => metadata.name?.startsWith('ws-class-')).length;
  await expect.poll(spaces, { timeout: 60_000 }).toBe(0);
  await store.close();
  for (const folder of ['data/clusters', 'data/snapshots', 'provisioners/virtual']) {
    const files = existsSync(join(rookery.home, folder)) ? readdirSync(join(rookery.home, folder)) : [];
    expect(files.filter((name) => name.includes('class-'))).toEqual([]);
  }
});

it('says that more time is needed where the time is up', async () => {
  await run('workspace', 'create', 'short', '-t', 'course', '--ttl', '1s');
  await expect
    .poll(async () => (await run('workspace', 'get', 'short')).stdout, { timeout: 20_000 })
    .toMatch(/^Phase: +Suspended$/m);
  expect(await run('workspace', 'resume', 'short')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('rookery workspace extend short --ttl'),
  });
  expect(await run('workspace', 'extend', 'short', '--ttl', '1h')).toMatchObject({ code: 0 });
  expect(await run('workspace', 'resume', 'short')).toMatchObject({ code: 0 });
});
